--- What fills the model's window, in lines; pure.

local money = require("koda.money")

local M = {}

local BAR = 40

local TITLES = { prompt = "System prompt", instructions = "Instructions", tool = "Tools" }

---@param used integer
---@param window integer
---@return string
local function bar(used, window)
  local part = math.min(used / window, 1)
  local full = math.floor(part * BAR + 0.5)
  return ("[%s%s] %d %%"):format(("█"):rep(full), ("░"):rep(BAR - full), math.floor(part * 100 + 0.5))
end

---@param text string
---@param tokens integer
---@return string
local function row(text, tokens)
  return text .. (" "):rep(math.max(36 - vim.fn.strdisplaywidth(text), 1)) .. ("%7s"):format(money.tokens(tokens))
end

--- Says what a session sends.
---@param report koda.ContextReport
---@return string[]
function M.lines(report)
  local groups, sums, fixed = {}, {}, 0
  for _, share in ipairs(report.fixed) do
    groups[share.kind] = groups[share.kind] or {}
    table.insert(groups[share.kind], row("    " .. share.name, share.tokens))
    sums[share.kind] = (sums[share.kind] or 0) + share.tokens
    fixed = fixed + share.tokens
  end
  local used = report.counted or fixed + report.conversation
  local lines = { report.model, "" }
  if report.window then
    lines[#lines + 1] = bar(used, report.window)
    lines[#lines + 1] = ("%s of %s tokens"):format(money.tokens(used), money.tokens(report.window))
  else
    lines[#lines + 1] = ("%s tokens; how many the model takes is not known"):format(money.tokens(used))
  end
  lines[#lines] = lines[#lines] .. (report.counted and ", as the provider counted" or ", about")
  vim.list_extend(lines, { "", row("Sent with each request, about", fixed) })
  for _, kind in ipairs({ "prompt", "instructions", "tool" }) do
    if groups[kind] then
      lines[#lines + 1] = row("  " .. TITLES[kind], sums[kind])
      vim.list_extend(lines, groups[kind])
    end
  end
  return vim.list_extend(lines, { "", row("The conversation, about", report.conversation) })
end

return M
