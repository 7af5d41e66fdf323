--- Standard output of a run without a screen: in order, without waiting, nothing lost at the end.
---
--- A background thread writes, so that a slow reader never stops the editor, and the file's flags stay as they
--- are: other programs of the same script write to it too.

---@class koda.headless.Output
---@field broken boolean whether nobody reads any more
---@field private fd integer
---@field private waiting string[]
---@field private writing boolean
local Output = {}
Output.__index = Output

--- How long to wait where the system says that it can take nothing now.
local AGAIN_MS = 10

---@param fd integer
---@return koda.headless.Output
function Output.new(fd)
  return setmetatable({ fd = fd, waiting = {}, writing = false, broken = false }, Output)
end

---@private
---@param text string
function Output:send(text)
  self.writing = true
  vim.uv.fs_write(self.fd, text, -1, function(problem, written)
    if problem and problem:find("^EAGAIN") then
      vim.defer_fn(function()
        self:send(text)
      end, AGAIN_MS)
    elseif problem then
      self.broken, self.writing, self.waiting = true, false, {}
    elseif written < #text then
      self:send(text:sub(written + 1))
    else
      self.writing = false
      self:pump()
    end
  end)
end

---@private
function Output:pump()
  if not self.writing and not self.broken and #self.waiting > 0 then
    local text = table.concat(self.waiting)
    self.waiting = {}
    self:send(text)
  end
end

--- Writes a text after all earlier ones.
---@param text string
function Output:write(text)
  if text ~= "" and not self.broken then
    self.waiting[#self.waiting + 1] = text
    self:pump()
  end
end

--- Whether everything is written, or nobody reads any more.
---@return boolean
function Output:is_settled()
  return self.broken or (not self.writing and #self.waiting == 0)
end

return Output
