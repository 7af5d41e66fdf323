--- The transcript: an ordinary buffer to which the conversation is appended, never rewritten.
---
--- The body grows at its end; below it stands the tail, the card of what waits for the user. Rows count
--- from 0. Each finished line of Markdown is looked at once, in slices that leave the main thread free.

local code = require("koda.chat.code")
local fence = require("koda.chat.fence")
local markdown = require("koda.chat.markdown")

local M = {}

local NS = vim.api.nvim_create_namespace("koda.chat")

--- Nanoseconds of one slice of highlighting.
local SLICE_NS = 2e6

--- Bytes of a line that is searched for marks; a longer one stays plain.
local MAX_LINE = 4096

---@class koda.chat.Transcript
---@field buf integer
---@field rows integer rows of the body; 0 before anything was written
---@field tail integer rows below the body
---@field open? "text"|"reasoning" what the last row still grows by
---@field first? integer the first row of what grows
---@field queue { [1]: integer, [2]: integer, [3]: koda.chat.FenceState }[] rows to be highlighted, the state before them
---@field slicing boolean
---@field on_growth? fun(follow: integer[]) called when something new stands below, with the windows that follow it
local Transcript = {}
Transcript.__index = Transcript

--- Makes an empty transcript.
---@return koda.chat.Transcript
function M.new()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].modifiable = false
  vim.bo[buf].undolevels = -1
  require("koda.chat.window").name(buf, "chat")
  vim.bo[buf].filetype = "koda"
  return setmetatable({ buf = buf, rows = 0, tail = 0, queue = {}, slicing = false }, Transcript)
end

--- The windows whose cursor is on the last line: they follow the end.
---@param buf integer
---@return integer[]
local function followers(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] == last
  end, vim.fn.win_findbuf(buf))
end

--- Changes the buffer and moves the windows that were at the end to the new one.
---@param change fun()
---@param grows? boolean whether something new comes, not only another form of what stands there
function Transcript:change(change, grows)
  local following = followers(self.buf)
  vim.bo[self.buf].modifiable = true
  change()
  vim.bo[self.buf].modifiable = false
  local last = vim.api.nvim_buf_line_count(self.buf)
  for _, win in ipairs(following) do
    vim.api.nvim_win_set_cursor(win, { last, 0 })
  end
  if grows and self.on_growth then
    self.on_growth(following)
  end
end

--- Puts lines at the end of the body.
---@param lines string[]
---@return integer # the first of their rows
function Transcript:put(lines)
  local at = self.rows
  -- An empty buffer has one line already.
  local upto = (at == 0 and self.tail == 0) and 1 or at
  vim.api.nvim_buf_set_lines(self.buf, at, upto, false, lines)
  self.rows = at + #lines
  return at
end

--- Appends a block of lines, with a blank line before it.
---@param lines string[]
---@param group? string highlight of all its lines
---@param tight? boolean without the blank line
---@return integer # the first row of the block
function Transcript:block(lines, group, tight)
  self:finish()
  local row
  self:change(function()
    if self.rows > 0 and not tight then
      self:put({ "" })
    end
    row = self:put(lines)
    if group then
      self:paint_block(row, row + #lines, group)
    end
  end, true)
  return row
end

--- Gives whole rows a highlight.
---@param from integer
---@param to integer not included
---@param group string
function Transcript:paint(from, to, group)
  for row = from, to - 1 do
    vim.api.nvim_buf_set_extmark(self.buf, NS, row, 0, { end_row = row + 1, hl_group = group, hl_eol = true, strict = false })
  end
end

--- Marks a row, so that it is found again when rows above it come or go.
---@param row integer
---@return integer # names the mark
function Transcript:mark(row)
  return vim.api.nvim_buf_set_extmark(self.buf, NS, row, 0, {})
end

--- Finds a row that was marked.
---@param mark integer
---@return integer
function Transcript:row_of(mark)
  return vim.api.nvim_buf_get_extmark_by_id(self.buf, NS, mark, {})[1] or 0
end

--- Gives rows that come and go together one highlight.
---@param from integer
---@param to integer not included
---@param group string
function Transcript:paint_block(from, to, group)
  vim.api.nvim_buf_set_extmark(self.buf, NS, from, 0, { end_row = to, hl_group = group, hl_eol = true, strict = false })
end

--- Gives parts of a row highlights.
---@param row integer
---@param spans koda.chat.Span[]
function Transcript:spans(row, spans)
  for _, span in ipairs(spans) do
    vim.api.nvim_buf_set_extmark(self.buf, NS, row, span[1], { end_col = span[2], hl_group = span[3], strict = false })
  end
end

--- Appends a piece of what the model writes.
---@param kind "text"|"reasoning"
---@param text string
function Transcript:stream(kind, text)
  if self.open ~= kind then
    self:finish()
    text = text:gsub("^\n+", "")
    if text == "" then
      return
    end
  end
  self:change(function()
    if not self.open then
      self:put(self.rows > 0 and { "", "" } or { "" })
      self.open, self.first, self.fences = kind, self.rows - 1, fence.new()
    end
    local before = self.rows
    local row = self.rows - 1
    local line = vim.api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1]
    local lines = vim.split(text, "\n", { plain = true })
    vim.api.nvim_buf_set_text(self.buf, row, #line, row, #line, lines)
    self.rows = row + #lines
    self:enqueue(before - 1, self.rows - 1)
  end, true)
end

--- Puts finished rows in the queue of highlighting.
---@param from integer
---@param to integer not included
function Transcript:enqueue(from, to)
  if to <= from then
    return
  end
  if self.open == "reasoning" then
    return self:paint(from, to, "KodaReasoning")
  end
  self.queue[#self.queue + 1] = { from, to, self.fences }
  self:slice()
end

--- Ends what grows: its last row is finished now.
function Transcript:finish()
  if self.open then
    self:enqueue(self.rows - 1, self.rows)
    self.open, self.first = nil, nil
  end
end

---@param row integer
---@param state koda.chat.FenceState
function Transcript:highlight(row, state)
  local line = vim.api.nvim_buf_get_lines(self.buf, row, row + 1, false)[1]
  if not line then
    return
  end
  local opened = state.fence
  local role = fence.step(state, line)
  if role == "open" then
    state.mark = code.mark(self.buf, row)
  elseif role == "close" then
    code.colour(self.buf, state.mark, row, opened.info)
  end
  if role == "code" then
    self:paint(row, row + 1, "KodaCode")
  elseif role ~= "text" then
    self:paint(row, row + 1, "KodaFence")
  elseif #line <= MAX_LINE then
    self:spans(row, markdown.spans(line))
  end
end

--- Highlights for a slice of time and comes back for the rest.
function Transcript:slice()
  if self.slicing then
    return
  end
  local begun = vim.uv.hrtime()
  while self.queue[1] do
    local job = self.queue[1]
    while job[1] < job[2] do
      self:highlight(job[1], job[3])
      job[1] = job[1] + 1
      if vim.uv.hrtime() - begun > SLICE_NS then
        self.slicing = true
        -- A timer, not vim.schedule: Neovim looks at keys in between.
        vim.defer_fn(function()
          self.slicing = false
          if vim.api.nvim_buf_is_valid(self.buf) then
            self:slice()
          end
        end, 5)
        return
      end
    end
    table.remove(self.queue, 1)
  end
end

--- Replaces the tail: the lines below the body.
---@param lines string[]
---@param paint? fun(row: integer) called with the first row to highlight them
function Transcript:set_tail(lines, paint)
  if #lines == 0 and self.tail == 0 then
    return
  end
  self:change(function()
    vim.api.nvim_buf_clear_namespace(self.buf, NS, self.rows, -1)
    -- An empty buffer has one line already.
    local upto = (self.rows == 0 and self.tail == 0) and 1 or self.rows + self.tail
    vim.api.nvim_buf_set_lines(self.buf, self.rows, upto, false, lines)
    self.tail = #lines
    if paint then
      paint(self.rows)
    end
  end, #lines > 0)
end

--- Says below the body what keeps everything from working.
---@param message string
---@param hint? string
function Transcript:say_below(message, hint)
  local lines = vim.split(message, "\n", { plain = true })
  local hints = hint and vim.split("  " .. hint, "\n", { plain = true }) or {}
  local blank = self.rows > 0 and { "" } or {}
  self:set_tail(vim.list_extend(vim.list_extend(blank, lines), hints), function(row)
    local first_hint = row + #blank - #hints
    self:paint_block(row, first_hint, "KodaError")
    self:paint_block(first_hint, row + #blank, "KodaHint")
  end)
end

--- Replaces rows of the body; what stands below moves.
---@param from integer
---@param to integer not included
---@param lines string[]
function Transcript:replace(from, to, lines)
  self:change(function()
    vim.api.nvim_buf_set_lines(self.buf, from, to, false, lines)
    local moved = #lines - (to - from)
    self.rows = self.rows + moved
    for _, job in ipairs(self.queue) do
      if job[1] >= to then
        job[1], job[2] = job[1] + moved, job[2] + moved
      end
    end
  end)
end

M.NS = NS

return M
