--- `:Koda accept` and `:Koda reject`: of the hunk at the cursor, of the file, or of everything.

---@param decision "accept"|"reject"
---@return fun(call: koda.Call)
return function(decision)
  return function(call)
    local review, notify = require("koda.review"), require("koda.notify")
    if call.args == "file" or call.args == "all" then
      local buf = call.args == "file" and vim.api.nvim_get_current_buf() or nil
      return notify.info(("%d hunks %sed"):format(review.each(review[decision], buf), decision))
    end
    local ok, problem = review[decision]()
    if not ok then
      notify.warn(problem --[[@as koda.Error]])
    end
  end
end
