--- `:Koda mode`.

---@param call koda.Call
return function(call)
  require("koda.command.choice").of("mode", call.args)
end
