--- `:Koda sessions`.

--- Says how long ago something was.
---@param milliseconds integer since the epoch
---@return string
local function ago(milliseconds)
  local minutes = math.max(os.time() - milliseconds / 1000, 0) / 60
  if minutes < 60 then
    return ("%d min ago"):format(minutes)
  elseif minutes < 24 * 60 then
    return ("%d h ago"):format(minutes / 60)
  end
  return os.date("%Y-%m-%d", milliseconds / 1000) --[[@as string]]
end

---@param session koda.SessionInfo
---@return string
local function shown(session)
  return ("%s  (%s)"):format(session.title ~= "" and session.title or "without a message", ago(session.updated))
end

---@param sessions koda.SessionInfo[]
local function choose(sessions)
  vim.ui.select(sessions, { prompt = "Koda: go on with", format_item = shown }, function(session)
    if session then
      require("koda.command.resume")({ args = session.id })
    end
  end)
end

return function()
  require("koda.sessions").with(choose)
end
