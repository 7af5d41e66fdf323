--- What is sent along with a prompt: lines of a buffer, with their path and numbers.

local M = {}

--- Returns a fence that no line of a text can close.
---@param text string
---@return string
local function fence(text)
  local longest = 2
  for run in text:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  return ("`"):rep(longest + 1)
end

---@param buf integer
---@return string
local function name(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  if path == "" then
    return "a buffer without a name"
  end
  return vim.fn.fnamemodify(path, ":.")
end

--- Puts a text into a fence of its own.
---@param text string
---@param language? string
---@return string
function M.fenced(text, language)
  local mark = fence(text)
  return ("%s%s\n%s\n%s"):format(mark, language or "", (text:gsub("\n$", "")), mark)
end

--- Quotes lines of a buffer.
---@param buf integer
---@param first integer from 1
---@param last integer the last line, included
---@return string
function M.lines(buf, first, last)
  local lines = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  local text = table.concat(lines, "\n")
  local mark = fence(text)
  local place = first == last and ("line %d"):format(first) or ("lines %d-%d"):format(first, last)
  return ("%s, %s:\n%s%s\n%s\n%s"):format(name(buf), place, mark, vim.bo[buf].filetype, text, mark)
end

return M
