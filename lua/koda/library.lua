--- Where the library lies, and whether the file there is whole and of this machine.
---
--- Loading is no check: a file cut short crashes Neovim inside `loadlib`, or loads and fails later. So the
--- installer writes a manifest beside the library, and what the file says of itself is compared with it first.

local M = {}

--- What the installer knew of the library.
---@class koda.library.Manifest
---@field file string name within the folder, another for each build: a mapped file is never overwritten
---@field bytes integer
---@field tail string the last `TAIL_BYTES` bytes, in hexadecimal
---@field system string `jit.os` of the Neovim that installed it
---@field machine string `jit.arch` of it
---@field built string when, UTC

local TAIL_BYTES = 64

local MEND = "run :Koda build"

--- Machine codes of ELF headers, by `jit.arch`.
local ELF_MACHINES = { x64 = 62, arm64 = 183, x86 = 3, arm = 40 }

--- CPU types of Mach-O headers, by `jit.arch`.
local MACH_CPUS = { x64 = 0x01000007, arm64 = 0x0100000c }

---@type string?
local root

--- Returns the plugin's root: an absolute path.
---@return string
function M.root()
  if not root then
    local file = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")
    root = vim.fn.fnamemodify(file, ":h:h:h")
  end
  return root
end

--- Returns the folder that the library is installed into.
---@return string
function M.folder()
  return M.root() .. "/.build/lib"
end

--- Returns the path of the manifest.
---@return string
function M.manifest_path()
  return M.folder() .. "/manifest.json"
end

---@param code string
---@param message string
---@param hint? string
---@return nil
---@return koda.Error
local function fail(code, message, hint)
  return nil, { code = code, message = message, hint = hint or MEND }
end

---@param path string
---@param from integer offset; negative counts from the end
---@param length integer
---@return string?
local function bytes_at(path, from, length)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local found = file:seek(from < 0 and "end" or "set", from) and file:read(length)
  file:close()
  return found or nil
end

---@param text string
---@return string
local function hexadecimal(text)
  return (text:gsub(".", function(byte)
    return ("%02x"):format(byte:byte())
  end))
end

--- Returns the end of a file as a manifest keeps it.
---@param path string
---@return string?
function M.tail(path)
  local found = bytes_at(path, -TAIL_BYTES, TAIL_BYTES)
  return found and hexadecimal(found)
end

--- Reads the manifest.
---@return koda.library.Manifest?
---@return koda.Error?
function M.manifest()
  local text = bytes_at(M.manifest_path(), 0, 64 * 1024)
  if not text then
    return fail("library_missing", "Koda's library is not built yet")
  end
  local ok, manifest = pcall(vim.json.decode, text)
  local whole = ok and type(manifest) == "table" and type(manifest.bytes) == "number"
  if not whole or type(manifest.file) ~= "string" or manifest.file:find("[/\\]") then
    return fail("library_cut", "the manifest of Koda's library can't be read: " .. M.manifest_path())
  end
  return manifest
end

--- Whether the header is that of a library for this machine. True too for machines that are not in the tables.
---@param header string the first 20 bytes or more
---@return boolean
local function is_native(header)
  if jit.os == "OSX" then
    local little = header:byte(5) + header:byte(6) * 0x100 + header:byte(8) * 0x1000000
    local expected = MACH_CPUS[jit.arch]
    return header:sub(1, 4) == "\xcf\xfa\xed\xfe" and (not expected or little == expected)
  end
  local expected = ELF_MACHINES[jit.arch]
  local machine = header:byte(19) + header:byte(20) * 0x100
  return header:sub(1, 4) == "\x7fELF" and (not expected or machine == expected)
end

--- Checks the file that the manifest names, without loading it.
---@param manifest koda.library.Manifest
---@return string? # its path
---@return koda.Error?
function M.check(manifest)
  local path = M.folder() .. "/" .. manifest.file
  if not rawget(_G, "jit") then
    local hint = "use a Neovim with LuaJIT"
    return fail("library_machine", "this Neovim has no LuaJIT, which Koda's library needs", hint)
  end
  if manifest.system ~= jit.os or manifest.machine ~= jit.arch then
    local built, here = manifest.system .. " " .. manifest.machine, jit.os .. " " .. jit.arch
    local said = "Koda's library is built for another machine: %s, not %s"
    return fail("library_machine", said:format(built, here))
  end
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return fail("library_missing", "Koda's library is gone: " .. path)
  end
  local header = bytes_at(path, 0, 20)
  if stat.size ~= manifest.bytes or not header or #header < 20 or M.tail(path) ~= manifest.tail then
    local said = "Koda's library is damaged: %s has %d bytes, %d were built"
    return fail("library_cut", said:format(path, stat.size, manifest.bytes))
  end
  if not is_native(header) then
    return fail("library_machine", "Koda's library is built for another machine: " .. path)
  end
  return path
end

--- Finds a source file that is newer than the installed library.
---@return string? # its path, relative to the root
function M.newer_source()
  local installed = vim.uv.fs_stat(M.manifest_path())
  if not installed then
    return nil
  end
  local base = M.root() .. "/"
  for name, kind in vim.fs.dir(base .. "rust", { depth = 8 }) do
    local is_source = kind == "file" and name:find("%.rs$") and not name:find("/tests/") and not name:find("/examples/")
    local stat = is_source and vim.uv.fs_stat(base .. "rust/" .. name)
    if stat and stat.mtime.sec > installed.mtime.sec then
      return "rust/" .. name
    end
  end
end

--- Removes libraries of earlier builds. One that is in use stays in memory until its Neovim ends.
---@param keep string name of the file to keep
function M.remove_old(keep)
  for name in vim.fs.dir(M.folder()) do
    if name ~= keep and name:find("^libkoda%-") then
      vim.uv.fs_unlink(M.folder() .. "/" .. name)
    end
  end
end

return M
