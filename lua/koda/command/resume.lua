--- `:Koda resume`.

---@param id string
local function resume(id)
  local session, problem = require("koda").resume(id)
  if not session then
    require("koda.notify").error(problem --[[@as koda.Error]])
  end
end

---@param call koda.Call
return function(call)
  if call.args ~= "" then
    return resume(call.args)
  end
  require("koda.sessions").with(function(sessions)
    resume(sessions[1].id)
  end)
end
