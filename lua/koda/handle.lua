--- Handles of what runs: the only place of the API where a caller may wait, and only because it asks to.
---
--- Waiting handles events meanwhile. It is for scripts, tests and runs without a screen; in a screen it would
--- keep the user's keys waiting.

local M = {}

--- How often a condition is looked at while no event comes.
local LOOK_EVERY_MS = 10

--- Waits until a function returns true, and handles events meanwhile.
---@param ms integer at most so many milliseconds
---@param is_over fun(): boolean
---@return boolean # whether it came true
function M.wait_until(ms, is_over)
  return (vim.wait(ms, is_over, LOOK_EVERY_MS))
end

--- Calls a function that takes a callback, and waits for it.
---@param ms integer at most so many milliseconds
---@param start fun(callback: fun(value: any, problem?: koda.Error)): any, koda.Error?
---@return any
---@return koda.Error?
function M.await(ms, start)
  local answered, value, problem = false, nil, nil
  local ok, refused = start(function(...)
    answered, value, problem = true, ...
  end)
  if not ok then
    return nil, refused
  end
  if not M.wait_until(ms, function()
    return answered
  end) then
    return nil, { code = "timeout", message = ("no answer within %d ms"):format(ms) }
  end
  return value, problem
end

--- A prompt that is being worked on.
---@class koda.RunHandle
---@field session string
---@field outcome? koda.Outcome once it is over
local Run = {}
Run.__index = Run

--- Follows a session until its turn is over. Must be called before the prompt is sent.
---@param session string
---@param on_event? fun(event: koda.Event)
---@return koda.RunHandle
function M.run(session, on_event)
  local handle = setmetatable({ session = session }, Run)
  local unsubscribe
  unsubscribe = require("koda.events").on("*", function(event)
    if event.session ~= session then
      return
    end
    if event.type == "turn_end" then
      handle.outcome = event.outcome
      unsubscribe()
    end
    if on_event then
      on_event(event)
    end
  end)
  return handle
end

--- Waits until the turn is over.
---@param ms integer at most so many milliseconds
---@return koda.Outcome? # nil if it is not over by then
function Run:wait(ms)
  M.wait_until(ms, function()
    return self.outcome ~= nil
  end)
  return self.outcome
end

--- Stops the turn. It ends with the outcome `cancelled`.
function Run:cancel()
  if not self.outcome then
    require("koda.native").get().stop(self.session)
  end
end

--- A tool's call outside of a conversation.
---@class koda.ToolHandle
---@field id string the call's id
---@field result? koda.ToolResult once it is there
---@field package listeners (fun(result: koda.ToolResult))[]
local Tool = {}
Tool.__index = Tool

--- Follows a call until its result is there.
---@param id string
---@return koda.ToolHandle
function M.tool(id)
  local handle = setmetatable({ id = id, listeners = {} }, Tool)
  local unsubscribe
  unsubscribe = require("koda.events").on("tool_result", function(event)
    if event.id == id then
      handle.result = { ok = event.ok, text = event.text, data = event.data }
      unsubscribe()
      for _, fn in ipairs(handle.listeners) do
        fn(handle.result)
      end
    end
  end)
  return handle
end

--- Calls a function with the result, at once if it is there.
---@param fn fun(result: koda.ToolResult)
function Tool:on_end(fn)
  if self.result then
    return fn(self.result)
  end
  table.insert(self.listeners, fn)
end

--- Waits for the result.
---@param ms integer at most so many milliseconds
---@return koda.ToolResult? # nil if it is not there by then
function Tool:wait(ms)
  M.wait_until(ms, function()
    return self.result ~= nil
  end)
  return self.result
end

return M
