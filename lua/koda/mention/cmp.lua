--- A source for nvim-cmp: `require("cmp").register_source("koda", require("koda.mention.cmp"))`.

local M = {}

---@return boolean
function M:is_available()
  return vim.bo.filetype == "koda-prompt"
end

---@return string[]
function M:get_trigger_characters()
  return { "@", "/" }
end

--- What is replaced: everything behind the `@`.
---@return string
function M:get_keyword_pattern()
  return [[@\zs\S*]]
end

---@param params table
---@param callback fun(items: table[])
function M:complete(params, callback)
  callback(require("koda.mention.complete").items(params.context.cursor_before_line))
end

return M
