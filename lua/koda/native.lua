--- The way to the Rust library: finds it on its exact path, checks it, loads it, starts it.

local library = require("koda.library")

local M = {}

--- The version of the border that this face speaks; `ABI` in `rust/nvim/src/lib.rs`.
M.ABI = 1

---@type koda.Native?
local loaded

---@type string? name of the loaded file
local file

local started = false

---@param lib koda.Native
---@return koda.Error?
local function foreign(lib)
  local abi = lib.abi()
  if abi ~= M.ABI then
    return {
      code = "library_abi",
      message = ("Koda's library and its Lua files are of different versions: %s and %s"):format(abi, M.ABI),
      hint = "run :Koda build, then restart Neovim",
    }
  end
end

--- After the load, when nobody waits: removes what earlier builds left, and says if sources have changed since.
local function look_around()
  library.remove_old(file --[[@as string]])
  local newer = library.newer_source()
  if newer then
    require("koda.notify").warn(("%s has changed: run :Koda build, then restart Neovim"):format(newer))
  end
end

--- Loads the library, without starting anything. A failure is not remembered: the next call tries again.
---@return koda.Native?
---@return koda.Error?
function M.load()
  if loaded then
    return loaded
  end
  local manifest, problem = library.manifest()
  if not manifest then
    return nil, problem
  end
  local path
  path, problem = library.check(manifest)
  if not path then
    return nil, problem
  end
  local open, why = package.loadlib(path, "luaopen_koda")
  if not open then
    local message = "Koda's library can't be loaded: " .. why
    return nil, { code = "library_load", message = message, hint = "run :Koda build" }
  end
  local lib = open("koda") --[[@as koda.Native]]
  problem = foreign(lib)
  if problem then
    return nil, problem
  end
  loaded, file = lib, manifest.file
  vim.schedule(look_around)
  return lib
end

--- The settings as the library takes them.
---@return table
local function settings()
  local data = vim.fs.joinpath(vim.fn.stdpath("data") --[[@as string]], "koda")
  local config = require("koda.config").get()
  return vim.tbl_extend("force", config, {
    data_dir = config.data_dir and vim.fn.fnamemodify(config.data_dir, ":p") or data,
    state_dir = require("koda.log").folder(),
  })
end

---@param lib koda.Native
---@return true?
---@return koda.Error?
local function start(lib)
  local ok, problem = lib.setup(settings(), function(events)
    require("koda.events").deliver(events)
  end)
  if not ok then
    return nil, problem
  end
  started = true
  require("koda.current").watch()
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("koda.native", { clear = true }),
    desc = "Koda: ends everything that it runs",
    callback = function()
      lib.shutdown()
    end,
  })
  return true
end

--- Returns the running library; loads and starts it at the first call.
---@return koda.Native?
---@return koda.Error?
function M.get()
  if started then
    return loaded
  end
  local problem = require("koda.config").problem()
  if problem then
    return nil, problem
  end
  local lib
  lib, problem = M.load()
  if not lib then
    return nil, problem
  end
  local ok
  ok, problem = start(lib)
  if not ok then
    return nil, problem
  end
  return lib
end

--- Whether the library runs.
---@return boolean
function M.is_started()
  return started
end

--- Returns the name of the loaded file, if one is loaded.
---@return string?
function M.file()
  return file
end

return M
