--- `:Koda context`.

return function()
  local notify = require("koda.notify")
  local native, problem = require("koda.native").get()
  if not native then
    return notify.error(problem --[[@as koda.Error]])
  end
  local chat = package.loaded["koda.chat"]
  local opts = require("koda.current").get()
  local look = { session = chat and chat.session(), cwd = vim.fn.getcwd() }
  local ok
  ok, problem = native.context(vim.tbl_extend("force", opts, look), function(report, failure)
    if not report then
      return notify.error(failure --[[@as koda.Error]])
    end
    require("koda.view").open("Koda: context", require("koda.window_use").lines(report))
  end)
  if not ok then
    notify.error(problem --[[@as koda.Error]])
  end
end
