--- What the model is told of a change that is made already: which hunks the user let stand, and which they took back.

local M = {}

---@type koda.review.Set[]? those that are to be told of, while several hunks are judged together
local held

--- The change of a result, of which nothing is judged yet.
---@param event table
---@return koda.review.Made
function M.begin(event)
  local function unjudged(hunk)
    return { number = hunk.number, line = hunk.new_line, state = "waits", old = hunk.old, new = hunk.new }
  end
  local data = event.data
  return { call = event.id, tool = event.tool, shown = data.path, hunks = vim.tbl_map(unjudged, data.hunks) }
end

---@param set koda.review.Set
local function tell(set)
  local native = require("koda.native").get()
  if native then
    -- A call outside of a conversation has no model to tell, which is no fault.
    native.judged(set.session, set.made)
  end
end

--- Notes what became of a hunk; its model reads it with its next request.
---@param item koda.review.Item
---@param state? "stands"|"taken_back"|"overtaken"
---@param said? string
function M.note(item, state, said)
  local hunk = item.set.made.hunks[item.hunk.number]
  hunk.state, hunk.said = state or hunk.state, said or hunk.said
  if not held then
    tell(item.set)
  elseif not vim.list_contains(held, item.set) then
    held[#held + 1] = item.set
  end
end

--- Judges several hunks, and tells of each change once.
---@param judge fun()
function M.together(judge)
  held = {}
  local ok, problem = pcall(judge)
  local told = held
  held = nil
  vim.iter(told):each(tell)
  if not ok then
    error(problem, 0)
  end
end

return M
