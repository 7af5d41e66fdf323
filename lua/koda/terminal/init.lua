--- Terminals: the buffers and the window that show what Rust's PTYs print.
---
--- Rust owns the processes; here is only their picture. What is typed goes back as bytes, the window's
--- size follows, and no window is ever entered unasked.

local window = require("koda.terminal.window")

local M = {}

--- One terminal as shown.
---@class koda.terminal.Terminal
---@field number integer counted from 1, as in `data.terminal` of Bash
---@field buf integer
---@field channel integer
---@field title string the command
---@field state string `running`, `done`, `timed_out`, `cancelled` or `idle`
---@field exit_code? integer
---@field signal? string

---@type table<integer, koda.terminal.Terminal>
local terminals = {}

---@type integer? number of the terminal that was last at work
local latest

---@param number integer
---@param bytes string
local function type_into(number, bytes)
  require("koda.native").get().terminal_input(number, bytes)
end

---@param terminal koda.terminal.Terminal
local function watch(terminal)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = terminal.buf,
    once = true,
    callback = function()
      terminals[terminal.number] = nil
      local native = require("koda.native").get()
      if native then
        native.terminal_close(terminal.number)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufWinEnter", {
    buffer = terminal.buf,
    callback = function()
      vim.schedule(function()
        M.follow_size(terminal.number)
      end)
    end,
  })
end

---@param number integer
---@param title string
---@return koda.terminal.Terminal
local function create(number, title)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = "koda-terminal"
  vim.b[buf].koda_terminal = number
  local channel = vim.api.nvim_open_term(buf, {
    on_input = function(_, _, _, bytes)
      type_into(number, bytes)
    end,
    force_crlf = false,
  })
  vim.api.nvim_buf_set_name(buf, ("koda://terminal/%d"):format(number))
  local terminal = { number = number, buf = buf, channel = channel, title = title, state = "running" }
  terminals[number] = terminal
  watch(terminal)
  return terminal
end

--- Shows that a terminal begins a command; opens the split if the layout has one.
---@param number integer
---@param title string the command
function M.opened(number, title)
  local terminal = terminals[number] or create(number, title)
  terminal.title = title
  terminal.state = "running"
  terminal.exit_code = nil
  latest = number
  window.show(terminal)
  M.follow_size(number)
end

--- Shows bytes that the program printed.
---@param number integer
---@param bytes string
function M.output(number, bytes)
  local terminal = terminals[number]
  if not terminal then
    return
  end
  local following = window.at_end(terminal.buf)
  vim.api.nvim_chan_send(terminal.channel, bytes)
  window.follow(following)
end

--- Shows how far a terminal's command is.
---@param number integer
---@param status { state: string, exit_code?: integer, signal?: string }
function M.status(number, status)
  local terminal = terminals[number]
  if terminal then
    terminal.state = status.state
    terminal.exit_code = status.exit_code
    terminal.signal = status.signal
    window.refresh(terminal)
  end
end

--- Forgets a terminal whose process is gone; its text stays to be read.
---@param number integer
function M.closed(number)
  local terminal = terminals[number]
  if terminal and terminal.state == "running" then
    terminal.state = "done"
    window.refresh(terminal)
  end
end

--- Tells Rust the size in which a terminal is shown.
---@param number integer
function M.follow_size(number)
  local terminal = terminals[number]
  local columns, rows = window.size(terminal and terminal.buf)
  if columns then
    require("koda.native").get().terminal_resize(number, columns, rows)
  end
end

--- Opens a terminal's window and enters it: the given one, else the one last at work.
---@param number? integer
---@return boolean # whether there is such a terminal
function M.open(number)
  local terminal = terminals[number or latest]
  if not terminal then
    return false
  end
  window.show(terminal, true)
  M.follow_size(terminal.number)
  return true
end

--- Hides the window; processes go on.
function M.hide()
  window.hide()
end

--- Lists the terminals, by number.
---@return koda.terminal.Terminal[]
function M.list()
  local list = vim.tbl_values(terminals)
  table.sort(list, function(a, b)
    return a.number < b.number
  end)
  return list
end

vim.api.nvim_create_autocmd("WinResized", {
  group = vim.api.nvim_create_augroup("koda.terminal", { clear = true }),
  desc = "Koda: tells its terminals their size",
  callback = function()
    for number in pairs(terminals) do
      M.follow_size(number)
    end
  end,
})

return M
