--- Events as lines of JSON.

local M = {}

--- Fields that are objects even when they are empty; an empty Lua table alone could as well be a list.
local OBJECTS = { args = true, usage = true, total = true, data = true }

--- What every event has comes first, for whoever reads along.
local FIRST = { "type", "time", "session" }

---@param value any
---@return any # a copy in which empty objects are marked
local function marked(value)
  if type(value) ~= "table" then
    return value
  end
  local copy = {}
  for key, item in pairs(value) do
    local is_empty = OBJECTS[key] and type(item) == "table" and next(item) == nil
    copy[key] = is_empty and vim.empty_dict() or marked(item)
  end
  return copy
end

--- Writes an event.
---@param event koda.Event
---@return string # one line with its end
function M.line(event)
  local rest = marked(event)
  local parts = {}
  for _, name in ipairs(FIRST) do
    parts[#parts + 1] = ('"%s":%s'):format(name, vim.json.encode(rest[name]))
    rest[name] = nil
  end
  if next(rest) then
    parts[#parts + 1] = vim.json.encode(rest):sub(2, -2)
  end
  return "{" .. table.concat(parts, ",") .. "}\n"
end

return M
