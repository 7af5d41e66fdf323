--- `:Koda undo`.

return function()
  local rewind = require("koda.rewind")
  local ok, problem = rewind.back(nil, rewind.notifier("taken back"))
  if not ok then
    require("koda.notify").error(problem --[[@as koda.Error]])
  end
end
