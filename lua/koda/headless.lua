--- `:Koda run` without a screen: sends the prompt, prints what happens, leaves Neovim with a status.
---
--- 0 done, 1 failed, 2 wrong usage or configuration, 3 something needed an approval, 130 cancelled.

local M = {}

local FAILED, WRONG, CANCELLED = 1, 2, 130

---@type table<koda.Outcome, integer>
local STATUS = { done = 0, failed = FAILED, step_limit = FAILED, budget = FAILED, needs_approval = 3, cancelled = CANCELLED }

--- Errors before the start that are no fault of the user's settings.
local NO_FAULT = { start = true, store = true, panic = true, bridge = true }

--- How long a cancelled turn may take to end; the engine promises a second.
local CANCEL_MS = 3000

--- One wait; waiting goes on until the condition holds.
local WAIT_MS = 3600 * 1000

---@param status integer
local function leave(status)
  vim.cmd("cquit " .. status)
end

--- Leaves past Neovim's own exit: it would wait for the thread of a reader that takes nothing, and set its own status.
---@param status integer
local function break_off(status)
  require("koda.native").get().shutdown()
  local ffi = require("ffi")
  ffi.cdef("void _exit(int status);")
  ffi.C._exit(status)
end

---@param problem koda.Error
local function refuse(problem)
  io.stderr:write("koda: ", require("koda.notify").text(problem), "\n")
  io.stderr:flush()
  leave(NO_FAULT[problem.code] and FAILED or WRONG)
end

--- Whether to colour: what the environment says, else whether a terminal shows it.
---@return boolean
local function wants_colour()
  local env = vim.env
  if env.NO_COLOR and env.NO_COLOR ~= "" then
    return false
  end
  local forced = env.FORCE_COLOR or env.CLICOLOR_FORCE
  if forced and forced ~= "" then
    return forced ~= "0"
  end
  return vim.uv.guess_handle(1) == "tty" and env.TERM ~= "dumb"
end

---@param arguments koda.headless.Arguments
---@return fun(event: koda.Event): string
local function writer(arguments)
  if arguments.json then
    return require("koda.headless.json").line
  end
  local printer = require("koda.headless.printer").new(wants_colour())
  return function(event)
    return printer:print(event)
  end
end

---@class koda.headless.Run
---@field handle koda.RunHandle
---@field output koda.headless.Output
---@field interrupts integer

--- Stops the turn at the first interrupt; a second one leaves without waiting for anything.
---@param run koda.headless.Run
local function watch_interrupts(run)
  local signal = assert(vim.uv.new_signal())
  signal:start("sigint", function()
    run.interrupts = run.interrupts + 1
    if run.interrupts == 1 then
      vim.schedule(function()
        run.handle:cancel()
      end)
    end
  end)
end

---@param run koda.headless.Run
---@param is_over fun(): boolean
local function wait(run, is_over)
  local wait_until = require("koda.handle").wait_until
  local function is_left()
    return run.interrupts > 1 or is_over()
  end
  while not wait_until(WAIT_MS, is_left) do
    -- An interrupt ends the wait early as well; the signal's handler has seen it.
  end
end

---@param run koda.headless.Run
---@return integer # status
local function follow(run)
  local handle, output = run.handle, run.output
  wait(run, function()
    return handle.outcome ~= nil or output.broken or run.interrupts > 0
  end)
  if not handle.outcome then
    -- Interrupted, or nobody reads: there is nobody left to work for.
    handle:cancel()
    handle:wait(CANCEL_MS)
  end
  wait(run, function()
    return output:is_settled()
  end)
  if not output:is_settled() then
    break_off(CANCELLED)
  end
  return STATUS[handle.outcome] or CANCELLED
end

--- Ends the run in order where a signal makes Neovim leave: TERM, and from 0.12 on the interrupt too.
---
--- Called before the library starts, so that it comes before the library's own shutdown.
---@param get fun(): koda.headless.Run? none before it has begun
local function watch_leaving(get)
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("koda.headless", { clear = true }),
    desc = "Koda: ends the run that a signal breaks off",
    callback = function()
      local run = get()
      if run and vim.v.dying > 0 then
        run.interrupts = 1
        break_off(follow(run))
      end
    end,
  })
end

---@param arguments koda.headless.Arguments
---@return string? # the session
---@return koda.Error?
local function open(arguments)
  return require("koda").open({
    model = arguments.model,
    mode = arguments.mode,
    trust = arguments.trust,
    max_cost = arguments.max_cost,
    unattended = true,
  })
end

--- Runs a prompt to its end and leaves Neovim.
---@param text string the arguments, as typed
function M.run(text)
  local arguments, problem = require("koda.headless.arguments").parse(text)
  if not arguments then
    return refuse(problem --[[@as koda.Error]])
  end
  ---@type koda.headless.Run?
  local run
  watch_leaving(function()
    return run
  end)
  local session
  session, problem = open(arguments)
  if not session then
    return refuse(problem --[[@as koda.Error]])
  end
  local output = require("koda.headless.output").new(1)
  local write = writer(arguments)
  local handle
  handle, problem = require("koda").run({
    session = session,
    prompt = arguments.prompt,
    on_event = function(event)
      output:write(write(event))
    end,
  })
  if not handle then
    return refuse(problem --[[@as koda.Error]])
  end
  run = { handle = handle, output = output, interrupts = 0 }
  watch_interrupts(run)
  leave(follow(run))
end

return M
