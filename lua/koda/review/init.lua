--- The review: which hunks wait for a decision, where they stand, and what was decided.
---
--- Proposals come with approvals: their call waits until each of its hunks is decided. Changes come with results of
--- calls that nobody was asked about: their text is in the buffer, and a reject puts back what was there.

local draw = require("koda.review.draw")

local M = {}

---@class koda.review.Item
---@field id integer
---@field set koda.review.Set
---@field hunk koda.ProposedHunk
---@field is_made boolean whether the text has it already
---@field state "pending"|"accepted"|"rejected"|"stale"
---@field count integer hunks of the change
---@field edited? string what the user wrote in its place
---@field said? string
---@field reason? string
---@field buf? integer once it is anchored
---@field mark? integer
---@field rows? integer lines of the buffer that it covers
---@field at_end? boolean
---@field before? string
---@field after? string

---@class koda.review.Set
---@field ask? string what waits for it
---@field session string
---@field path string
---@field items koda.review.Item[]

---@type koda.review.Set[] oldest first
local sets = {}

local next_id = 1

---@param path string
---@return integer?
local function buffer_of(path)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf)
    if name and name ~= "" and (name == path or vim.uv.fs_realpath(name) == path) then
      return buf
    end
  end
end

---@param item koda.review.Item
---@return boolean
local function waits(item)
  return item.state == "pending" or item.state == "stale"
end

--- The items of a buffer, or of all, by their place.
---@param buf? integer
---@return koda.review.Item[]
local function items_of(buf)
  local found = {}
  for _, set in ipairs(sets) do
    for _, item in ipairs(set.items) do
      if not buf or item.buf == buf then
        found[#found + 1] = item
      end
    end
  end
  return found
end

---@param buf integer
local function redraw(buf)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local items = items_of(buf)
  for _, item in ipairs(items) do
    if item.state == "pending" and not draw.row(item) then
      item.state = "stale"
    elseif item.state == "stale" and (draw.row(item) or not item.mark and draw.anchor(buf, item)) then
      -- Undone: it is where it was, or where it should have been from the first.
      item.state = "pending"
    end
  end
  draw.draw(buf, items)
  if #items == 0 then
    require("koda.review.keys").unmap(buf)
  end
end

--- Follows what is typed in a buffer: at most once a tick, only while it has hunks.
---@param buf integer
local function follow(buf)
  if vim.b[buf].koda_review then
    return
  end
  vim.b[buf].koda_review = true
  local is_due = false
  vim.api.nvim_buf_attach(buf, false, {
    on_detach = function()
      -- Also when it is read anew: whoever shows it next follows it again.
      vim.schedule(function()
        if vim.api.nvim_buf_is_valid(buf) then
          vim.b[buf].koda_review = nil
        end
      end)
    end,
    on_lines = function()
      if #items_of(buf) == 0 then
        vim.b[buf].koda_review = nil
        return true
      end
      if not is_due then
        is_due = true
        vim.schedule(function()
          is_due = false
          redraw(buf)
        end)
      end
    end,
  })
end

--- Anchors what belongs to a buffer and draws it.
---@param buf integer
local function show(buf)
  local touched = false
  for _, set in ipairs(sets) do
    for _, item in ipairs(set.items) do
      if not item.buf and buffer_of(set.path) == buf then
        touched = true
        if not draw.anchor(buf, item) then
          item.buf, item.state = buf, "stale"
        end
      end
    end
  end
  if touched then
    require("koda.review.keys").map(buf)
    follow(buf)
    redraw(buf)
  end
end

---@param set koda.review.Set
local function drop(set)
  local bufs = {}
  for index, other in ipairs(sets) do
    if other == set then
      table.remove(sets, index)
      break
    end
  end
  for _, item in ipairs(set.items) do
    draw.release(item)
    bufs[item.buf or -1] = true
  end
  for buf in pairs(bufs) do
    if buf ~= -1 then
      redraw(buf)
    end
  end
end

---@param set koda.review.Set
---@param hunks koda.ProposedHunk[]
---@param is_made boolean
local function add(set, hunks, is_made)
  for _, hunk in ipairs(hunks) do
    set.items[#set.items + 1] =
      { id = next_id, set = set, hunk = hunk, is_made = is_made, state = "pending", count = #hunks }
    next_id = next_id + 1
  end
  sets[#sets + 1] = set
  local buf = buffer_of(set.path)
  if buf then
    show(buf)
  end
end

--- Tells the engine what was decided, once all of a proposal is.
---@param set koda.review.Set
---@return true?
---@return koda.Error?
local function settle(set)
  local kept, edited, said, reasons = {}, {}, {}, {}
  for _, item in ipairs(set.items) do
    local number = item.hunk.number
    if item.state == "pending" or item.state == "stale" then
      redraw(item.buf or -1)
      return true
    elseif item.state == "accepted" then
      kept[#kept + 1] = number
      edited[#edited + 1] = item.edited and { hunk = number, text = item.edited } or nil
    end
    local text = item.reason or item.said
    if text then
      said[#said + 1], reasons[#reasons + 1] = { hunk = number, text = text }, text
    end
  end
  -- An empty table is no list on the other side.
  local answer = { decision = "accept", said = said[1] and said, edited = edited[1] and edited }
  if #kept == 0 then
    answer = { decision = "reject", reason = #reasons > 0 and table.concat(reasons, "; ") or nil }
  elseif #kept < #set.items then
    answer.hunks = kept
  end
  local ok, problem = require("koda").answer(set.ask, answer)
  drop(set)
  return ok, problem
end

---@param item koda.review.Item
local function forget(item)
  draw.release(item)
  for index, other in ipairs(item.set.items) do
    if other == item then
      table.remove(item.set.items, index)
      break
    end
  end
  if #item.set.items == 0 then
    drop(item.set)
  end
  redraw(item.buf or -1)
end

--- Finds what an API call or a key is about.
---@param hunk? koda.Hunk|integer
---@return koda.review.Item?
local function find(hunk)
  local id = type(hunk) == "table" and hunk.id or hunk
  if id then
    for _, item in ipairs(items_of()) do
      if item.id == id then
        return item
      end
    end
    return nil
  end
  local buf, line = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local nearest
  for _, item in ipairs(items_of(buf)) do
    local row = draw.row(item)
    if row and waits(item) then
      local first = item.rows == 0 and row - 1 or row
      if line >= first and line <= row + math.max(item.rows - 1, 0) then
        return item
      end
      nearest = nearest or item
    end
  end
  return #items_of(buf) == 1 and nearest or nil
end

---@return nil
---@return koda.Error
local function nothing()
  local message = "there is no hunk here that waits for a decision"
  return nil, { code = "no_hunk", message = message, hint = "koda.hunks() lists them; :Koda review goes to one" }
end

--- Accepts a hunk: the one given, or that at the cursor.
---@param hunk? koda.Hunk|integer
---@return true?
---@return koda.Error?
function M.accept(hunk)
  local item = find(hunk)
  if not item then
    return nothing()
  end
  if item.state == "stale" then
    return nil, { code = "stale", message = "the text that this hunk was made for has changed", hint = "reject it" }
  end
  if item.is_made then
    forget(item)
    return true
  end
  item.state = "accepted"
  return settle(item.set)
end

--- Rejects a hunk: the one given, or that at the cursor.
---@param hunk? koda.Hunk|integer
---@param reason? string for the model
---@return true?
---@return koda.Error?
function M.reject(hunk, reason)
  local item = find(hunk)
  if not item then
    return nothing()
  end
  if not item.is_made then
    item.state, item.reason = "rejected", reason
    return settle(item.set)
  end
  if item.state ~= "stale" then
    local ok, problem = require("koda.review.revert")(item)
    if not ok then
      return nil, problem
    end
  end
  forget(item)
  return true
end

--- Decides on all that waits, of a buffer or of everything.
---@param decide fun(item: koda.review.Item): true?, koda.Error?
---@param buf? integer
---@return integer # how many
function M.each(decide, buf)
  local count = 0
  local found = items_of(buf)
  -- From the last to the first: what is put back moves what stands below.
  for index = #found, 1, -1 do
    if waits(found[index]) and decide(found[index].id) then
      count = count + 1
    end
  end
  return count
end

--- Writes a text in a hunk's place, or says something of it; both are for proposals.
---@param id integer
---@param fields { edited?: string, said?: string }
function M.amend(id, fields)
  local item = find(id)
  if item and not item.is_made then
    item.edited, item.said = fields.edited or item.edited, fields.said or item.said
    redraw(item.buf or -1)
  end
end

--- The item at the cursor, for the keys.
---@return koda.review.Item?
function M.at_cursor()
  return find()
end

---@param item koda.review.Item
---@return koda.Hunk
local function public(item)
  local row = draw.row(item)
  local first = row and row + 1 or (item.is_made and item.hunk.new_line or item.hunk.line)
  return {
    id = item.id,
    buf = item.buf,
    path = item.set.path,
    session = item.set.session,
    ask = item.set.ask,
    first = first,
    last = first + math.max((item.rows or 1) - 1, 0),
    state = item.state,
    made = item.is_made,
    old = item.hunk.old,
    new = item.edited or item.hunk.new,
  }
end

--- Lists the hunks that wait, by file and place.
---@param buf? integer
---@return koda.Hunk[]
function M.list(buf)
  local found = vim.tbl_map(public, vim.tbl_filter(waits, items_of(buf)))
  table.sort(found, function(a, b)
    return a.path < b.path or (a.path == b.path and a.first < b.first)
  end)
  return found
end

---@param event table
local function take(event)
  if event.type == "approval" and event.proposal then
    add({ ask = event.id, session = event.session, path = event.proposal.path, items = {} }, event.proposal.hunks, false)
  elseif event.type == "answer" then
    for _, set in ipairs(vim.list_slice(sets)) do
      if set.ask == event.id then
        drop(set)
      end
    end
  elseif event.type == "tool_result" and event.data and event.data.hunks and event.data.reviewed == false then
    add({ session = event.session, path = event.data.file, items = {} }, event.data.hunks, true)
  end
end

require("koda.highlight").setup()
require("koda.events").on_batch(function(batch)
  vim.iter(batch):each(take)
end)
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufWinEnter" }, {
  group = vim.api.nvim_create_augroup("koda.review", { clear = true }),
  desc = "Koda: draws the hunks of a file when it is opened",
  callback = function(args)
    if #sets > 0 then
      show(args.buf)
    end
  end,
})

return M
