-- The library's file: found on its exact path, checked before it is loaded, installed without touching one in use.

--- A checkout in a scratch folder, with a file that passes for a library of this machine.
---@param t { folder: string, root: string }
---@return table library `koda.library` of that checkout
---@return string built
local function checkout(t)
  vim.fn.mkdir(t.folder .. "/lua/koda", "p")
  vim.fn.mkdir(t.folder .. "/rust/nvim/src", "p")
  vim.fn.mkdir(t.folder .. "/target/release", "p")
  for _, name in ipairs({ "library", "native", "build" }) do
    assert(vim.uv.fs_copyfile(("%s/lua/koda/%s.lua"):format(t.root, name), ("%s/lua/koda/%s.lua"):format(t.folder, name)))
    package.loaded["koda." .. name] = nil
  end
  package.loaded["koda.library"] = dofile(t.folder .. "/lua/koda/library.lua")
  -- The beginning of Neovim's own executable has the right header.
  local executable = assert(io.open(vim.v.progpath, "rb"))
  local built = t.folder .. "/target/release/" .. (jit.os == "OSX" and "libkoda.dylib" or "libkoda.so")
  local file = assert(io.open(built, "wb"))
  file:write(executable:read(100000), "the end of the library")
  file:close()
  executable:close()
  return package.loaded["koda.library"], built
end

---@param built string
---@return koda.Error?
local function install(built)
  local over, problem = false, nil
  require("koda.build").install(built, function(err)
    over, problem = true, err
  end)
  assert(vim.wait(10000, function()
    return over
  end, 10))
  return problem
end

---@param library table
---@return string? path
---@return koda.Error? problem
local function check(library)
  local manifest, problem = library.manifest()
  if not manifest then
    return nil, problem
  end
  return library.check(manifest)
end

---@param path string
---@param change fun(text: string): string
local function rewrite(path, change)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  file = assert(io.open(path, "wb"))
  file:write(change(text))
  file:close()
end

---@param library table
---@param code string
local function refuses(library, code)
  local path, problem = check(library)
  assert(not path, "taken")
  assert(problem.code == code, vim.inspect(problem))
  assert(problem.hint:find(":Koda build", 1, true), problem.hint)
end

local path_before = vim.env.PATH

---@param t { folder: string }
---@param script string
local function fake_cargo(t, script)
  vim.fn.mkdir(t.folder .. "/bin")
  local cargo = t.folder .. "/bin/cargo"
  vim.fn.writefile({ "#!/bin/sh", "cd " .. t.folder, script }, cargo)
  assert(vim.uv.fs_chmod(cargo, 493))
  vim.env.PATH = t.folder .. "/bin:" .. path_before
end

---@return string[] heard
---@return koda.Error?
local function build()
  local heard, over, problem = {}, false, nil
  require("koda.build").run({
    progress = function(text)
      heard[#heard + 1] = text
    end,
    done = function(err)
      over, problem = true, err
    end,
  })
  assert(vim.wait(10000, function()
    return over
  end, 10))
  vim.env.PATH = path_before
  return heard, problem
end

return {
  ["what was installed is found; nothing installed is said to be missing"] = function(t)
    local library, built = checkout(t)
    refuses(library, "library_missing")
    assert(not install(built))
    local path = assert(check(library))
    assert(vim.startswith(path, vim.uv.fs_realpath(t.folder) .. "/.build/lib/libkoda-") or vim.startswith(path, t.folder), path)
    assert(vim.fn.readblob(path) == vim.fn.readblob(built))
    vim.uv.fs_unlink(path)
    refuses(library, "library_missing")
  end,

  ["a file that was cut short or changed is not loaded"] = function(t)
    local library, built = checkout(t)
    assert(not install(built))
    local path = assert(check(library))
    rewrite(path, function(text)
      return text:sub(1, #text / 2)
    end)
    refuses(library, "library_cut")
    assert(not install(built))
    rewrite(assert(check(library)), function(text)
      return text:sub(1, -20) .. ("\0"):rep(19)
    end)
    refuses(library, "library_cut")
    local lib, problem = require("koda.native").load()
    assert(not lib and problem.code == "library_cut", vim.inspect(problem))
  end,

  ["a file for another machine is not loaded"] = function(t)
    local library, built = checkout(t)
    rewrite(built, function(text)
      return text:sub(1, 18) .. "\xf7\0" .. text:sub(21)
    end)
    assert(not install(built))
    refuses(library, "library_machine")
    rewrite(library.manifest_path(), function(text)
      return (text:gsub('"machine":"[^"]*"', '"machine":"sparc"'))
    end)
    refuses(library, "library_machine")
  end,

  ["a manifest that is no manifest is said to be damaged"] = function(t)
    local library, built = checkout(t)
    assert(not install(built))
    for _, text in ipairs({ "{", "[]", '{"file":"../x","bytes":1}', '{"file":7}' }) do
      rewrite(library.manifest_path(), function()
        return text
      end)
      refuses(library, "library_cut")
    end
  end,

  ["a new build gets a new name, and the old file goes at the next start"] = function(t)
    local library, built = checkout(t)
    assert(not install(built))
    local first = assert(check(library))
    rewrite(built, function(text)
      return text .. "more"
    end)
    assert(not install(built))
    local second, manifest = assert(check(library)), library.manifest()
    assert(first ~= second and vim.uv.fs_stat(first), "the file in use was replaced")
    library.remove_old(manifest.file)
    assert(not vim.uv.fs_stat(first) and vim.uv.fs_stat(second))
  end,

  ["sources that are newer than the library are noticed"] = function(t)
    local library, built = checkout(t)
    local source = t.folder .. "/rust/nvim/src/lib.rs"
    vim.fn.writefile({ "//!" }, source)
    assert(vim.uv.fs_utime(source, 1000, 1000))
    assert(not install(built))
    assert(library.newer_source() == nil)
    assert(vim.uv.fs_utime(source, os.time() + 100, os.time() + 100))
    assert(library.newer_source() == "rust/nvim/src/lib.rs")
  end,

  ["without a built library the install says so"] = function(t)
    checkout(t)
    local problem = assert(install(t.folder .. "/nothing"))
    assert(problem.message:find("/nothing", 1, true), problem.message)
  end,

  ["the build runs cargo, tells how far it is, and installs what it made"] = function(t)
    local library, built = checkout(t)
    vim.uv.fs_rename(built, t.folder .. "/made")
    fake_cargo(t, 'printf "   Compiling koda\\r    Building [=> ] 7/12: koda\\r\\n" >&2; cp made ' .. built)
    local heard, problem = build()
    assert(not problem, vim.inspect(problem))
    assert(vim.list_contains(heard, "building 7 of 12"), vim.inspect(heard))
    assert(check(library))
  end,

  ["the build is told the commit of its sources, and none outside of git"] = function(t)
    local _, built = checkout(t)
    fake_cargo(t, 'echo "commit:$KODA_COMMIT." >>told; cp /dev/null ' .. built)
    build()
    vim.fn.writefile({ "//!" }, t.folder .. "/rust/nvim/src/lib.rs")
    local function git(...)
      local result = vim.system({ "git", "-C", t.folder, "-c", "user.name=T", "-c", "user.email=t@example.com", ... }):wait()
      assert(result.code == 0, result.stderr)
      return vim.trim(result.stdout)
    end
    git("init", "--quiet")
    git("add", "rust")
    git("-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "Sources")
    vim.env.PATH = t.folder .. "/bin:" .. path_before
    build()
    local told = vim.fn.readfile(t.folder .. "/told")
    assert(told[1] == "commit:." and told[2] == ("commit:%s."):format(git("rev-parse", "--short=12", "HEAD")), vim.inspect(told))
  end,

  ["a build that fails says why, and keeps the old library"] = function(t)
    local library, built = checkout(t)
    assert(not install(built))
    fake_cargo(t, 'echo "error: no linker" >&2; echo "more" >&2; exit 101')
    local _, problem = build()
    assert(problem and problem.message:find("error: no linker", 1, true), vim.inspect(problem))
    assert(problem.message:find("101", 1, true) and check(library))
  end,

  ["without cargo the build says what to install"] = function(t)
    checkout(t)
    vim.env.PATH = t.folder
    local _, problem = build()
    assert(problem and problem.message:find("cargo", 1, true) and problem.hint:find("Rust", 1, true), vim.inspect(problem))
  end,
}
