--- Puts back what stood in a hunk's place before the change.

local draw = require("koda.review.draw")

---@param buf integer
---@param row integer
---@param rows integer lines that go
---@param lines string[] that come
local function replace(buf, row, rows, lines)
  -- Blocks of undo of their own, before and after.
  vim.cmd("let &g:undolevels = &g:undolevels")
  vim.api.nvim_buf_set_lines(buf, row, row + rows, false, lines)
  vim.cmd("let &g:undolevels = &g:undolevels")
end

---@param item koda.review.Item
---@return true?
---@return koda.Error?
return function(item)
  local buf, row = item.buf, draw.row(item)
  if not buf or not row then
    return nil, { code = "stale", message = "the text of this hunk has changed", hint = "undo it by hand" }
  end
  if not vim.bo[buf].modifiable or vim.bo[buf].readonly then
    return nil, { code = "read_only", message = "this buffer can't be changed" }
  end
  local save = not vim.bo[buf].modified and require("koda.config").get().edit.save
  local failure
  vim.api.nvim_buf_call(buf, function()
    replace(buf, row, item.rows, draw.lines(item.hunk.old))
    if save then
      -- A last line without an end stays as it was.
      local fixes = vim.bo[buf].fixendofline
      vim.bo[buf].fixendofline = false
      local ok, problem = pcall(vim.cmd, "silent keepalt lockmarks write")
      vim.bo[buf].fixendofline = fixes
      failure = not ok and tostring(problem) or nil
    end
  end)
  if failure then
    return nil, { code = "io", message = "the text is back, but writing it failed: " .. failure }
  end
  return true
end
