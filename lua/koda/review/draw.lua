--- Hunks drawn over a buffer: what goes and what comes, the text itself untouched.
---
--- A proposal's lines that go stand in the buffer and are marked, those that come are virtual lines below; a change
--- that is made already is drawn the other way round.

local M = {}

local NS = vim.api.nvim_create_namespace("koda.review")
local ANCHORS = vim.api.nvim_create_namespace("koda.review.anchors")

--- Lines of a hunk that are drawn as virtual lines at most.
local MAX_VIRTUAL = 200

---@param text string
---@return string[] lines without their ends
function M.lines(text)
  if text == "" then
    return {}
  end
  return vim.split((text:gsub("\n$", "")), "\n", { plain = true })
end

--- The side of a hunk that stands in the buffer, and the one that is drawn as virtual lines.
---@param item koda.review.Item
---@return string real
---@return string virtual
function M.sides(item)
  if item.is_made then
    return item.hunk.new, item.hunk.old
  end
  return item.hunk.old, item.edited or item.hunk.new
end

---@param buf integer
---@return boolean
local function is_blank(buf)
  return vim.api.nvim_buf_line_count(buf) == 1 and vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == ""
end

--- Anchors an item in its buffer, if its text stands where it should; the mark then follows what is typed.
---@param buf integer
---@param item koda.review.Item
---@return boolean
function M.anchor(buf, item)
  local real = M.lines((M.sides(item)))
  local row = (item.is_made and item.hunk.new_line or item.hunk.line) - 1
  local count = vim.api.nvim_buf_line_count(buf)
  local there = vim.api.nvim_buf_get_lines(buf, row, row + #real, false)
  if row > count or not vim.deep_equal(there, real) then
    return false
  end
  local at_end = row >= count
  item.buf, item.rows, item.at_end = buf, #real, at_end and not is_blank(buf)
  local start = math.min(row, count - 1)
  local last = math.max(start, row + #real - 1)
  local length = #vim.api.nvim_buf_get_lines(buf, last, last + 1, false)[1]
  item.before = vim.api.nvim_buf_get_lines(buf, math.max(row - 1, 0), row, false)[1]
  item.after = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  item.mark = vim.api.nvim_buf_set_extmark(buf, ANCHORS, start, 0, {
    end_row = last,
    end_col = #real > 0 and length or 0,
    right_gravity = #real == 0 and not at_end,
    end_right_gravity = true,
  })
  return true
end

--- Where an item is now; nothing if its text is not there any more.
---@param item koda.review.Item
---@return integer? row of its first line, from 0
function M.row(item)
  if not item.buf or not item.mark or not vim.api.nvim_buf_is_loaded(item.buf) then
    return nil
  end
  local at = vim.api.nvim_buf_get_extmark_by_id(item.buf, ANCHORS, item.mark, { details = true })
  if not at[1] then
    return nil
  end
  local real = M.lines((M.sides(item)))
  if #real > 0 then
    local there = vim.api.nvim_buf_get_lines(item.buf, at[1], at[3].end_row + 1, false)
    return vim.deep_equal(there, real) and at[1] or nil
  end
  local row = item.at_end and vim.api.nvim_buf_line_count(item.buf) or at[1]
  local around = vim.api.nvim_buf_get_lines(item.buf, math.max(row - 1, 0), row + 1, false)
  local before, after = row > 0 and around[1] or nil, row > 0 and around[2] or around[1]
  return (before == item.before or after == item.after) and row or nil
end

--- Cuts a line into pieces as wide as the window where it wraps; tabs become blanks.
---@param line string
---@param width integer
---@param tabstop integer
---@return string[][] pieces of characters
local function pieces(line, width, tabstop)
  local found, piece, column = {}, {}, 0
  for _, char in ipairs(vim.fn.split(line, "\\zs")) do
    local cells = char == "\t" and tabstop - column % tabstop or vim.fn.strdisplaywidth(char)
    if column + cells > width and column > 0 then
      found[#found + 1], piece, column = piece, {}, 0
    end
    piece[#piece + 1] = { char == "\t" and (" "):rep(cells) or char, #char }
    column = column + cells
  end
  found[#found + 1] = piece
  return found
end

---@param marks koda.WordMark[]
---@param row integer
---@param byte integer
---@return boolean
local function is_marked(marks, row, byte)
  for _, mark in ipairs(marks or {}) do
    if mark.row == row and byte >= mark.start and byte < mark["end"] then
      return true
    end
  end
  return false
end

--- Makes the virtual lines of a hunk's side.
---@param buf integer
---@param text string
---@param marks koda.WordMark[]
---@param group string
---@return table[]
local function virtual_lines(buf, text, marks, group)
  local win = vim.fn.bufwinid(buf)
  local width = math.huge
  if win ~= -1 and vim.wo[win].wrap then
    width = math.max(vim.api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff, 10)
  end
  local made = {}
  local lines = M.lines(text)
  for index, line in ipairs(lines) do
    if index > MAX_VIRTUAL then
      made[#made + 1] = { { ("… %d more lines"):format(#lines - MAX_VIRTUAL), "KodaDim" } }
      break
    end
    local byte = 0
    for _, piece in ipairs(pieces(line, width, vim.bo[buf].tabstop)) do
      local chunks, column = {}, 0
      for _, char in ipairs(piece) do
        local of = is_marked(marks, index - 1, byte) and group .. "Word" or group
        local last = chunks[#chunks]
        if last and last[2] == of then
          last[1] = last[1] .. char[1]
        else
          chunks[#chunks + 1] = { char[1], of }
        end
        byte, column = byte + char[2], column + vim.fn.strdisplaywidth(char[1])
      end
      -- The whole line has its colour, as the line of a buffer has.
      chunks[#chunks + 1] = { (" "):rep(math.max((width == math.huge and 200 or width) - column, 1)), group }
      made[#made + 1] = chunks
    end
  end
  return made
end

local STATES = { accepted = { "✓ accepted", "KodaDone" }, rejected = { "✗ rejected", "KodaFailed" } }

---@param item koda.review.Item
---@param count integer
---@param above integer virtual lines above the first line of the buffer, which may be out of sight
---@return table[] chunks
local function label(item, count, above)
  local state = STATES[item.state]
  local what = item.is_made and "changed" or "proposed"
  local text = (" ◂ %s %d/%d"):format(what, item.hunk.number, count)
  if above > 0 then
    text = ("%s ▴ %d line%s above"):format(text, above, above == 1 and "" or "s")
  end
  return { { text, "KodaHint" }, state and { " " .. state[1], state[2] } or nil }
end

--- Marks the lines of an item that stand in the buffer.
---@param buf integer
---@param row integer
---@param item koda.review.Item
---@param group string
local function mark_real(buf, row, item, group)
  local lines = M.lines((M.sides(item)))
  for index = 1, #lines do
    vim.api.nvim_buf_set_extmark(buf, NS, row + index - 1, 0, { line_hl_group = group, priority = 150 })
  end
  for _, mark in ipairs((item.is_made and item.hunk.new_words or item.hunk.old_words) or {}) do
    vim.api.nvim_buf_set_extmark(buf, NS, row + mark.row, mark.start, {
      end_col = mark["end"],
      hl_group = group .. "Word",
      priority = 160,
    })
  end
end

---@type table<integer, integer> by buffer: virtual lines above its first line
local above_first = {}

--- Shows virtual lines above the first line, which a window at the top leaves out by itself.
---@param buf integer
function M.reveal(buf)
  local count = above_first[buf]
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      if count and vim.fn.line("w0") == 1 then
        vim.fn.winrestview({ topline = 1, topfill = count })
      end
    end)
  end
end

---@param item koda.review.Item
---@param count integer hunks of the change
local function draw_item(item, count)
  local row = M.row(item)
  if not row then
    return
  end
  local buf = item.buf --[[@as integer]]
  local gone, come = "KodaHunkRemoved", "KodaHunkAdded"
  local real_group, virtual_group = gone, come
  if item.is_made then
    real_group, virtual_group = come, gone
  end
  mark_real(buf, row, item, real_group)
  local _, virtual = M.sides(item)
  local marks = item.is_made and item.hunk.old_words or not item.edited and item.hunk.new_words or {}
  local lines = virtual_lines(buf, virtual, marks, virtual_group)
  local last = vim.api.nvim_buf_line_count(buf) - 1
  -- Below the lines that go; what was there before a change stands above it.
  local below = item.is_made and row - 1 or row + item.rows - 1
  local above = below < 0 and not is_blank(buf)
  vim.api.nvim_buf_set_extmark(buf, NS, math.min(math.max(below, 0), last), 0, {
    virt_lines = #lines > 0 and lines or nil,
    virt_lines_above = above or nil,
    priority = 150,
  })
  vim.api.nvim_buf_set_extmark(buf, NS, math.min(math.max(item.rows > 0 and row or below, 0), last), 0, {
    virt_text = label(item, count, above and #lines or 0),
    virt_text_pos = "eol",
    priority = 150,
  })
  if above then
    above_first[buf] = #lines
  end
end

--- Draws all items of a buffer anew.
---@param buf integer
---@param items koda.review.Item[]
function M.draw(buf, items)
  vim.api.nvim_buf_clear_namespace(buf, NS, 0, -1)
  local was_above = above_first[buf]
  above_first[buf] = nil
  for _, item in ipairs(items) do
    draw_item(item, item.count)
  end
  if above_first[buf] and not was_above then
    M.reveal(buf)
  end
end

--- Takes an item's anchor away.
---@param item koda.review.Item
function M.release(item)
  if item.buf and vim.api.nvim_buf_is_valid(item.buf) and item.mark then
    vim.api.nvim_buf_del_extmark(item.buf, ANCHORS, item.mark)
  end
end

return M
