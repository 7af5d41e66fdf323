--- `:Koda stop`.

return function()
  local stopped = require("koda.current").stop()
  if stopped == 0 then
    require("koda.notify").info("nothing runs")
  end
end
