-- `:Koda`: what is a subcommand and what a prompt, what is completed, what a range sends along.

local commands = require("koda.commands")

local function splits(line, name, rest)
  local subcommand, args = commands.split(line)
  assert((subcommand and subcommand.name) == name, ("%s: %s"):format(line, vim.inspect(subcommand)))
  assert(args == rest, ("%s: %s"):format(line, args))
end

local function completes(line, expected)
  local found = commands.complete(line)
  assert(vim.deep_equal(found, expected), ("%s: %s"):format(line, vim.inspect(found)))
end

return {
  ["a name with what it takes is a subcommand, a sentence a prompt"] = function()
    splits("stop", "stop", "")
    splits("stop the server", nil, "stop the server")
    splits("trust auto", "trust", "auto")
    splits("mode of transport is wrong", nil, "mode of transport is wrong")
    splits("fix the failing test", nil, "fix the failing test")
    splits("ask  why so? ", "ask", "why so?")
    splits("run --json -- go", "run", "--json -- go")
    splits("modelling", nil, "modelling")
  end,

  ["completes names, values and options"] = function()
    completes("Koda tru", { "trust" })
    completes("Koda trust ", { "plan", "safe", "auto" })
    completes("Koda trust s", { "safe" })
    completes("Koda trust safe ", {})
    completes("Koda run --tr", { "--trust" })
    completes("Koda run --trust a", { "auto" })
    completes("Koda run --json -- --tr", {})
    completes("'<,'>Koda fix the ", {})
  end,

  ["the context is shown with a bar where the window is known"] = function()
    local context = require("koda.window_use")
    local report = { model = "a::b", window = 2000, conversation = 300, fixed = {} }
    report.fixed[1] = { kind = "prompt", name = "koda", tokens = 100 }
    report.fixed[2] = { kind = "tool", name = "Read", tokens = 600 }
    local text = table.concat(context.lines(report), "\n")
    assert(text:find("] 50 %", 1, true) and text:find("1.0k of 2.0k tokens, about", 1, true), text)
    assert(text:find("Read +600") and text:find("Sent with each request, about +700"), text)
    report.window, report.counted = nil, 1234
    text = table.concat(context.lines(report), "\n")
    assert(text:find("1.2k tokens; how many the model takes is not known, as the provider counted", 1, true), text)
  end,

  ["what providers offer is shown with its size and price, as far as they are known"] = function()
    local function of(input, output)
      return { rates = { input = input, output = output } }
    end
    local own = { { model = "own::b" }, { model = "own::c", price = of(0, 0) } }
    local lines = require("koda.first_use").offers({
      { provider = "lab", models = { { model = "lab::a", context = 128000, price = of(2, 0.05) } } },
      { provider = "own", models = own },
      { provider = "off", models = {}, problem = "no connection" },
    })
    local text = table.concat(lines, "\n")
    for _, part in ipairs({ "lab::a +128.0k +%$2.00 in, %$0.0500 out", "own::b +%? +price", "own::c +%? +free" }) do
      assert(text:find(part), text)
    end
    assert(text:find("off: no connection", 1, true), text)
  end,

  ["each subcommand has its module"] = function()
    for _, subcommand in ipairs(commands.SUBCOMMANDS) do
      assert(type(require("koda.command." .. subcommand.name)) == "function", subcommand.name)
    end
  end,

  ["lines are quoted with path and numbers, in a fence they can't close"] = function(t)
    vim.cmd.cd(t.folder)
    local buf = vim.fn.bufadd(t.folder .. "/notes.md")
    vim.fn.bufload(buf)
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { "one", "```lua", "two", "```", "five" })
    vim.bo[buf].filetype = "markdown"
    local text = require("koda.context").lines(buf, 2, 4)
    assert(text == "notes.md, lines 2-4:\n````markdown\n```lua\ntwo\n```\n````", text)
    assert(vim.startswith(require("koda.context").lines(buf, 5, 5), "notes.md, line 5:\n```markdown\nfive\n"))
  end,

  ["nothing is loaded by the plugin file"] = function(t)
    for name in pairs(package.loaded) do
      if name:find("^koda") then
        package.loaded[name] = nil
      end
    end
    dofile(t.root .. "/plugin/koda.lua")
    assert(vim.fn.exists(":Koda") == 2)
    for name in pairs(package.loaded) do
      assert(not name:find("^koda"), name)
    end
  end,
}
