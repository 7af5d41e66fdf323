--- `:checkhealth koda`: what is there, and for each fault what to do.

local M = {}

local health = vim.health

--- How long servers on this machine may take to answer.
local LOOK_MS = 3000

local function check_neovim()
  health.start("Neovim")
  local version = tostring(vim.version())
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("version " .. version)
  else
    health.error("version " .. version .. " is too old", { "Koda needs 0.10 or newer" })
  end
  if not rawget(_G, "jit") then
    health.error("built without LuaJIT", { "Koda's library needs a Neovim with LuaJIT" })
  end
end

---@return koda.Native?
local function check_library()
  health.start("Library")
  local library, native = require("koda.library"), require("koda.native")
  local manifest = library.manifest()
  if manifest then
    local path, size = library.folder() .. "/" .. manifest.file, manifest.bytes / 2 ^ 20
    health.info(("%s, %.1f MiB, built %s"):format(path, size, manifest.built))
  end
  local lib, problem = native.load()
  if not lib then
    health.error(problem.message, { problem.hint })
    return nil
  end
  local commit = lib.commit()
  local from = commit and "commit " .. commit or "built outside of git"
  health.ok(("version %s, %s, ABI %d"):format(lib.version(), from, lib.abi()))
  local newer = library.newer_source()
  if newer then
    health.warn(("it is older than %s"):format(newer), { "run :Koda build, then restart Neovim" })
  end
  if manifest and native.file() ~= manifest.file then
    health.warn("this Neovim still runs an earlier build", { "restart Neovim" })
  end
  if vim.fn.executable("cargo") == 1 then
    health.ok("cargo is there, for :Koda build")
  else
    health.info("cargo is not on PATH; :Koda build needs it (https://rustup.rs)")
  end
  return lib
end

---@param name string
---@param folder string
local function check_folder(name, folder)
  local parent = folder
  while not vim.uv.fs_stat(parent) and parent ~= vim.fs.dirname(parent) do
    parent = vim.fs.dirname(parent)
  end
  if vim.uv.fs_access(parent, "W") then
    health.ok(("%s: %s"):format(name, folder))
  else
    health.error(("%s can't be written: %s"):format(name, folder), { "check the rights of " .. parent })
  end
end

local function check_settings()
  health.start("Settings and folders")
  local config = require("koda.config")
  local problem = config.problem()
  if problem then
    health.error(problem.message, { "mend the call of require(\"koda\").setup", problem.hint })
  else
    health.ok("the settings are right")
  end
  local data = vim.fs.joinpath(vim.fn.stdpath("data") --[[@as string]], "koda")
  check_folder("sessions", config.get().data_dir or data)
  check_folder("log", require("koda.log").folder())
end

---@param ways koda.Ways
local function report_ways(ways)
  local keys = 0
  for _, way in ipairs(ways.ways) do
    if way.has_key then
      keys = keys + 1
      local from = way.key_env and (" (%s)"):format(way.key_env) or ""
      health.ok(("%s: a key is there%s"):format(way.provider, from))
    end
  end
  for _, server in ipairs(ways.local_servers) do
    health.ok(("%s answers at %s: %d models"):format(server.provider, server.endpoint, #server.models))
  end
  local model = require("koda.config").get().model or ways.default_model
  if model then
    health.ok("model " .. model)
  elseif #ways.local_servers > 0 then
    health.info("no model is set; :Koda offers those of the server on this machine")
  else
    health.warn("no model can be asked", { "put a key into the environment; :Koda model lists the ways" })
  end
end

local function check_models()
  health.start("Models")
  local native, problem = require("koda.native").get()
  if not native then
    return health.warn("not looked for: " .. problem.message, { problem.hint })
  end
  local ways, failure = require("koda.handle").await(LOOK_MS, native.ways)
  if not ways then
    return health.warn("no answer: " .. failure.message)
  end
  report_ways(ways)
end

---@param lib koda.Native
local function check_sandbox(lib)
  health.start("Sandbox")
  local sandbox, found = require("koda.config").get().sandbox, lib.sandbox()
  if sandbox.profile == "off" then
    health.info("switched off by the option sandbox.profile")
  elseif found then
    health.ok(("%s confines commands: profile %s, network %s"):format(found, sandbox.profile, sandbox.network))
  else
    health.warn("nothing confines commands on this system", {
      "trust auto asks for commands that change something; Linux 5.13 or newer has Landlock",
    })
  end
end

local function check_programs()
  health.start("Programs")
  local shell = require("koda.config").get().terminal.shell or vim.env.SHELL or "/bin/sh"
  if vim.fn.executable(shell) == 1 then
    health.ok("commands run in " .. shell)
  else
    health.error(("the shell %s can't be run"):format(shell), { "set the option terminal.shell" })
  end
  if vim.fn.executable("git") == 1 then
    health.ok("git is there")
  else
    health.info("git is not on PATH; Koda works without it")
  end
end

--- Checks everything.
function M.check()
  check_neovim()
  local lib = check_library()
  check_settings()
  if lib then
    check_models()
  end
  if lib then
    check_sandbox(lib)
  end
  check_programs()
end

return M
