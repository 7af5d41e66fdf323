--- `:Koda terminal`.

---@param call koda.Call
return function(call)
  local notify = require("koda.notify")
  local number = tonumber(call.args)
  if call.args ~= "" and not number then
    return notify.error(("terminals have numbers, %s is none"):format(call.args))
  end
  local chat = package.loaded["koda.chat"]
  if chat then
    chat.make_way()
  end
  if not require("koda.terminal").open(number) then
    notify.info(number and ("there is no terminal %d"):format(number) or "Koda has no terminal yet")
  end
end
