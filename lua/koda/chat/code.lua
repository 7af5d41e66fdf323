--- Code blocks of the transcript: coloured by tree-sitter once their fence is closed.
---
--- A block is parsed alone and once, so that the length of the conversation costs nothing. Blocks whose language
--- has no parser or no highlights here, and long ones, stay plain.

local fence = require("koda.chat.fence")

local M = {}

local NS = vim.api.nvim_create_namespace("koda.chat.code")

--- A block with more lines or bytes stays plain: parsing it would hold Neovim.
local MAX_LINES, MAX_BYTES = 400, 16 * 1024

--- Nanoseconds of one slice of colouring.
local SLICE_NS = 2e6

--- Milliseconds between two slices, in which Neovim looks at keys.
local PAUSE_MS = 5

--- Over the background of a code block, which has the priority that extmarks have by themselves.
local PRIORITY = 4097

--- Captures that are no colours.
local NO_COLOUR = { spell = true, nospell = true, conceal = true, none = true }

--- Finds what colours a language.
---@param info string what stands behind the fence
---@return string? language
---@return vim.treesitter.Query?
local function query_of(info)
  local name = fence.language(info)
  local language = name and (vim.treesitter.language.get_lang(name) or name)
  if not language or not pcall(vim.treesitter.language.inspect, language) and not pcall(vim.treesitter.language.add, language) then
    return nil
  end
  local ok, query = pcall(vim.treesitter.query.get, language, "highlights")
  return language, ok and query or nil
end

--- Remembers where a fence opens, wherever its row moves.
---@param buf integer
---@param row integer from 0
---@return integer
function M.mark(buf, row)
  return vim.api.nvim_buf_set_extmark(buf, NS, row, 0, {})
end

---@class koda.chat.Captures
---@field buf integer
---@field fence integer mark of the row above the first line
---@field language string
---@field query vim.treesitter.Query
---@field next fun(): integer?, TSNode?

---@param captures koda.chat.Captures
---@param base integer row of the first line of code
---@return boolean # whether there may be more
local function step(captures, base)
  local id, node = captures.next()
  if not id or not node then
    return false
  end
  local name = captures.query.captures[id]
  if NO_COLOUR[name] or name:sub(1, 1) == "_" then
    return true
  end
  local first, first_col, last, last_col = node:range()
  vim.api.nvim_buf_set_extmark(captures.buf, NS, base + first, first_col, {
    end_row = base + last,
    end_col = last_col,
    hl_group = ("@%s.%s"):format(name, captures.language),
    priority = PRIORITY,
    strict = false,
  })
  return true
end

--- Colours for a slice of time and comes back for the rest.
---@param captures koda.chat.Captures
local function slice(captures)
  if not vim.api.nvim_buf_is_valid(captures.buf) then
    return
  end
  local begun = vim.uv.hrtime()
  local base = vim.api.nvim_buf_get_extmark_by_id(captures.buf, NS, captures.fence, {})[1] + 1
  while step(captures, base) do
    if vim.uv.hrtime() - begun > SLICE_NS then
      return vim.defer_fn(function()
        slice(captures)
      end, PAUSE_MS)
    end
  end
end

--- Colours the lines between a fence's rows.
---@param buf integer
---@param mark integer of the opening row, as `mark` returned it
---@param closing integer row of the closing fence, from 0
---@param info string what stands behind the opening fence
function M.colour(buf, mark, closing, info)
  local first = vim.api.nvim_buf_get_extmark_by_id(buf, NS, mark, {})[1] + 1
  if closing - first > MAX_LINES then
    return
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, first, closing, false), "\n")
  if text == "" or #text > MAX_BYTES then
    return
  end
  local language, query = query_of(info)
  if not language or not query then
    return
  end
  local ok, parser = pcall(vim.treesitter.get_string_parser, text, language)
  local tree = ok and parser:parse()[1]
  if tree then
    local next_capture = query:iter_captures(tree:root(), text, 0, -1)
    slice({ buf = buf, fence = mark, language = language, query = query, next = next_capture })
  end
end

return M
