-- Mentions in a prompt: what is one, and what is only an `@`.

local function parse(text)
  return vim.tbl_map(function(mention)
    return { mention.name, mention.first, mention.last }
  end, require("koda.mention").parse(text))
end

local function same(text, expected)
  local found = parse(text)
  assert(vim.deep_equal(found, expected), ("%s: %s"):format(text, vim.inspect(found)))
end

return {
  ["paths, lines, folders and keywords"] = function()
    same("look at @src/a.rs and @lib/", { { "src/a.rs" }, { "lib/" } })
    same("@a.lua:10-20", { { "a.lua", 10, 20 } })
    same("@a.lua:7 @selection", { { "a.lua", 7, 7 }, { "selection" } })
    same("(@terminal:2)", { { "terminal", 2, 2 } })
    same('@"my file.txt" and @"my file.txt":3', { { "my file.txt" }, { "my file.txt", 3, 3 } })
    same("@routes/$id.tsx @50%20off @é/ü.md", { { "routes/$id.tsx" }, { "50%20off" }, { "é/ü.md" } })
  end,

  ["what closes a sentence is none of it, and nothing is there twice"] = function()
    same("see @a.txt, @b.txt. Or @a.txt?", { { "a.txt" }, { "b.txt" } })
  end,

  ["an address is no mention, nor is a lone sign"] = function()
    same("mail me@example.com, a @ b, git@host:x", {})
    same("@", {})
    same("", {})
  end,

  ["a pasted log of signs costs no more than some"] = function()
    local found = require("koda.mention").parse(("@Override @Test\n@a%d"):rep(5000))
    assert(#found <= 20)
    local many = {}
    for number = 1, 5000 do
      many[number] = "@name" .. number
    end
    assert(#require("koda.mention").parse(table.concat(many, " ")) == 20)
  end,

  ["completion begins behind the sign"] = function()
    local complete = require("koda.mention.complete")
    assert(complete.start("look at @src/a") == 10)
    assert(complete.start('@"my fi') == 2)
    assert(complete.start("me@exam") == nil)
    assert(complete.start("no sign") == nil)
    assert(complete.start("@a b") == nil)
  end,
}
