--- `:Koda run`: without a screen a whole run of Neovim, with one a prompt to the chat.

---@param arguments koda.headless.Arguments
---@param context? string
local function in_chat(arguments, context)
  require("koda.first_use").with_model(function()
    local chat = require("koda.chat")
    chat.open()
    local change = { model = arguments.model, mode = arguments.mode, trust = arguments.trust }
    if next(change) then
      local ok, problem = require("koda.current").set(change)
      if not ok then
        chat.draft(arguments.prompt)
        return require("koda.notify").error(problem --[[@as koda.Error]])
      end
    end
    chat.send(arguments.prompt, context)
  end, function()
    require("koda.chat").draft(arguments.prompt)
  end, arguments.model)
end

---@param call koda.Call
return function(call)
  if #vim.api.nvim_list_uis() == 0 then
    return require("koda.headless").run(call.args)
  end
  local arguments, problem = require("koda.headless.arguments").parse(call.args)
  problem = problem or require("koda.headless.arguments").check_cost(arguments --[[@as koda.headless.Arguments]])
  if problem then
    return require("koda.notify").error(problem)
  end
  in_chat(arguments --[[@as koda.headless.Arguments]], call.context)
end
