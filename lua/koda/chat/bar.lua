--- The bar over the transcript: model, mode, trust, tokens, and what Koda is doing.

local money = require("koda.money")

local M = {}

local STATES = {
  idle = { "idle", "KodaBarDim" },
  thinking = { "thinking…", "KodaBarBusy" },
  writing = { "writing…", "KodaBarBusy" },
  working = { "working…", "KodaBarBusy" },
  retrying = { "trying again…", "KodaBarWaiting" },
  waiting = { "waits for you", "KodaBarWaiting" },
  failed = { "failed", "KodaBarError" },
}

---@param text string
---@return string
local function plain(text)
  return (text:gsub("%%", "%%%%"))
end

--- The bar as a winbar.
---@param info koda.chat.Info
---@param is_behind boolean whether new text stands below what is seen
---@return string
function M.winbar(info, is_behind)
  local state = STATES[info.state]
  local seconds = require("koda.chat.countdown").seconds(info)
  local is_paid = info.cost and (info.cost.partial or info.cost.usd > 0)
  -- Of a path only the name says something.
  local model = plain(info.model:gsub("^(%w+::).*/", "%1"))
  local parts = {
    ("%%#KodaBarModel# %s %%#KodaBarMode# %s · %s "):format(model, info.mode, info.trust),
    ("%%#KodaBarDim# ↑%s ↓%s "):format(money.tokens(info.input), money.tokens(info.output)),
    is_paid and ("%s "):format(money.spent(info.cost)) or "",
    info.queued > 0 and ("%%#KodaBarWaiting# %d queued "):format(info.queued) or "",
    "%#KodaBarDim#%=",
    is_behind and "%#KodaBarWaiting# ↓ new below " or "",
    ("%%#%s# %s "):format(state[2], seconds and ("trying again in %d s"):format(seconds) or state[1]),
  }
  return table.concat(parts)
end

--- The state in a few characters, for a statusline.
---@param info koda.chat.Info
---@return string
function M.short(info)
  return "koda: " .. STATES[info.state][1]
end

return M
