-- The run without a screen: its arguments, its JSON, its text for people, its standard output.

local arguments = require("koda.headless.arguments")

local function refuses(text, ...)
  local parsed, problem = arguments.parse(text)
  assert(not parsed, "taken: " .. text)
  local said = require("koda.notify").text(problem --[[@as koda.Error]])
  for _, word in ipairs({ ... }) do
    assert(said:find(word, 1, true), ("%s: no %s in: %s"):format(text, word, said))
  end
end

local function event(fields)
  return vim.tbl_extend("keep", fields, { time = 1796099326288, session = "s1" })
end

---@param events table[]
---@param colour? boolean
---@return string
local function printed(events, colour)
  local printer = require("koda.headless.printer").new(colour or false)
  return table.concat(vim.tbl_map(function(fields)
    return printer:print(event(fields))
  end, events))
end

local function is(found, expected)
  assert(found == expected, ("expected:\n%s\nfound:\n%s"):format(expected, found))
end

return {
  ["options stand before the prompt, which stays as it is"] = function()
    local parsed = assert(arguments.parse("--json --trust auto --model=a::b  --  do  this -- and --that "))
    is(parsed.prompt, "do  this -- and --that")
    assert(parsed.json and parsed.trust == "auto" and parsed.model == "a::b", vim.inspect(parsed))
    assert(arguments.parse("-- first\nsecond").prompt == "first\nsecond")
  end,

  ["wrong arguments are named, with what is right"] = function()
    refuses("--modle x -- hi", "--modle", "did you mean --model?")
    refuses("--trust yes -- hi", "--trust", "plan, safe, auto", "yes")
    refuses("--model -- hi", "--model")
    refuses("--json=1 -- hi", "--json takes no value")
    refuses("--max-cost much -- hi", "--max-cost", "much")
    refuses("hi", "hi", "`--`")
    refuses("--json", "no prompt")
    refuses("--json --", "no prompt")
    refuses("", "no prompt")
  end,

  ["money is shown as far as it is known"] = function()
    local money = require("koda.money")
    assert(money.spent({ usd = 1.239 }) == "$1.24" and money.spent({ usd = 0.0123 }) == "$0.0123")
    assert(money.spent({ usd = 0, partial = true }) == "$?" and money.spent({ usd = 0 }) == "$0.00")
    assert(money.spent({ usd = 2, partial = true }) == "$2.00+")
    assert(money.tokens(999) == "999" and money.tokens(1500) == "1.5k" and money.tokens(2.5e6) == "2.5M")
  end,

  ["an event is one line of JSON, the common fields first, empty objects as objects"] = function()
    local line = require("koda.headless.json").line(event({ type = "tool_call", id = "c", tool = "ListFiles", args = {} }))
    assert(vim.startswith(line, '{"type":"tool_call","time":1796099326288,"session":"s1",'), line)
    assert(line:find('"args":{}', 1, true) and line:sub(-2) == "}\n" and not line:sub(1, -2):find("\n"), line)
    local decoded = vim.json.decode(line)
    assert(decoded.id == "c" and decoded.tool == "ListFiles")
    line = require("koda.headless.json").line(event({ type = "todo", items = {} }))
    assert(line:find('"items":[]', 1, true), line)
    assert(require("koda.headless.json").line(event({ type = "text_delta", text = "a\nb" })):find("a\\nb", 1, true))
  end,

  ["people read text, calls, outputs and the end"] = function()
    local text = printed({
      { type = "session_start", model = "a::b", mode = "agent", trust = "auto" },
      { type = "user_message", text = "go" },
      { type = "text_delta", text = "I look" },
      { type = "text_delta", text = " first." },
      { type = "tool_call", id = "1", tool = "Read", args = { path = "a.py" } },
      { type = "tool_call", id = "2", tool = "Bash", args = { command = "make test" } },
      { type = "tool_result", id = "1", tool = "Read", ok = true, text = "1\tx", data = { lines = 1 } },
      { type = "tool_result", id = "2", tool = "Bash", ok = true, text = "bad\n[exit code 2]", data = { exit_code = 2, duration_ms = 1500 } },
      { type = "text_delta", text = "It fails." },
      { type = "usage", usage = {}, total = { input = 1234, output = 5 } },
      { type = "turn_end", outcome = "done", steps = 2, duration_ms = 3000 },
    })
    is(
      text,
      [[
a::b · mode agent · trust auto · session s1

I look first.

$ make test
✓ Read  a.py  1 line
$ make test
    bad
  ✗ exit 2, 1.5 s

It fails.

done · 2 steps · 3.0 s · 1.2k tokens in, 5 out
]]
    )
  end,

  ["an edit shows its diff, coloured where colours are wanted"] = function()
    local result = {
      type = "tool_result",
      id = "1",
      tool = "Edit",
      ok = true,
      text = "",
      data = { applied = { 1 }, rejected = {}, diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n" },
    }
    local call = { type = "tool_call", id = "1", tool = "Edit", args = { path = "x" } }
    is(printed({ call, result }), "✓ Edit  x  +1 −1\n    @@ -1 +1 @@\n    -old\n    +new\n")
    local coloured = printed({ call, result }, true)
    assert(coloured:find("\27[31m-old\27[0m", 1, true) and coloured:find("\27[32m+new\27[0m", 1, true), coloured)
  end,

  ["failures and what waits are told with their reasons"] = function()
    local text = printed({
      { type = "tool_result", id = "1", tool = "Read", ok = false, text = "No file x.\nMore." },
      { type = "error", error = { code = "x", message = "it broke", hint = "mend it" } },
      {
        type = "approval",
        id = "a",
        kind = "approval",
        call = { id = "2", tool = "Write", args = { path = "new.txt" } },
        verdict = { verdict = "ask", reasons = { "trust is safe" }, parts = {} },
      },
    })
    for _, part in ipairs({ "✗ Read  No file x. …", "✗ it broke (mend it)", "? Write  new.txt  needs an approval", "trust is safe" }) do
      assert(text:find(part, 1, true), ("no %s in:\n%s"):format(part, text))
    end
  end,

  ["nothing that a terminal would obey is printed"] = function()
    local text = printed({ { type = "text_delta", text = "a\27]0;title\7b\194\155c\r\nd" } })
    is(text, "a]0;titlebc\nd")
  end,

  ["the output writes everything in order, to a slow reader too"] = function(t)
    local path = t.folder .. "/out"
    local fd = assert(vim.uv.fs_open(path, "w", 420))
    local output = require("koda.headless.output").new(fd)
    local expected = {}
    for number = 1, 2000 do
      local line = ("line %d %s\n"):format(number, ("x"):rep(100))
      expected[#expected + 1] = line
      output:write(line)
    end
    assert(vim.wait(10000, function()
      return output:is_settled()
    end, 10))
    vim.uv.fs_close(fd)
    is(table.concat(vim.fn.readfile(path, "b"), "\n"), table.concat(expected))
  end,

  ["a reader that leaves is noticed, and no failure"] = function()
    local pipe = assert(vim.uv.pipe())
    vim.uv.fs_close(pipe.read)
    local output = require("koda.headless.output").new(pipe.write)
    output:write("lost\n")
    assert(vim.wait(10000, function()
      return output.broken
    end, 10))
    output:write("more\n")
    assert(output:is_settled())
    vim.uv.fs_close(pipe.write)
  end,
}
