--- A window with lines to read: `q` closes it.

local M = {}

--- Opens a float.
---@param title string
---@param lines string[]
function M.open(title, lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].filetype = "koda-view"
  local longest = 0
  for _, line in ipairs(lines) do
    longest = math.max(longest, vim.fn.strdisplaywidth(line))
  end
  local width = math.max(math.min(longest + 2, vim.o.columns - 4), 20)
  local height = math.max(math.min(#lines, vim.o.lines - 6), 1)
  local win = vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    border = require("koda.config").get().chat.border,
    title = (" %s "):format(title),
    style = "minimal",
  })
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  for _, key in ipairs({ "q", "<Esc>" }) do
    local opts = { buffer = buf, nowait = true, desc = "Koda: closes this window" }
    vim.keymap.set("n", key, "<Cmd>close<CR>", opts)
  end
end

return M
