--- `:Koda resume`.

local notify = require("koda.notify")

---@param id string
local function resume(id)
  local session, problem = require("koda").resume(id)
  if not session then
    notify.error(problem --[[@as koda.Error]])
  end
end

---@param call koda.Call
return function(call)
  if call.args ~= "" then
    return resume(call.args)
  end
  local ok, problem = require("koda").sessions(function(sessions, failure)
    if not sessions then
      notify.error(failure --[[@as koda.Error]])
    elseif #sessions == 0 then
      notify.info("this project has no sessions yet")
    else
      resume(sessions[1].id)
    end
  end)
  if not ok then
    notify.error(problem --[[@as koda.Error]])
  end
end
