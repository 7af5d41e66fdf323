--- What holds now: the model, mode and trust for the next session and for the chat's, and the turns that run.

local M = {}

---@class koda.Change
---@field model? string
---@field mode? koda.Mode
---@field trust? koda.Trust

--- The session that the chat shows, if there is one.
---@return string?
local function session()
  local chat = package.loaded["koda.chat"]
  return chat and chat.session()
end

--- Returns what new sessions begin with.
---@return koda.Change
function M.get()
  local config = require("koda.config").get()
  return { model = config.model, mode = config.mode, trust = config.trust }
end

--- Changes model, mode or trust: of the chat's session, and of the sessions to come.
---@param change koda.Change
---@return true?
---@return koda.Error?
function M.set(change)
  local id = session()
  if id then
    local ok, problem = require("koda.native").get().set(id, change)
    if not ok then
      return nil, problem
    end
  end
  local config = require("koda.config").get()
  for name, value in pairs(change) do
    config[name] = value
  end
  return true
end

---@type table<string, boolean> sessions by id: whether their turn runs
local sessions = {}

---@type string? the session opened last
local last

--- Returns the session that was opened last.
---@return string?
function M.last()
  return last
end

--- Takes note of a session that was just opened: its first event comes a frame later, and it may be stopped before.
---@param id string
function M.opened(id)
  last = id
  sessions[id] = sessions[id] or false
end

--- Follows the sessions that are open; called once, before the first is opened.
function M.watch()
  local events = require("koda.events")
  local function note(is_running)
    return function(event)
      sessions[event.session] = is_running
    end
  end
  events.on("session_start", note(false))
  events.on("user_message", note(true))
  events.on("turn_end", note(false))
end

--- Stops every turn that runs, and the calls of `koda.tool`.
---@return integer # how many turns ran, as far as their events have come
function M.stop()
  local native = require("koda.native")
  local lib = native.is_started() and native.get()
  if not lib then
    return 0
  end
  lib.stop_calls()
  local count = 0
  for id, is_running in pairs(sessions) do
    count = count + (is_running and 1 or 0)
    -- Also where none is known to run: one may have begun in this very frame.
    lib.stop(id)
  end
  return count
end

return M
