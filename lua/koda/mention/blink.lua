--- A source for blink.cmp: `sources.providers.koda = { name = "Koda", module = "koda.mention.blink" }`.

local M = {}

---@return table
function M.new()
  return setmetatable({}, { __index = M })
end

---@return boolean
function M:enabled()
  return vim.bo.filetype == "koda-prompt"
end

---@return string[]
function M:get_trigger_characters()
  return { "@", "/" }
end

---@param context table
---@param callback fun(response: table)
function M:get_completions(context, callback)
  local before = context.line:sub(1, context.cursor[2])
  local complete = require("koda.mention.complete")
  local start, row = complete.start(before), context.cursor[1] - 1
  local items = complete.items(before)
  for _, item in ipairs(items) do
    local range = { start = { line = row, character = start - 1 }, ["end"] = { line = row, character = #before } }
    item.textEdit = { newText = item.label, range = range }
  end
  callback({ items = items, is_incomplete_forward = true, is_incomplete_backward = true })
end

return M
