--- The window of the terminals: one split, float or tab that shows the terminal last at work.

local M = {}

---@type integer? the window, while it is open
local win

--- How to open the window, by `terminal.layout`. None: the terminal stays hidden until asked for.
local LAYOUTS = {
  bottom = function(height)
    return { split = "below", win = -1, height = height }
  end,
  right = function()
    return { split = "right", win = -1, width = math.floor(vim.o.columns * 0.4) }
  end,
  float = function(height)
    local width = math.floor(vim.o.columns * 0.8)
    return {
      relative = "editor",
      width = width,
      height = height,
      row = math.max(vim.o.lines - height - 4, 0),
      col = math.floor((vim.o.columns - width) / 2),
      border = require("koda.config").get().chat.border,
    }
  end,
}

---@return boolean
local function is_open()
  return win ~= nil and vim.api.nvim_win_is_valid(win)
end

---@param terminal koda.terminal.Terminal
---@return string # state as the winbar shows it, with its highlight group
local function state_text(terminal)
  if terminal.state == "running" then
    return "%#KodaTerminalRunning# running "
  end
  if terminal.signal then
    return ("%%#KodaTerminalFailed# ended by %s "):format(terminal.signal)
  end
  if terminal.state == "timed_out" or terminal.state == "cancelled" then
    return ("%%#KodaTerminalFailed# %s "):format(terminal.state:gsub("_", " "))
  end
  if terminal.exit_code == nil then
    return "%#KodaTerminalRunning# " .. terminal.state .. " "
  end
  local group = terminal.exit_code == 0 and "KodaTerminalDone" or "KodaTerminalFailed"
  return ("%%#%s# exit %d "):format(group, terminal.exit_code)
end

---@param terminal koda.terminal.Terminal
---@return string
local function winbar(terminal)
  local title = terminal.title:gsub("%s+", " "):gsub("%%", "%%%%")
  return ("%%#KodaTerminalTitle# %d %%<$ %s %%=%s%%*"):format(terminal.number, title, state_text(terminal))
end

---@param height integer
---@param layout string
---@param buf integer
---@return integer?
local function open_window(height, layout, buf)
  if layout == "tab" then
    local back = vim.api.nvim_get_current_tabpage()
    vim.cmd("tab sbuffer " .. buf)
    local opened = vim.api.nvim_get_current_win()
    vim.api.nvim_set_current_tabpage(back)
    return opened
  end
  local config = LAYOUTS[layout]
  return config and vim.api.nvim_open_win(buf, false, config(height))
end

--- Where the window that shows a buffer, if any, follows its end.
---@param buf integer
---@return integer? # the window, if its cursor is on the last line
function M.at_end(buf)
  if not is_open() or vim.api.nvim_win_get_buf(win) ~= buf then
    return nil
  end
  local last = vim.api.nvim_buf_line_count(buf)
  local reading = vim.api.nvim_get_current_win() == win and vim.api.nvim_win_get_cursor(win)[1] < last
  return not reading and win or nil
end

--- Moves a window on to the end of its buffer.
---@param following? integer what `at_end` returned before the text came
function M.follow(following)
  if following and vim.api.nvim_win_is_valid(following) and vim.api.nvim_get_mode().mode ~= "t" then
    local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(following))
    vim.api.nvim_win_set_cursor(following, { last, 0 })
  end
end

--- Shows a terminal; enters its window only if asked to.
---@param terminal koda.terminal.Terminal
---@param enter? boolean
function M.show(terminal, enter)
  local config = require("koda.config").get().terminal
  local layout = (enter and config.layout == "hidden") and "bottom" or config.layout
  if not is_open() then
    win = open_window(config.height, layout, terminal.buf)
  elseif vim.api.nvim_win_get_buf(win) ~= terminal.buf then
    vim.wo[win].winfixbuf = false
    vim.api.nvim_win_set_buf(win, terminal.buf)
  end
  if not win then
    return
  end
  local wo = vim.wo[win]
  wo.number, wo.relativenumber, wo.signcolumn, wo.foldcolumn = false, false, "no", "0"
  wo.spell, wo.list, wo.wrap, wo.winfixheight, wo.winfixbuf = false, false, true, true, true
  M.refresh(terminal)
  if enter then
    vim.api.nvim_set_current_win(win)
  end
end

--- Draws the bar of the window anew, if it shows this terminal.
---@param terminal koda.terminal.Terminal
function M.refresh(terminal)
  if is_open() and vim.api.nvim_win_get_buf(win) == terminal.buf then
    vim.wo[win].winbar = winbar(terminal)
  end
end

--- Size of the text area in which a buffer is shown.
---@param buf? integer
---@return integer? columns
---@return integer? rows
function M.size(buf)
  if buf and is_open() and vim.api.nvim_win_get_buf(win) == buf then
    local bar = vim.wo[win].winbar ~= "" and 1 or 0
    return vim.api.nvim_win_get_width(win), math.max(vim.api.nvim_win_get_height(win) - bar, 1)
  end
end

--- Closes the window, unless it is the last one.
function M.hide()
  if is_open() then
    pcall(vim.api.nvim_win_hide, win)
  end
  win = nil
end

return M
