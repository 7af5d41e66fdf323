-- The help: its tags, its links, and that its generated parts are those of the code.

return {
  ["each link leads to a tag"] = function(t)
    vim.fn.mkdir(t.folder .. "/doc")
    assert(vim.uv.fs_copyfile(t.root .. "/doc/koda.txt", t.folder .. "/doc/koda.txt"))
    vim.cmd.helptags(t.folder .. "/doc")
    vim.opt.runtimepath:append(t.folder)
    local text = table.concat(vim.fn.readfile(t.folder .. "/doc/koda.txt"), "\n")
    local links = 0
    for link in text:gmatch("|([^|%s]+)|") do
      links = links + 1
      assert(vim.list_contains(vim.fn.getcompletion(link, "help"), link), "no tag " .. link)
    end
    assert(links > 10)
  end,

  ["every subcommand, option and API function has its tag"] = function(t)
    local text = table.concat(vim.fn.readfile(t.root .. "/doc/koda.txt"), "\n")
    for _, subcommand in ipairs(require("koda.commands").SUBCOMMANDS) do
      assert(text:find(("*:Koda-%s*"):format(subcommand.name), 1, true), subcommand.name)
    end
    for name in pairs(require("koda")) do
      assert(text:find(("*koda.%s()*"):format(name), 1, true), name)
    end
  end,

  ["the generated parts are fresh"] = function(t)
    local result = vim.system({ vim.v.progpath, "-l", t.root .. "/scripts/gen-doc.lua", "--check" }):wait()
    assert(result.code == 0, result.stderr)
  end,
}
