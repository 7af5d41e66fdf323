--- Finds the name that somebody meant.

local M = {}

--- Edits that still count as a slip of the fingers, for a name of this many bytes.
---@param length integer
---@return integer
local function tolerated(length)
  return length < 4 and 1 or length < 8 and 2 or 3
end

--- Counts the edits between two words: insertions, deletions, replacements, and swaps of neighbours.
---@param a string
---@param b string
---@return integer
local function distance(a, b)
  local before, previous = {}, {}
  for j = 0, #b do
    previous[j] = j
  end
  for i = 1, #a do
    local current = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local best = math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = math.min(best, before[j - 2] + 1)
      end
      current[j] = best
    end
    before, previous = previous, current
  end
  return previous[#b]
end

--- Returns the candidate nearest to a word, if one is near enough to have been meant.
---@param word string
---@param candidates string[]
---@return string?
function M.find(word, candidates)
  local wanted, found, least = word:lower(), nil, math.huge
  for _, candidate in ipairs(candidates) do
    local edits = distance(wanted, candidate:lower())
    -- Of two that are equally near, the one as long as the word: letters are swapped more often than left out.
    local rank = edits + math.abs(#candidate - #word) / 1000
    if edits <= tolerated(#candidate) and rank < least then
      found, least = candidate, rank
    end
  end
  return found
end

return M
