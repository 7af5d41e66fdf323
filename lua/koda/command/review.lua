--- `:Koda review`: goes to the first hunk that waits, or lists all of them.

---@param call koda.Call
return function(call)
  local notify = require("koda.notify")
  local hunks = require("koda").hunks()
  if #hunks == 0 then
    return notify.info("no hunk waits for a review")
  end
  if call.args == "list" then
    local items = vim.tbl_map(function(hunk)
      local text = (hunk.new ~= "" and hunk.new or hunk.old):match("[^\n]*")
      local what = hunk.made and "changed" or "proposed"
      return { filename = hunk.path, lnum = hunk.first, text = ("%s, %s: %s"):format(what, hunk.state, text) }
    end, hunks)
    vim.fn.setqflist({}, " ", { title = "Koda: hunks", items = items })
    return vim.cmd("botright copen")
  end
  local chat = package.loaded["koda.chat"]
  if chat then
    chat.make_way()
  end
  local hunk = hunks[1]
  if hunk.buf and vim.api.nvim_buf_is_loaded(hunk.buf) then
    -- Not read anew: that would ask about unsaved lines, and forget where the hunks stand.
    vim.bo[hunk.buf].buflisted = true
    vim.api.nvim_win_set_buf(0, hunk.buf)
  else
    vim.cmd.edit({ args = { vim.fn.fnameescape(hunk.path) }, magic = { file = false, bar = false } })
  end
  hunk = require("koda").hunks(vim.api.nvim_get_current_buf())[1] or hunk
  vim.api.nvim_win_set_cursor(0, { math.min(hunk.first, vim.api.nvim_buf_line_count(0)), 0 })
  vim.cmd("normal! zv")
  require("koda.review.draw").reveal(vim.api.nvim_get_current_buf())
end
