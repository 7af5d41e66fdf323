-- The API over a library that only notes what it is asked: what is handed on, what handles do with the events.

---@class Fake
---@field calls table[]

--- Puts a fresh face over a fake library, which answers with what `answers` has by function.
---@param answers? table<string, any>
---@return table koda
---@return Fake
local function face(answers)
  for name in pairs(package.loaded) do
    if name:find("^koda") then
      package.loaded[name] = nil
    end
  end
  local fake = { calls = {} }
  local lib = setmetatable({}, {
    __index = function(_, name)
      return function(...)
        fake.calls[#fake.calls + 1] = { name, ... }
        local answer = answers and answers[name]
        if type(answer) == "function" then
          return answer(...)
        end
        return answer == nil and true or answer
      end
    end,
  })
  package.loaded["koda.native"] = {
    get = function()
      return lib
    end,
    is_started = function()
      return true
    end,
  }
  return require("koda"), fake
end

local function deliver(...)
  local events = {}
  for _, event in ipairs({ ... }) do
    events[#events + 1] = vim.tbl_extend("keep", event, { session = "s1", time = 1 })
  end
  vim.schedule(function()
    require("koda.events").deliver(events)
  end)
end

return {
  ["a run opens a session with the settings, sends, and follows only that session"] = function()
    local koda, fake = face({ open = "s1" })
    assert(koda.setup({ trust = "auto", model = "a::b" }))
    local seen = {}
    local handle = assert(koda.run({
      prompt = "go",
      context = "here",
      mode = "ask",
      cwd = "/",
      on_event = function(event)
        seen[#seen + 1] = event.type
      end,
    }))
    assert(handle.session == "s1")
    assert(vim.deep_equal(fake.calls[1], { "open", { cwd = "/", model = "a::b", mode = "ask", trust = "auto" } }), vim.inspect(fake.calls[1]))
    assert(vim.deep_equal(fake.calls[2], { "prompt", "s1", "go", "here" }), vim.inspect(fake.calls[2]))
    assert(handle:wait(1) == nil)
    deliver({ type = "text_delta", text = "x" }, { type = "text_delta", session = "s2" }, { type = "turn_end", outcome = "done" }, { type = "notice" })
    assert(handle:wait(5000) == "done")
    assert(vim.deep_equal(seen, { "text_delta", "turn_end" }), vim.inspect(seen))
    assert(handle:wait(0) == "done")
  end,

  ["cancel stops the session's turn, once it is over does nothing"] = function()
    local koda, fake = face({ open = "s1" })
    local handle = assert(koda.run({ prompt = "go" }))
    handle:cancel()
    assert(vim.deep_equal(fake.calls[3], { "stop", "s1" }))
    deliver({ type = "turn_end", outcome = "cancelled" })
    assert(handle:wait(5000) == "cancelled")
    handle:cancel()
    assert(#fake.calls == 3)
  end,

  ["a tool's call waits for the result with its id"] = function()
    local koda, fake = face({ tool = "call-1" })
    local handle = assert(koda.tool({ name = "Read", args = { path = "x" } }))
    local sent = fake.calls[1][2]
    assert(sent.name == "Read" and sent.trust == "safe" and sent.cwd == vim.fn.getcwd(), vim.inspect(sent))
    deliver({ type = "tool_result", id = "other", ok = false }, { type = "tool_result", id = "call-1", ok = true, text = "t", data = { n = 1 } })
    assert(vim.deep_equal(handle:wait(5000), { ok = true, text = "t", data = { n = 1 } }))
  end,

  ["what the library refuses comes back as it said it"] = function()
    local problem = { code = "no_model", message = "no model" }
    local koda = face({
      open = function()
        return nil, problem
      end,
    })
    local handle, err = koda.run({ prompt = "go" })
    assert(handle == nil and err == problem)
  end,

  ["wrong use is an error that says what is right"] = function()
    local koda, fake = face()
    for _, call in ipairs({
      { koda.run, {} },
      { koda.run, { prompt = " \n" } },
      { koda.tool, {} },
      { koda.judge, { tool = 7 } },
      { koda.answer, "x" },
      { koda.resume },
    }) do
      local value, err = call[1](call[2])
      assert(value == nil and err.code == "usage" and err.message:find("koda.", 1, true), vim.inspect(err))
    end
    assert(#fake.calls == 0)
  end,

  ["what later versions bring is said not to be there"] = function()
    local koda = face()
    assert(vim.deep_equal(koda.hunks(), {}))
    assert(select(2, koda.accept()).code == "no_hunk" and select(2, koda.reject(7)).code == "no_hunk")
  end,

  ["undo, redo and rewind go to the session that is meant"] = function()
    local calls = {}
    local function answer(name)
      return function(session, ...)
        local args = { ... }
        calls[#calls + 1] = { name, session, #args == 2 and args[1] or nil }
        vim.schedule(function()
          args[#args]({ message = 1, text = "go", changes = {} })
        end)
        return true
      end
    end
    local koda = face({ rewind = answer("rewind"), redo = answer("redo") })
    local value, err = koda.undo()
    assert(value == nil and err.code == "no_session" and err.hint, vim.inspect(err))
    require("koda.current").opened("s1")
    assert(koda.undo().text == "go")
    assert(koda.redo({ session = "s2" }).message == 1)
    assert(koda.rewind({ message = 3, files = false }).message == 1)
    assert(vim.deep_equal(calls[1], { "rewind", "s1", {} }), vim.inspect(calls))
    assert(vim.deep_equal(calls[2], { "redo", "s2" }))
    assert(vim.deep_equal(calls[3], { "rewind", "s1", { message = 3, files = false } }))
    assert(select(2, koda.rewind({})).code == "usage")
  end,

  ["sessions come by callback, or are waited for"] = function()
    local list = { { id = "s1" } }
    local koda = face({
      sessions = function(_, callback)
        vim.schedule(function()
          callback(list)
        end)
        return true
      end,
    })
    assert(koda.sessions() == list)
    local got
    assert(koda.sessions(function(sessions)
      got = sessions
    end) == true)
    assert(vim.wait(5000, function()
      return got ~= nil
    end, 10) and got == list)
  end,

  ["mode, trust and model hold for the sessions to come; stop reaches every open session"] = function()
    local koda, fake = face({ open = "s2" })
    local current = require("koda.current")
    current.watch()
    assert(current.set({ trust = "plan", model = "x::y" }))
    koda.run({ prompt = "go" })
    assert(fake.calls[1][2].trust == "plan" and fake.calls[1][2].model == "x::y", vim.inspect(fake.calls[1]))
    require("koda.events").deliver({ { type = "user_message", session = "s2" }, { type = "session_start", session = "s3" } })
    assert(current.stop() == 1)
    local stopped = {}
    for _, call in ipairs(fake.calls) do
      stopped[call[2] or call[1]] = call[1]:find("^stop") ~= nil
    end
    assert(stopped.stop_calls)
    assert(stopped.s2 and stopped.s3, vim.inspect(fake.calls))
  end,

  ["without a model the ways to one are said, with a server here it is offered"] = function()
    local ways = {
      ways = { { provider = "p", key_env = "P_KEY", has_key = false, model = "p::one" } },
      local_servers = {},
    }
    local koda = face({
      ways = function(callback)
        callback(ways)
        return true
      end,
    })
    koda.setup({})
    local first_use = require("koda.first_use")
    local text = table.concat(first_use.explain(ways), "\n")
    assert(text:find("P_KEY", 1, true) and text:find("p::one", 1, true) and text:find("None answers", 1, true), text)

    ways.local_servers = { { provider = "ollama", endpoint = "http://127.0.0.1:11434", models = { "ollama::tiny" } } }
    local offered
    local select = vim.ui.select
    vim.ui.select = function(items, _, choose)
      offered = items
      choose(items[1])
    end
    local went_on = false
    first_use.with_model(function()
      went_on = true
    end, error)
    vim.ui.select = select
    assert(offered[1] == "ollama::tiny" and went_on, vim.inspect(offered))
    assert(require("koda.config").get().model == "ollama::tiny")
  end,
}
