--- `:Koda redo`.

return function()
  local rewind = require("koda.rewind")
  local ok, problem = rewind.again(nil, rewind.notifier("done again"))
  if not ok then
    require("koda.notify").error(problem --[[@as koda.Error]])
  end
end
