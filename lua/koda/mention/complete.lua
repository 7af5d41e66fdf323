--- Completion of mentions: for the prompt's omnifunc, and for completion plugins.

local sources = require("koda.mention.sources")

local M = {}

--- Files that are offered at once, since each is judged while Neovim waits; typing on narrows a folder with more.
local MAX_FILES = 40

--- Where the mention at the end of a text begins.
---@param before string the line up to the cursor
---@return integer? # of the byte behind the `@`, from 1
function M.start(before)
  local at = before:match('^.*()@"[^"]*$') or before:match("^.*()@[^%s\"]*$")
  if not at or (at > 1 and not before:sub(at - 1, at - 1):find("[%s(%[{]")) then
    return nil
  end
  return at + 1
end

---@param path string
---@return boolean
local function is_offered(path)
  local verdict = require("koda").judge({ tool = "Read", args = { path = path } })
  return verdict ~= nil and verdict.verdict == "allow"
end

---@class koda.mention.Candidate
---@field word string without the `@`
---@field menu string

--- Lists what a mention may be.
---@param typed string what stands behind the `@`
---@return koda.mention.Candidate[]
function M.candidates(typed)
  local prefix = typed:gsub('^"', "")
  local found = {}
  for name, keyword in vim.spairs(sources.KEYWORDS) do
    if vim.startswith(name, prefix) then
      found[#found + 1] = { word = name, menu = keyword.text }
    end
  end
  -- Escaped, since completion expands what a shell would.
  local files = vim.fn.getcompletion((prefix:gsub("[%*%?%[{$`]", "\\%0")), "file")
  for _, path in ipairs(vim.list_slice(files, 1, MAX_FILES)) do
    if is_offered(path) then
      local word = path:find("%s") and ('"%s"'):format(path) or path
      found[#found + 1] = { word = word, menu = path:sub(-1) == "/" and "folder" or "file" }
    end
  end
  return found
end

--- The prompt's 'omnifunc'.
---@param find_start 0|1
---@param base string
---@return integer|table[]
function M.omnifunc(find_start, base)
  if find_start == 1 then
    local column = vim.api.nvim_win_get_cursor(0)[2]
    local start = M.start(vim.api.nvim_get_current_line():sub(1, column))
    return start and start - 1 or -3
  end
  return M.candidates(base)
end

--- The candidates at a cursor as a language server would give them, for completion plugins.
---@param before string the line up to the cursor
---@return table[] # items of LSP's `CompletionItem`
function M.items(before)
  local start = M.start(before)
  if not start then
    return {}
  end
  return vim.tbl_map(function(candidate)
    return { label = candidate.word, detail = candidate.menu, kind = 17 }
  end, M.candidates(before:sub(start)))
end

return M
