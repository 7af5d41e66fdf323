--- `:Koda model`.

---@param call koda.Call
return function(call)
  local first_use = require("koda.first_use")
  if call.args ~= "" then
    return first_use.choose(call.args)
  end
  first_use.look(function(ways)
    first_use.list(true, function(listings)
      local lines = first_use.explain(ways)
      require("koda.view").open("Koda: models", vim.list_extend(lines, first_use.offers(listings)))
    end)
  end)
end
