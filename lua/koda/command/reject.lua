--- `:Koda reject`.

return require("koda.review.decide")("reject")
