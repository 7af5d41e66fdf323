--- `:Koda model`.

---@param call koda.Call
return function(call)
  local first_use = require("koda.first_use")
  if call.args ~= "" then
    return first_use.choose(call.args)
  end
  first_use.look(function(ways)
    require("koda.view").open("Koda: models", first_use.explain(ways))
  end)
end
