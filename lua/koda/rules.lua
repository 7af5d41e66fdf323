--- The rules that last, as the engine last told them.

local M = {}

---@type koda.Rule[]
local known = {}

--- Asks the engine for the rules.
---@param callback fun(rules?: koda.Rule[], problem?: koda.Error)
function M.list(callback)
  local native, problem = require("koda.native").get()
  if not native then
    return callback(nil, problem)
  end
  native.rules(function(rules, failure)
    known = rules or known
    callback(rules, failure)
  end)
end

--- Numbers of the rules that are known, for completion; those made since are known the next time.
---@return string[]
function M.numbers()
  M.list(function() end)
  return vim.tbl_map(function(rule)
    return tostring(rule.id)
  end, known)
end

return M
