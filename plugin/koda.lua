-- Declares `:Koda` and the <Plug> maps. Loads nothing: each module is required when it is first used.

if vim.g.loaded_koda then
  return
end
vim.g.loaded_koda = true

vim.api.nvim_create_user_command("Koda", function(call)
  require("koda.commands").run(call)
end, {
  nargs = "*",
  range = true,
  desc = "Koda, the coding agent: a subcommand, or a prompt",
  complete = function(_, line, at)
    return require("koda.commands").complete(line:sub(1, at))
  end,
})

local maps = {
  { "n", "chat", "<Cmd>Koda chat<CR>", "opens or hides the chat" },
  { "n", "ask", "<Cmd>Koda ask<CR>", "asks for a prompt" },
  { "x", "ask", ":Koda ask<CR>", "asks for a prompt about the selection" },
  { "n", "stop", "<Cmd>Koda stop<CR>", "stops what runs" },
  { "n", "terminal", "<Cmd>Koda terminal<CR>", "opens the terminal of the last command" },
}
for _, map in ipairs(maps) do
  vim.keymap.set(map[1], "<Plug>(koda-" .. map[2] .. ")", map[3], { silent = true, desc = "Koda: " .. map[4] })
end
