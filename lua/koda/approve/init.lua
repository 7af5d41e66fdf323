--- Approvals and questions: the card below the transcript, and the keys that answer it.
---
--- No key that people press by habit accepts anything: Enter does nothing here.

local keys = require("koda.keys")
local show = require("koda.approve.show")

local M = {}

---@type koda.Ask[] what waits, oldest first
local waiting = {}

---@type integer which of them the card shows
local index = 1

---@type koda.chat.View?
local view

local function draw()
  if not view then
    return
  end
  local ask = waiting[index]
  if not ask then
    return view.transcript:set_tail({})
  end
  local lines, spans = show.card(ask, index, #waiting)
  local shown = view.transcript
  shown:set_tail(lines, function(row)
    shown:paint(row, row + #lines, "KodaAsk")
    for _, span in ipairs(spans) do
      shown:spans(row + span[1], { { span[2], span[3], span[4] } })
    end
  end)
end

--- Shows what waits now.
---@param of koda.chat.View
function M.show(of)
  view = of
  waiting = require("koda").pending()
  index = math.max(math.min(index, #waiting), 1)
  draw()
end

--- Tells of something that waits in a session which no chat shows; `koda.answer` is there for it.
---@param event table
function M.elsewhere(event)
  if view then
    M.show(view)
  end
  if not package.loaded["koda.chat"] then
    require("koda.notify").warn(("%s waits for an answer"):format(event.call.tool))
  end
end

---@param answer koda.Answer
local function answer(answer)
  local ask = waiting[index]
  if not ask then
    return require("koda.notify").info("nothing waits for an answer")
  end
  local ok, problem = require("koda").answer(ask.id, answer)
  if not ok then
    require("koda.notify").error(problem --[[@as koda.Error]])
  end
  if view then
    M.show(view)
  end
end

--- Asks for a text; leaving it changes nothing.
---@param label string
---@param use fun(text: string)
local function with_text(label, use)
  vim.ui.input({ prompt = label }, function(text)
    if text and text ~= "" then
      use(text)
    end
  end)
end

--- Accepts what the card shows; a question is answered.
---@param scope "once"|"session"
local function accept(scope)
  local ask = waiting[index]
  if ask and ask.kind == "question" then
    return M.reply()
  end
  answer({ decision = "accept", scope = scope })
end

--- Answers a question: by choice where it has options.
function M.reply()
  local ask = waiting[index]
  if not ask or ask.kind ~= "question" then
    return
  end
  local options = ask.call.args.options or {}
  if #options == 0 then
    return with_text(ask.call.args.question .. " ", function(text)
      answer({ decision = "accept", text = text })
    end)
  end
  local own = "(another answer)"
  vim.ui.select(vim.list_extend(vim.deepcopy(options), { own }), { prompt = ask.call.args.question }, function(chosen)
    if chosen == own then
      with_text(ask.call.args.question .. " ", function(text)
        answer({ decision = "accept", text = text })
      end)
    elseif chosen then
      answer({ decision = "accept", text = chosen })
    end
  end)
end

local function reject_with_reason()
  with_text("Why not? ", function(reason)
    answer({ decision = "reject", reason = reason })
  end)
end

--- Shows another of what waits.
---@param by integer
local function step(by)
  if #waiting > 0 then
    index = (index - 1 + by) % #waiting + 1
    draw()
  end
end

--- Sets the keys of the card in one of the chat's buffers: plain in the transcript, with Alt in both.
---@param buf integer
function M.map(buf)
  local actions = {
    accept = function() accept("once") end,
    accept_session = function() accept("session") end,
    reject = function() answer({ decision = "reject" }) end,
    reject_reason = reject_with_reason,
    next_ask = function() step(1) end,
    previous_ask = function() step(-1) end,
  }
  local is_transcript = vim.bo[buf].filetype == "koda"
  for name, act in pairs(actions) do
    keys.set(buf, { "n", "i" }, name, act, { keys.while_typing(name) })
    if is_transcript then
      keys.set(buf, "n", name, act)
    end
  end
end

return M
