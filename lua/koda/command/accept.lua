--- `:Koda accept`.

return require("koda.review.decide")("accept")
