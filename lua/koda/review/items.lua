--- What waits for a decision: the hunks of proposals and of changes, and where they stand in their buffers.

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
---@field items koda.review.Item[] those that wait
---@field made? koda.review.Made of a change that is made already

---@class koda.review.Made
---@field call string
---@field tool string
---@field shown string
---@field hunks koda.JudgedHunk[] all of the change

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
function M.waits(item)
  return item.state == "pending" or item.state == "stale"
end

--- The items of a buffer, or of all, by their place.
---@param buf? integer
---@return koda.review.Item[]
function M.of(buf)
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
function M.redraw(buf)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local items = M.of(buf)
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
      if #M.of(buf) == 0 then
        vim.b[buf].koda_review = nil
        return true
      end
      if not is_due then
        is_due = true
        vim.schedule(function()
          is_due = false
          M.redraw(buf)
        end)
      end
    end,
  })
end

--- Anchors what belongs to a buffer and draws it.
---@param buf integer
function M.show(buf)
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
    M.redraw(buf)
  end
end

---@param set koda.review.Set
function M.drop(set)
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
      M.redraw(buf)
    end
  end
end

---@param set koda.review.Set
---@param hunks koda.ProposedHunk[]
---@param is_made boolean
function M.add(set, hunks, is_made)
  for _, hunk in ipairs(hunks) do
    set.items[#set.items + 1] =
      { id = next_id, set = set, hunk = hunk, is_made = is_made, state = "pending", count = #hunks }
    next_id = next_id + 1
  end
  sets[#sets + 1] = set
  local buf = buffer_of(set.path)
  if buf then
    M.show(buf)
  end
end

--- Takes an item out of its set, once it is decided.
---@param item koda.review.Item
function M.forget(item)
  draw.release(item)
  for index, other in ipairs(item.set.items) do
    if other == item then
      table.remove(item.set.items, index)
      break
    end
  end
  if #item.set.items == 0 then
    M.drop(item.set)
  end
  M.redraw(item.buf or -1)
end

--- Drops the proposal of what was asked.
---@param ask string
function M.answered(ask)
  for _, set in ipairs(vim.list_slice(sets)) do
    if set.ask == ask then
      M.drop(set)
    end
  end
end

return M
