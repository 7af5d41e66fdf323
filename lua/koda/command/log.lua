--- `:Koda log`.

return function()
  local path = require("koda.log").path()
  if not vim.uv.fs_stat(path) then
    return require("koda.notify").info("nothing is logged yet; the log will be " .. path)
  end
  local chat = package.loaded["koda.chat"]
  if chat then
    chat.make_way()
  end
  vim.cmd.split({ args = { vim.fn.fnameescape(path) } })
  vim.bo.autoread = true
  vim.bo.modifiable = false
  vim.cmd("normal! G")
end
