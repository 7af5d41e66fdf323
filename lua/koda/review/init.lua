--- The review: what is decided on the hunks that wait.
---
--- Proposals come with approvals: their call waits until each of its hunks is decided. Changes come with results of
--- calls that nobody was asked about: their text is in the buffer, and a reject puts back what was there.

local draw = require("koda.review.draw")
local items = require("koda.review.items")
local judged = require("koda.review.judged")

local M = {}

--- Tells the engine what was decided, once all of a proposal is.
---@param set koda.review.Set
---@return true?
---@return koda.Error?
local function settle(set)
  local kept, edited, said, reasons = {}, {}, {}, {}
  for _, item in ipairs(set.items) do
    local number = item.hunk.number
    if item.state == "pending" or item.state == "stale" then
      items.redraw(item.buf or -1)
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
  items.drop(set)
  return ok, problem
end

--- Finds what an API call or a key is about.
---@param hunk? koda.Hunk|integer
---@return koda.review.Item?
local function find(hunk)
  local id = type(hunk) == "table" and hunk.id or hunk
  if id then
    for _, item in ipairs(items.of()) do
      if item.id == id then
        return item
      end
    end
    return nil
  end
  local buf, line = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local nearest
  for _, item in ipairs(items.of(buf)) do
    local row = draw.row(item)
    if row and items.waits(item) then
      local first = item.rows == 0 and row - 1 or row
      if line >= first and line <= row + math.max(item.rows - 1, 0) then
        return item
      end
      nearest = nearest or item
    end
  end
  return #items.of(buf) == 1 and nearest or nil
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
    judged.note(item, "stands")
    items.forget(item)
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
  judged.note(item, item.state == "stale" and "overtaken" or "taken_back", reason)
  items.forget(item)
  return true
end

--- Decides on all that waits, of a buffer or of everything.
---@param decide fun(item: koda.review.Item): true?, koda.Error?
---@param buf? integer
---@return integer # how many
function M.each(decide, buf)
  local count = 0
  local found = items.of(buf)
  judged.together(function()
    -- From the last to the first: what is put back moves what stands below.
    for index = #found, 1, -1 do
      if items.waits(found[index]) and decide(found[index].id) then
        count = count + 1
      end
    end
  end)
  return count
end

--- Writes a text in a proposed hunk's place, or says something of a hunk.
---@param id integer
---@param fields { edited?: string, said?: string }
function M.amend(id, fields)
  local item = find(id)
  if not item then
    return
  end
  if item.is_made then
    return judged.note(item, nil, fields.said)
  end
  item.edited, item.said = fields.edited or item.edited, fields.said or item.said
  items.redraw(item.buf or -1)
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
  local found = vim.tbl_map(public, vim.tbl_filter(items.waits, items.of(buf)))
  table.sort(found, function(a, b)
    return a.path < b.path or (a.path == b.path and a.first < b.first)
  end)
  return found
end

---@param event table
local function take(event)
  if event.type == "approval" and event.proposal then
    local set = { ask = event.id, session = event.session, path = event.proposal.path, items = {} }
    items.add(set, event.proposal.hunks, false)
  elseif event.type == "answer" then
    items.answered(event.id)
  elseif event.type == "tool_result" and event.data and event.data.hunks and event.data.reviewed == false then
    local set = { session = event.session, path = event.data.file, items = {}, made = judged.begin(event) }
    items.add(set, event.data.hunks, true)
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
    items.show(args.buf)
  end,
})

return M
