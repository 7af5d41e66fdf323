--- The chat's windows: the transcript above, the prompt below, as floats or a split.

local tasks = require("koda.chat.tasks")

local M = {}

--- Lines that the transcript keeps, whatever is pinned below it.
local LEAST_TRANSCRIPT = 4

--- Lines of the prompt's window, and on a screen that has few.
local PROMPT_LINES, SMALL_PROMPT_LINES = 4, 2

--- A screen with fewer lines has few.
local SMALL_SCREEN = 24

---@class koda.chat.Windows
---@field transcript integer
---@field prompt integer

---@type koda.chat.Windows?
local windows

---@param win? integer
---@return boolean
local function is_valid(win)
  return win ~= nil and vim.api.nvim_win_is_valid(win)
end

--- Rows that the floats need to be of use; with fewer they lie over a terminal's split.
local LEAST_ROWS = 20

--- Rows from the top that the floats may take: those above the split of a terminal, whose command is to be seen.
---@return integer
local function room()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local is_split = vim.api.nvim_win_get_config(win).relative == ""
    if is_split and vim.b[vim.api.nvim_win_get_buf(win)].koda_terminal then
      local row, column = unpack(vim.api.nvim_win_get_position(win))
      -- The row above is the status line of the window there.
      if column == 0 and vim.api.nvim_win_get_width(win) == vim.o.columns and row - 1 >= LEAST_ROWS then
        return row - 1
      end
    end
  end
  return vim.o.lines - vim.o.cmdheight - 1
end

---@return integer
local function prompt_lines()
  return vim.o.lines < SMALL_SCREEN and SMALL_PROMPT_LINES or PROMPT_LINES
end

--- Names a buffer of the chat, unless an older one that a window still shows has the name.
---@param buf integer
---@param name "chat"|"prompt"
function M.name(buf, name)
  pcall(vim.api.nvim_buf_set_name, buf, "koda://" .. name)
end

--- Whether both windows are there.
---@return boolean
function M.is_open()
  return windows ~= nil and is_valid(windows.transcript) and is_valid(windows.prompt)
end

--- Returns the windows while they are open.
---@return koda.chat.Windows?
function M.get()
  return M.is_open() and windows or nil
end

---@return string # the keys that one has to know
local function hint()
  local others = { { "unfold", "unfold" }, { "hide", "hide" }, { "stop", "stop" } }
  return " <CR> send · " .. require("koda.keys").hint(others, "%s %s", " · ") .. " "
end

--- Lines that a border takes above and below a window.
---@param border string|(string|string[])[] as of nvim_open_win()
---@return integer above
---@return integer below
local function border_lines(border)
  if type(border) == "string" then
    return (border == "none" or border == "shadow") and 0 or 1, border == "none" and 0 or 1
  end
  -- Eight parts from the upper left corner on; fewer are repeated.
  local function lines_of(index)
    local part = border[(index - 1) % #border + 1]
    return (type(part) == "table" and part[1] or part) == "" and 0 or 1
  end
  return lines_of(2), lines_of(6)
end

---@return table transcript
---@return table prompt
---@return table? tasks none without tasks or room for them
local function float_configs()
  local chat = require("koda.config").get().chat
  local columns, lines = vim.o.columns, room()
  local width = math.max(math.min(chat.width, columns - 4), 10)
  local below_height = prompt_lines()
  local over, under = border_lines(chat.border)
  local border = over + under
  local height = math.max(math.min(chat.height, lines - 2), below_height + 2 + 2 * border)
  local top = math.max(math.floor((lines - height) / 2), 0)
  local left = math.max(math.floor((columns - width) / 2) - 1, 0)
  local shared = { relative = "editor", width = width, col = left, border = chat.border, style = "minimal", zindex = 40 }
  local above = vim.tbl_extend("error", shared, {
    row = top,
    height = math.max(height - below_height - 2 * border, 2),
    title = " Koda ",
    title_pos = "center",
  })
  -- The tasks have a border of their own between both.
  local rows = tasks.rows()
  local pinned = nil
  if rows > 0 and above.height - rows - border >= LEAST_TRANSCRIPT then
    above.height = above.height - rows - border
    pinned = vim.tbl_extend("error", shared, {
      row = top + above.height + border,
      height = rows,
      title = tasks.title(),
      focusable = false,
    })
  end
  local below = vim.tbl_extend("error", shared, {
    row = top + above.height + border + (pinned and rows + border or 0),
    height = below_height,
    footer = hint(),
    footer_pos = "center",
  })
  return above, below, pinned
end

---@param win integer
---@param is_prompt boolean
local function dress(win, is_prompt)
  local wo = vim.wo[win]
  wo.wrap, wo.linebreak, wo.breakindent = true, true, true
  wo.number, wo.relativenumber, wo.signcolumn, wo.foldcolumn = false, false, "no", "0"
  wo.list, wo.spell, wo.cursorline, wo.foldenable = false, false, false, false
  wo.winhighlight = "Normal:KodaNormal,NormalFloat:KodaNormal,FloatBorder:KodaBorder,FloatTitle:KodaTitle"
  wo.winfixbuf = true
  wo.winfixheight = is_prompt
end

---@param transcript integer buffer
---@param prompt integer buffer
local function open_split(transcript, prompt)
  local chat = require("koda.config").get().chat
  if chat.layout == "tab" then
    vim.cmd("tab sbuffer " .. transcript)
  else
    local width = math.min(chat.width, math.floor(vim.o.columns * 0.5))
    vim.api.nvim_open_win(transcript, true, { split = chat.layout, win = -1, width = width })
  end
  local above = vim.api.nvim_get_current_win()
  local below = vim.api.nvim_open_win(prompt, true, { split = "below", win = above, height = prompt_lines() })
  return { transcript = above, prompt = below }
end

---@param transcript integer buffer
---@param prompt integer buffer
---@return koda.chat.Windows
local function open_float(transcript, prompt)
  local above, below = float_configs()
  local upper = vim.api.nvim_open_win(transcript, false, above)
  return { transcript = upper, prompt = vim.api.nvim_open_win(prompt, true, below) }
end

--- Opens the windows and enters the prompt.
---@param transcript integer buffer
---@param prompt integer buffer
function M.open(transcript, prompt)
  if M.is_open() then
    return vim.api.nvim_set_current_win(windows.prompt)
  end
  M.close()
  local is_float = require("koda.config").get().chat.layout == "float"
  windows = (is_float and open_float or open_split)(transcript, prompt)
  dress(windows.transcript, false)
  dress(windows.prompt, true)
  if not is_float or select(2, border_lines(require("koda.config").get().chat.border)) == 0 then
    -- There is no border below that would have the keys.
    vim.wo[windows.prompt].winbar = "%#KodaBarDim#" .. hint():gsub("%%", "%%%%")
  end
end

--- Closes what is left of the windows.
function M.close()
  local old = windows
  windows = nil
  tasks.close()
  for _, win in pairs(old or {}) do
    if is_valid(win) then
      -- The last window of Neovim can't be closed: it then stays, as any other would.
      pcall(vim.api.nvim_win_close, win, true)
    end
  end
end

--- Whether the windows lie over others.
---@return boolean
function M.is_float()
  return M.is_open() and vim.api.nvim_win_get_config(windows.prompt).relative ~= ""
end

--- Fits the floats to the screen.
function M.fit()
  if M.is_float() then
    local above, below, pinned = float_configs()
    vim.api.nvim_win_set_config(windows.transcript, above)
    vim.api.nvim_win_set_config(windows.prompt, below)
    tasks.show(pinned)
  end
end

--- Pins what is to be done between transcript and prompt.
---@param now? koda.chat.Task[]
function M.pin(now)
  local is_moved = tasks.set(now)
  if not M.is_open() then
    return
  end
  if not M.is_float() then
    return tasks.show(nil, windows.prompt)
  end
  if is_moved then
    -- What was at the end of the transcript stays in sight.
    local buf = vim.api.nvim_win_get_buf(windows.transcript)
    local last = vim.api.nvim_buf_line_count(buf)
    local at_end = vim.api.nvim_win_get_cursor(windows.transcript)[1] == last
    M.fit()
    if at_end then
      vim.api.nvim_win_set_cursor(windows.transcript, { last, 0 })
    end
  else
    tasks.show(select(3, float_configs()))
  end
end

--- Goes from one of the chat's floats to the other.
---@return boolean # false where they are no floats
function M.switch()
  if not M.is_float() then
    return false
  end
  local is_prompt = vim.api.nvim_get_current_win() == windows.prompt
  vim.api.nvim_set_current_win(is_prompt and windows.transcript or windows.prompt)
  return true
end

--- Scrolls the current window so that lines below the cursor's are seen, as many as fit.
---@param count integer
function M.reveal(count)
  local at = vim.api.nvim_win_get_cursor(0)
  local last = at[1] + count
  if last <= vim.fn.line("w$") then
    return
  elseif count + 1 >= vim.api.nvim_win_get_height(0) then
    return vim.cmd("normal! zt")
  end
  vim.api.nvim_win_set_cursor(0, { last, 0 })
  vim.cmd("normal! zb")
  vim.api.nvim_win_set_cursor(0, at)
end

--- Whether a window is one of the chat's.
---@param win integer
---@return boolean
function M.has(win)
  return windows ~= nil and (windows.transcript == win or windows.prompt == win)
end

return M
