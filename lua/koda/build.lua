--- Builds the library with cargo and installs it: in the background, with what it is at told as it goes.

local library = require("koda.library")

local M = {}

--- Lines of cargo's output that go to the log when it fails.
local KEPT_LINES = 60

---@class koda.build.Listener
---@field progress? fun(text: string) what it is at; on the main thread
---@field done fun(problem?: koda.Error) at the end; on the main thread

---@type boolean
local is_running = false

---@param message string
---@param hint? string
---@return koda.Error
local function failed(message, hint)
  return { code = "build", message = message, hint = hint or "see :Koda log" }
end

--- Name of the file that cargo makes.
---@return string
local function built_name()
  return jit.os == "OSX" and "libkoda.dylib" or "libkoda.so"
end

--- Writes a file under another name and renames it, so that no reader sees half of it.
---@param path string
---@param text string
---@return string? # what failed
local function replace(path, text)
  local temporary = path .. ".tmp"
  local file, problem = io.open(temporary, "wb")
  if not file then
    return problem
  end
  file:write(text)
  file:close()
  local ok, why = vim.uv.fs_rename(temporary, path)
  return not ok and why or nil
end

---@param name string
---@param bytes integer
---@return string? # what failed
local function write_manifest(name, bytes)
  local manifest = {
    file = name,
    bytes = bytes,
    tail = library.tail(library.folder() .. "/" .. name),
    system = jit.os,
    machine = jit.arch,
    built = os.date("!%Y-%m-%dT%H:%M:%SZ"),
  }
  return replace(library.manifest_path(), vim.json.encode(manifest) .. "\n")
end

--- Puts a built library where `koda.native` finds it.
---
--- Its name tells one build from another (when it was linked, and its size), so that a library that some Neovim
--- has loaded is never written to.
---@param built string path of what cargo made
---@param done fun(problem?: koda.Error)
function M.install(built, done)
  local stat = vim.uv.fs_stat(built)
  if not stat then
    return done(failed("there is no built library at " .. built, "run :Koda build"))
  end
  vim.fn.mkdir(library.folder(), "p")
  local identity = ("%x%08x-%x"):format(stat.mtime.sec, stat.mtime.nsec, stat.size)
  local name = ("libkoda-%s.%s"):format(identity, jit.os == "OSX" and "dylib" or "so")
  local target = library.folder() .. "/" .. name
  local temporary = target .. ".tmp"
  vim.uv.fs_copyfile(built, temporary, nil, function(problem)
    local ok, why = not problem, problem
    if ok then
      ok, why = vim.uv.fs_rename(temporary, target)
    end
    vim.schedule(function()
      local fault = not ok and why or write_manifest(name, stat.size)
      local said = "the library can't be installed into %s: %s"
      done(fault and failed(said:format(library.folder(), fault)) or nil)
    end)
  end)
end

--- Follows cargo's standard error: keeps its last lines, tells how far it is.
---@param listener koda.build.Listener
---@return fun(problem: string?, data: string?)
---@return string[] # the last lines
local function follow(listener)
  local kept, rest = {}, ""
  local function take(line)
    local at, of = line:match("Building.-(%d+)/(%d+)")
    if at then
      local text = ("building %s of %s"):format(at, of)
      vim.schedule(function()
        listener.progress(text)
      end)
    elseif line:find("%S") then
      kept[#kept + 1] = line
      if #kept > KEPT_LINES then
        table.remove(kept, 1)
      end
    end
  end
  return function(_, data)
    -- cargo draws its bar over and over, with carriage returns.
    rest = rest .. (data or "\n")
    for line in rest:gmatch("([^\r\n]*)[\r\n]") do
      take(line)
    end
    rest = rest:match("[^\r\n]*$")
  end,
    kept
end

---@param lines string[]
---@return string # the first line that names an error, else the last
local function gist(lines)
  for _, line in ipairs(lines) do
    if line:find("^error") then
      return line
    end
  end
  return lines[#lines] or "it said nothing"
end

---@param listener koda.build.Listener
---@param result vim.SystemCompleted
---@param lines string[]
local function finish(listener, result, lines)
  is_running = false
  if result.code ~= 0 then
    require("koda.log").write("cargo failed:\n" .. table.concat(lines, "\n"))
    return listener.done(failed(("cargo ended with status %d: %s"):format(result.code, gist(lines))))
  end
  M.install(library.root() .. "/target/release/" .. built_name(), listener.done)
end

--- Finds the last commit that changed the sources, which the library then tells.
---@param root string
---@param callback fun(commit: string) on the main thread; empty outside of git
local function with_commit(root, callback)
  if not vim.uv.fs_stat(root .. "/.git") or vim.fn.executable("git") == 0 then
    return callback("")
  end
  local sources = { "rust", "Cargo.toml", "Cargo.lock" }
  local command = vim.list_extend({ "git", "-C", root, "log", "-1", "--format=%h", "--abbrev=12", "--" }, sources)
  vim.system(command, { text = true }, vim.schedule_wrap(function(result)
    callback(result.code == 0 and vim.trim(result.stdout) or "")
  end))
end

---@param listener koda.build.Listener
---@param commit string
local function start(listener, commit)
  local root = library.root()
  local heard, lines = follow(listener)
  vim.system(
    { "cargo", "build", "--release", "--locked", "--package", "koda-nvim", "--target-dir", root .. "/target" },
    {
      cwd = root,
      stderr = heard,
      stdout = false,
      env = {
        CARGO_TERM_COLOR = "never",
        CARGO_TERM_PROGRESS_WHEN = "always",
        CARGO_TERM_PROGRESS_WIDTH = "80",
        KODA_COMMIT = commit,
      },
    },
    vim.schedule_wrap(function(result)
      finish(listener, result, lines)
    end)
  )
end

--- Builds and installs the library.
---@param listener koda.build.Listener
function M.run(listener)
  if is_running then
    return listener.done(failed("the library is being built already", "wait until it is done"))
  end
  if vim.fn.executable("cargo") == 0 then
    return listener.done(failed("cargo is not on PATH", "install Rust (https://rustup.rs), then :Koda build"))
  end
  listener = vim.tbl_extend("keep", listener, { progress = function() end })
  is_running = true
  listener.progress("cargo starts")
  with_commit(library.root(), function(commit)
    start(listener, commit)
  end)
end

--- Installs what `cargo build --release` made, without building.
---@param done fun(problem?: koda.Error)
function M.install_built(done)
  local target = vim.env.CARGO_TARGET_DIR or (library.root() .. "/target")
  M.install(("%s/release/%s"):format(target, built_name()), done)
end

return M
