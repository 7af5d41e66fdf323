-- Settings: what is taken, and what is said of what is wrong.

---@param opts any
---@return koda.Error?
local function problem(opts)
  return (select(2, require("koda.config").set(opts)))
end

local function says(opts, ...)
  local found = assert(problem(opts), "taken: " .. vim.inspect(opts))
  assert(found.code == "config", found.code)
  for _, word in ipairs({ ... }) do
    assert(found.message:find(word, 1, true), ("no %s in: %s"):format(word, found.message))
  end
end

return {
  ["unknown names are told with the nearest"] = function()
    says({ modle = "a::b" }, "`modle`", "did you mean `model`?")
    says({ chat = { widht = 80 } }, "`chat.widht`", "did you mean `chat.width`?")
    says({ zzzzzzzz = 1 }, "`zzzzzzzz`", "model, providers")
    says({ providers = { lab = { endpiont = "x" } } }, "`providers.lab.endpiont`", "`providers.lab.endpoint`")
  end,

  ["a wrong type is told with what is expected and what was found"] = function()
    says({ max_steps = "many" }, "`max_steps`", "a whole number of at least 1", '"many"')
    says({ max_steps = 0 }, "at least 1", "0")
    says({ budget = { day = -1 } }, "`budget.day`", "a number of at least 0")
    says({ prices = { ["a::b"] = { inputs = 1 } } }, "did you mean `prices.a::b.input`")
    says({ max_steps = 1.5 }, "whole number")
    says({ chat = 7 }, "`chat` must be a table, not 7")
    says({ edit = { save = "yes" } }, "true or false")
    says({ tools = { Bash = "never" } }, "`tools.Bash`", '"auto", "ask" or "off"')
    says({ trust = "saef" }, '"plan", "safe" or "auto"', 'did you mean "safe"?')
    says({ providers = { lab = { key_command = { "pass", 7 } } } }, "`providers.lab.key_command`")
    says({ "model" }, "unknown option `1`")
    says("model", "a table")
  end,

  ["all that is wrong is told at once"] = function()
    says(
      { modle = "x", chat = { widht = 80, height = "tall" }, tools = { Bash = "no", Read = "never" } },
      "`modle`", "`chat.widht`", "`chat.height`", "`tools.Bash`", "`tools.Read`"
    )
  end,

  ["a border is what a window can have"] = function()
    local function takes(border)
      local config = require("koda.config")
      assert(config.set({ chat = { border = border } }), vim.inspect(border))
      local opened, win = pcall(vim.api.nvim_open_win, 0, false, {
        relative = "editor", row = 0, col = 0, width = 9, height = 2, border = config.get().chat.border,
      })
      assert(opened, win)
      vim.api.nvim_win_close(win, true)
      assert(config.set({}))
    end
    takes("double")
    takes("none")
    takes({ "+", "-" })
    takes({ "", "", "", "", "", "─", "", "" })
    takes({ { "a", "Error" }, "b", { "c" }, "" })
    says({ chat = { border = "roundet" } }, "`chat.border`", 'did you mean "rounded"?', "a list of characters")
    says({ chat = { border = 1 } }, "`chat.border`")
    says({ chat = { border = { "a", "b", "c" } } }, "1, 2, 4 or 8 characters")
    says({ chat = { border = { "ab" } } }, "`chat.border`")
    says({ chat = { border = { { "a", 1 } } } }, "`chat.border`")
  end,

  ["wrong settings change nothing, and hold the library back"] = function()
    local config = require("koda.config")
    assert(config.set({ trust = "auto" }))
    assert(problem({ trust = "plan", modle = "x" }))
    assert(config.get().trust == "auto")
    local lib, err = require("koda.native").get()
    assert(not lib and err.code == "config", vim.inspect(err))
    assert(config.set({}))
    assert(config.problem() == nil)
    assert(config.get().trust == "safe", "settings of an earlier call stay")
  end,

  ["what is set lies over the defaults"] = function()
    local config = require("koda.config")
    assert(config.set({ chat = { width = 70 }, providers = { lab = { endpoint = "http://x", headers = { A = "b" } } } }))
    local now = config.get()
    assert(now.chat.width == 70 and now.chat.layout == "float")
    assert(now.providers.lab.headers.A == "b")
    assert(config.set({}))
  end,

  ["every default passes its own check"] = function()
    local config = require("koda.config")
    assert(config.set({}))
    local defaults = vim.deepcopy(config.get())
    local wrong = problem(defaults)
    assert(not wrong, wrong and wrong.message)
  end,
}
