--- What is to be done, pinned between transcript and prompt: the task list, or the steps of the plan.

local M = {}

--- Rows that are shown at most, and on a screen that has few lines.
local ROWS, SMALL_ROWS = 5, 1

--- A screen with fewer lines has few.
local SMALL_SCREEN = 24

local NS = vim.api.nvim_create_namespace("koda.chat.tasks")

local ICONS = {
  pending = { "○", "KodaTaskOpen" },
  in_progress = { "▸", "KodaTaskNow" },
  completed = { "✓", "KodaTaskDone" },
  done = { "✓", "KodaTaskDone" },
  skipped = { "–", "KodaTaskDone" },
}

---@class koda.chat.Task
---@field text string
---@field status string

---@type koda.chat.Task[]
local tasks = {}

---@type integer?
local buf

---@type integer?
local win

---@return boolean
local function is_open()
  return win ~= nil and vim.api.nvim_win_is_valid(win)
end

---@param task koda.chat.Task
---@return boolean
local function is_settled(task)
  return task.status == "completed" or task.status == "done" or task.status == "skipped"
end

--- Takes what an event says is to be done.
---@param event table a `todo` or a `plan`
---@return koda.chat.Task[]
function M.of(event)
  if event.type == "plan" then
    -- A plan under review is a proposal, nothing that is being done.
    return event.review and {} or event.plan.steps
  end
  return vim.tbl_map(function(item)
    return { text = item.content, status = item.status }
  end, event.items)
end

--- How many are settled, of how many.
---@return integer
---@return integer
local function count()
  return #vim.tbl_filter(is_settled, tasks), #tasks
end

--- Rows that the tasks take, without a border; none once all are settled.
---@return integer
function M.rows()
  local done, all = count()
  if done == all then
    return 0
  end
  return math.min(all, vim.o.lines < SMALL_SCREEN and SMALL_ROWS or ROWS)
end

--- The tasks that there is room for: those around the first that is not settled.
---@return koda.chat.Task[]
local function visible()
  local rows, first = M.rows(), 1
  for index, task in ipairs(tasks) do
    if not is_settled(task) then
      first = index
      break
    end
  end
  first = math.max(math.min(rows > 1 and first - 1 or first, #tasks - rows + 1), 1)
  return vim.list_slice(tasks, first, first + rows - 1)
end

---@return string
function M.title()
  return (" Tasks, %d of %d done "):format(count())
end

local function fill()
  if not (buf and vim.api.nvim_buf_is_valid(buf)) then
    buf = vim.api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden = "hide"
    vim.bo[buf].filetype = "koda-tasks"
  end
  local lines, groups = {}, {}
  for index, task in ipairs(visible()) do
    local icon = ICONS[task.status] or ICONS.pending
    lines[index] = (" %s %s"):format(icon[1], (task.text:gsub("%s+", " ")))
    groups[index] = icon[2]
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, NS, 0, -1)
  for index, group in ipairs(groups) do
    vim.api.nvim_buf_set_extmark(buf, NS, index - 1, 0, { end_row = index, hl_group = group, strict = false })
  end
end

--- Closes the window.
function M.close()
  if is_open() then
    pcall(vim.api.nvim_win_close, win --[[@as integer]], true)
  end
  win = nil
end

---@param config vim.api.keyset.win_config
local function place(config)
  if is_open() then
    return vim.api.nvim_win_set_config(win --[[@as integer]], config)
  end
  win = vim.api.nvim_open_win(buf --[[@as integer]], false, config)
  local wo = vim.wo[win]
  wo.wrap, wo.number, wo.relativenumber, wo.signcolumn, wo.foldcolumn = false, false, false, "no", "0"
  wo.list, wo.spell, wo.cursorline, wo.winfixbuf, wo.winfixheight = false, false, false, true, true
  wo.winhighlight = "Normal:KodaNormal,NormalFloat:KodaNormal,FloatBorder:KodaBorder,FloatTitle:KodaTitle"
end

--- Shows what is to be done; without room or tasks the window closes.
---@param config? vim.api.keyset.win_config where it floats
---@param prompt? integer the window that it is split from otherwise
function M.show(config, prompt)
  if M.rows() == 0 or not (config or prompt) then
    return M.close()
  end
  fill()
  if config then
    return place(config)
  end
  if not is_open() then
    place({ split = "above", win = prompt, style = "minimal" })
  end
  -- One row is the bar's.
  vim.api.nvim_win_set_height(win --[[@as integer]], M.rows() + 1)
  vim.wo[win].winbar = "%#KodaBarDim#" .. M.title()
end

--- Takes other tasks; true if they take another number of rows than before.
---@param now? koda.chat.Task[]
---@return boolean
function M.set(now)
  local before = M.rows()
  tasks = now or {}
  return M.rows() ~= before or not is_open()
end

return M
