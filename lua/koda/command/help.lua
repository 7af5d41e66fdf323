--- `:Koda help`.

---@param call koda.Call
return function(call)
  local topic = call.args == "" and "koda" or ("koda-" .. call.args)
  local ok = pcall(vim.cmd.help, topic)
  if ok then
    return
  end
  local near = pcall(vim.cmd.help, "koda")
  local what = near and "there is no help on " .. call.args or "the help has no tags yet: run :helptags ALL"
  require("koda.notify").warn(what)
end
