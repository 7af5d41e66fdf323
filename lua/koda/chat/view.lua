--- From events to the transcript: what each event looks like.

local calls = require("koda.chat.calls")
local undone = require("koda.chat.undone")

local M = {}

---@class koda.chat.View
---@field transcript koda.chat.Transcript
---@field calls table<string, koda.chat.Call> by id
---@field last? string what was drawn last
---@field info koda.chat.Info what the bar shows
---@field messages { number: integer, mark: integer, text: string }[] the user's messages that stand, as they were drawn
---@field undone { messages: table[], mark?: integer }[] what was taken back and may be done again
---@field count integer messages of the user so far
---@field is_reviving? boolean while it is drawn anew from what is stored

---@class koda.chat.Info
---@field state "idle"|"thinking"|"writing"|"working"|"retrying"|"waiting"|"failed"
---@field model string
---@field mode string
---@field trust string
---@field input integer
---@field output integer
---@field queued integer
---@field cost? koda.Spent of the session
---@field tasks? koda.chat.Task[] what is to be done
---@field retry_at? integer when a request is tried again, by `vim.uv.now()`

---@param transcript koda.chat.Transcript
---@return koda.chat.View
function M.new(transcript)
  local info = { state = "idle", model = "", mode = "", trust = "", input = 0, output = 0, queued = 0 }
  return { transcript = transcript, calls = {}, info = info, messages = {}, undone = {}, count = 0 }
end

---@param text string
---@return string[]
local function lines_of(text)
  return vim.split((text:gsub("\n+$", "")), "\n", { plain = true })
end

--- Groups whose notes follow each other without a blank line.
local TIGHT = { KodaNotice = true }

---@param view koda.chat.View
---@param mark string
---@param text string
---@param group string
---@return integer # its first row
local function say(view, mark, text, group)
  local lines = lines_of(text)
  for index, line in ipairs(lines) do
    lines[index] = (index == 1 and mark or (" "):rep(vim.fn.strdisplaywidth(mark))) .. line
  end
  local row = view.transcript:block(lines, group, view.last == group and TIGHT[group])
  if group == "KodaUser" then
    view.transcript:spans(row, { { 0, #mark, "KodaUserMark" } })
  end
  view.last = group
  return row
end

---@param view koda.chat.View
---@param event table
---@param state string
local function call(view, event, state)
  local known = view.calls[event.id]
  if known then
    known.tool, known.args = event.tool or known.tool, event.args or known.args
    known.state, known.result = state, event.type == "tool_result" and event or nil
    return calls.redraw(view.transcript, known)
  end
  known = { id = event.id, tool = event.tool, state = state, args = event.args, body = 0, mark = 0 }
  known.result = event.type == "tool_result" and event or nil
  view.calls[event.id] = known
  calls.add(view.transcript, known, view.last == "call")
  view.last = "call"
end

--- What a stored message holds of text, which live came as deltas.
---@param view koda.chat.View
---@param event table
local function message(view, event)
  if view.streamed then
    view.streamed = false
  else
    for _, part in ipairs(event.message.parts) do
      if part.kind == "text" or part.kind == "reasoning" then
        view.transcript:stream(part.kind, part.text)
        view.last = "text"
      end
    end
  end
  view.transcript:finish()
  if event.cut then
    say(view, "", "[cut off here]", "KodaDim")
  end
end

local DRAW = {}

function DRAW.session_start(view, event)
  local info = view.info
  info.model, info.mode, info.trust = event.model, event.mode, event.trust
end

DRAW.settings = DRAW.session_start

--- What was sent along, in a few words: its first line says where it is from.
---@param context? string
---@return string
local function context_gist(context)
  if not context or context == "" then
    return ""
  end
  return ("\n[with %s]"):format((context:match("[^\n]*"):gsub(":$", "")))
end

function DRAW.user_message(view, event)
  local text = event.text .. context_gist(event.context)
  local row = say(view, "❯ ", text, "KodaUser")
  view.count = view.count + 1
  view.messages[#view.messages + 1] = { number = view.count, mark = view.transcript:mark(row), text = event.text }
  view.undone = {}
  view.info.queued = math.max(view.info.queued - 1, 0)
  view.info.state = "thinking"
end

function DRAW.queued(view, event)
  view.info.queued = view.info.queued + 1
  say(view, "❯ (queued) ", event.text, "KodaQueued")
end

function DRAW.step_start(view)
  view.info.state = "thinking"
end

function DRAW.text_delta(view, event)
  view.streamed, view.info.state = true, "writing"
  view.transcript:stream("text", event.text)
  view.last = "text"
end

function DRAW.reasoning_delta(view, event)
  view.streamed, view.info.state = true, "thinking"
  view.transcript:stream("reasoning", event.text)
  view.last = "reasoning"
end

function DRAW.call_forming(view, event)
  view.info.state = "writing"
  if not view.calls[event.id] then
    call(view, event, "forming")
  end
end

DRAW.message = message

function DRAW.tool_call(view, event)
  view.info.state = "working"
  call(view, event, "running")
end

function DRAW.approval(view, event)
  view.info.state = "waiting"
  local known = view.calls[event.call.id]
  if known then
    known.state = "waiting"
    calls.redraw(view.transcript, known)
  end
  require("koda.approve").show(view)
end

function DRAW.answer(view)
  view.info.state = "working"
  require("koda.approve").show(view)
end

function DRAW.tool_result(view, event)
  call(view, event, event.ok and "ok" or "failed")
end

function DRAW.todo(view, event)
  view.info.tasks = require("koda.chat.tasks").of(event)
end

function DRAW.plan(view, event)
  DRAW.todo(view, event)
  if event.review then
    say(view, "☰ ", ("Plan of %d steps; :Koda plan reviews it"):format(#event.plan.steps), "KodaNotice")
    require("koda.plan").published(event.session, event.text, not view.is_reviving)
  end
end

function DRAW.usage(view, event)
  view.info.input = event.total.input or view.info.input
  view.info.output = event.total.output or view.info.output
  view.info.cost = event.cost and event.cost.session or view.info.cost
end

function DRAW.retry(view, event)
  local text = ("%s; try %d in %.1f s"):format(event.reason, event.attempt + 1, event.wait_ms / 1000)
  say(view, "↻ ", text, "KodaNotice")
  view.info.state, view.info.retry_at = "retrying", vim.uv.now() + event.wait_ms
end

function DRAW.rewound(view, event)
  undone.take(view, event, say)
end

function DRAW.redone(view, event)
  undone.give(view, event, say)
end

function DRAW.note(view, event)
  say(view, "ℹ ", event.text:match("[^\n]*"), "KodaNotice")
end

function DRAW.notice(view, event)
  say(view, "ℹ ", event.text, "KodaNotice")
end

function DRAW.error(view, event)
  view.info.state = "failed"
  say(view, "✗ ", event.error.message, "KodaError")
  if event.error.hint then
    view.transcript:block({ "  " .. event.error.hint }, "KodaHint", true)
  end
end

local ENDS = {
  cancelled = "stopped",
  needs_approval = "something needed an approval and nobody was there",
  step_limit = "the limit of steps was reached",
  budget = "the budget is used up",
}

function DRAW.turn_end(view, event)
  view.transcript:finish()
  view.info.state = event.outcome == "failed" and "failed" or "idle"
  if ENDS[event.outcome] then
    say(view, "■ ", ENDS[event.outcome], "KodaDim")
  end
  require("koda.approve").show(view)
end

--- Ends what a stored session left open: nothing of it runs any more.
---@param view koda.chat.View
function M.settle(view)
  for _, known in pairs(view.calls) do
    if known.state ~= "ok" and known.state ~= "failed" then
      known.state = "failed"
      known.result = { ok = false, text = "interrupted", data = {} }
      calls.redraw(view.transcript, known)
    end
  end
  view.transcript:finish()
  view.info.state = "idle"
  require("koda.approve").show(view)
end

--- Draws an event.
---@param view koda.chat.View
---@param event table
function M.draw(view, event)
  local draw = DRAW[event.type]
  if draw then
    draw(view, event)
  end
end

return M
