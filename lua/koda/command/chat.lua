--- `:Koda chat` and `:Koda`.

return function()
  require("koda.chat").toggle()
  require("koda.first_use").guide()
end
