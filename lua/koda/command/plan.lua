--- `:Koda plan`.

---@param call koda.Call
return function(call)
  local plan = require("koda.plan")
  local act = ({ [""] = plan.open, accept = plan.accept, reject = plan.reject })[call.args]
  if act then
    return act()
  end
  -- `:Koda plan it` is a prompt.
  require("koda.command.ask")({ args = "plan " .. call.args, context = call.context })
end
