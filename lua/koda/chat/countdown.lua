--- The wait before a request is tried again, counted down in the bar.

local M = {}

--- How often the bar is drawn meanwhile.
local TICK_MS = 500

---@type uv.uv_timer_t?
local timer

--- The seconds until the next try; nil while none is waited for.
---@param info koda.chat.Info
---@return integer?
function M.seconds(info)
  if info.state ~= "retrying" or not info.retry_at then
    return nil
  end
  return math.max(math.ceil((info.retry_at - vim.uv.now()) / 1000), 0)
end

--- Draws again and again while a try is waited for.
---@param get fun(): koda.chat.Info
---@param draw fun()
function M.follow(get, draw)
  if timer or get().state ~= "retrying" then
    return
  end
  local ticking = assert(vim.uv.new_timer())
  timer = ticking
  ticking:start(
    TICK_MS,
    TICK_MS,
    vim.schedule_wrap(function()
      if timer ~= ticking then
        return
      end
      if get().state ~= "retrying" then
        timer = nil
        ticking:close()
      end
      draw()
    end)
  )
end

return M
