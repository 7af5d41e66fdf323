--- The project's sessions, for commands: what goes wrong, and that there are none, is told here.

local M = {}

--- Calls a function with the sessions of the project, the latest first; not where there are none.
---@param callback fun(sessions: koda.SessionInfo[])
function M.with(callback)
  local notify = require("koda.notify")
  local ok, problem = require("koda").sessions(function(sessions, failure)
    if not sessions then
      notify.error(failure --[[@as koda.Error]])
    elseif #sessions == 0 then
      notify.info("this project has no sessions yet")
    else
      callback(sessions)
    end
  end)
  if not ok then
    notify.error(problem --[[@as koda.Error]])
  end
end

return M
