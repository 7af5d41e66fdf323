--- `:Koda ask`, and each `:Koda` that is no subcommand.

---@param prompt string
---@param context? string
local function send(prompt, context)
  if #vim.api.nvim_list_uis() == 0 then
    local problem = "there is no screen to show the chat on; use :Koda run -- PROMPT"
    return require("koda.notify").error(problem)
  end
  require("koda.first_use").with_model(function()
    require("koda.chat").send(prompt, context)
  end, function()
    require("koda.chat").draft(prompt)
  end)
end

---@param call koda.Call
return function(call)
  if call.args ~= "" then
    return send(call.args, call.context)
  end
  vim.ui.input({ prompt = "Koda: " }, function(prompt)
    if prompt and prompt:find("%S") then
      send(prompt, call.context)
    end
  end)
end
