--- `:Koda health`.

return function()
  vim.cmd("checkhealth koda")
end
