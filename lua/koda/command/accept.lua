--- `:Koda accept`: the hunk at the cursor, or those of the file or of everything.

---@param call koda.Call
return function(call)
  local review, notify = require("koda.review"), require("koda.notify")
  if call.args == "file" or call.args == "all" then
    local buf = call.args == "file" and vim.api.nvim_get_current_buf() or nil
    return notify.info(("%d hunks accepted"):format(review.each(review.accept, buf)))
  end
  local ok, problem = review.accept()
  if not ok then
    notify.warn(problem --[[@as koda.Error]])
  end
end
