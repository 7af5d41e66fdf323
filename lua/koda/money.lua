--- Money and tokens, as they are shown.

local M = {}

--- Shows an amount: cents, and more digits of small amounts.
---@param usd number
---@return string
function M.dollars(usd)
  return (usd > 0 and usd < 0.1 and "$%.4f" or "$%.2f"):format(usd)
end

--- Shows what was spent: `$?` for what is not known, `$1.00+` where it was more.
---@param spent koda.Spent
---@return string
function M.spent(spent)
  if spent.partial then
    return spent.usd > 0 and M.dollars(spent.usd) .. "+" or "$?"
  end
  return M.dollars(spent.usd)
end

--- Shows a number of tokens.
---@param count integer
---@return string
function M.tokens(count)
  if count >= 1e6 then
    return ("%.1fM"):format(count / 1e6)
  end
  return count >= 1000 and ("%.1fk"):format(count / 1000) or tostring(count)
end

return M
