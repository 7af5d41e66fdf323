--- `:Koda trust`.

---@param call koda.Call
return function(call)
  require("koda.command.choice").of("trust", call.args)
end
