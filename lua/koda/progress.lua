--- A line in the corner that says what goes on in the background. It takes no focus and stops nobody's typing.

local M = {}

---@type integer?, integer?
local buf, win

---@param text string
---@return vim.api.keyset.win_config
local function place(text)
  return {
    relative = "editor",
    anchor = "SE",
    row = vim.o.lines - vim.o.cmdheight - 1,
    col = vim.o.columns,
    width = math.max(math.min(vim.fn.strdisplaywidth(text), vim.o.columns - 2), 1),
    height = 1,
    style = "minimal",
    focusable = false,
    noautocmd = true,
    zindex = 200,
  }
end

--- Shows a text, in the place of the last one. Without a screen nothing is shown.
---@param text string
function M.show(text)
  if #vim.api.nvim_list_uis() == 0 then
    return
  end
  text = (" Koda: %s "):format(text)
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    buf = vim.api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden = "wipe"
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, { text })
  local config = place(text)
  if win and vim.api.nvim_win_is_valid(win) then
    -- `noautocmd` is only for windows to be.
    config.noautocmd = nil
    vim.api.nvim_win_set_config(win, config)
  else
    win = vim.api.nvim_open_win(buf, false, config)
  end
end

--- Takes the line away.
function M.hide()
  if win and vim.api.nvim_win_is_valid(win) then
    vim.api.nvim_win_close(win, true)
  end
  win = nil
end

return M
