--- Fences of code blocks, by CommonMark's rules; pure.
---
--- A state says where a line stands: inside a fence or not, and how deep the list around it is. Every message
--- begins with a fresh state, so that an open fence of one never reaches the next.

local M = {}

--- An open fence.
---@class koda.chat.Fence
---@field char string "`" or "~"
---@field length integer of the run that opened it
---@field info string what stands behind it, trimmed

---@class koda.chat.FenceState
---@field fence? koda.chat.Fence
---@field mark? integer where the open fence stands, for whoever draws it
---@field list integer columns that content of the innermost list item is indented by; 0 outside lists

---@alias koda.chat.LineRole "text"|"open"|"code"|"close"

--- Columns to which CommonMark still takes a fence for one; a fourth makes it indented code.
local MAX_INDENT = 3

---@return koda.chat.FenceState
function M.new()
  return { fence = nil, list = 0 }
end

---@param line string
---@return integer
local function indent_of(line)
  local blank = line:match("^[ \t]*")
  return blank:find("\t", 1, true) and #blank:gsub("\t", "    ") or #blank
end

---@param line string
---@param list integer
---@return boolean # whether a fence may stand at this depth
local function depth_fits(line, list)
  local indent = indent_of(line)
  return indent <= MAX_INDENT or (indent >= list and indent - list <= MAX_INDENT)
end

---@param line string
---@return koda.chat.Fence?
local function opening(line)
  local run, info = line:match("^%s*(```+)(.*)$")
  if run then
    -- Backticks in the info string make it inline code.
    if info:find("`", 1, true) then
      return nil
    end
    return { char = "`", length = #run, info = vim.trim(info) }
  end
  run, info = line:match("^%s*(~~~+)(.*)$")
  return run and { char = "~", length = #run, info = vim.trim(info) } or nil
end

---@param line string
---@param fence koda.chat.Fence
---@return boolean
local function closes(line, fence)
  local run = line:match(fence.char == "`" and "^%s*(```+)%s*$" or "^%s*(~~~+)%s*$")
  return run ~= nil and #run >= fence.length
end

---@param state koda.chat.FenceState
---@param line string
local function follow_list(state, line)
  local mark = line:match("^%s*[-*+]%s+") or line:match("^%s*%d+[.)]%s+")
  if mark then
    state.list = #mark
  elseif line:find("^%S") then
    state.list = 0
  end
end

--- Tells what a line is and moves the state past it.
---@param state koda.chat.FenceState changed
---@param line string without its end
---@return koda.chat.LineRole
function M.step(state, line)
  local fence = state.fence
  if fence then
    if closes(line, fence) and depth_fits(line, state.list) then
      state.fence = nil
      return "close"
    end
    return "code"
  end
  local first = line:match("^%s*([`~])")
  local opened = first and depth_fits(line, state.list) and opening(line) or nil
  if opened then
    state.fence = opened
    return "open"
  end
  follow_list(state, line)
  return "text"
end

--- The language that an info string names, in lower case; none if it names none.
---@param info string
---@return string?
function M.language(info)
  local word = info:match("^{?%.?([%w_+#-]+)")
  return word and word:lower() or nil
end

return M
