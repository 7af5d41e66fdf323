--- Approvals and questions: the card below the transcript, and the keys that answer it.
---
--- No key that people press by habit accepts anything: Enter does nothing here. A key answers only the card
--- that stood there long enough to be seen.

local keys = require("koda.keys")
local show = require("koda.approve.show")

local M = {}

--- How long a card stands before its keys answer, in milliseconds: what was being typed when it appeared must
--- not answer it.
local ARM_MS = 300

---@type koda.Ask[] what waits: the chat's own session first, each oldest first
local waiting = {}

---@type string? which of them the card shows
local shown

---@type string? which of them the keys answer
local armed

---@type table<string, table<integer, true>> by ask: options of a question that were ticked
local ticked = {}

---@type koda.chat.View?
local view

---@return koda.Ask?
---@return integer index in `waiting`
local function find(id)
  for index, ask in ipairs(waiting) do
    if ask.id == id then
      return ask, index
    end
  end
  return nil, 1
end

local function draw()
  if not view then
    return
  end
  local ask, index = find(shown)
  if not ask then
    return view.transcript:set_tail({})
  end
  local lines, spans = show.card(ask, {
    index = index,
    count = #waiting,
    is_foreign = ask.session ~= require("koda.chat").session(),
    is_armed = armed == ask.id,
    ticked = ticked[ask.id],
  })
  local transcript = view.transcript
  transcript:set_tail(lines, function(row)
    transcript:paint(row, row + #lines, "KodaAsk")
    for _, span in ipairs(spans) do
      transcript:spans(row + span[1], { { span[2], span[3], span[4] } })
    end
  end)
end

--- Draws another card, whose keys answer a moment later.
---@param id? string
local function present(id)
  shown, armed = id, nil
  draw()
  if not id then
    return
  end
  vim.defer_fn(function()
    if shown == id and armed ~= id then
      armed = id
      draw()
    end
  end, ARM_MS)
end

--- The asks in the order of the card's queue.
---@param asks koda.Ask[]
---@return koda.Ask[]
local function own_first(asks)
  local session = require("koda.chat").session()
  local own, foreign = {}, {}
  for _, ask in ipairs(asks) do
    table.insert(ask.session == session and own or foreign, ask)
  end
  return vim.list_extend(own, foreign)
end

--- Shows what waits now. What the card showed stays there while it waits.
---@param of koda.chat.View
function M.show(of)
  local is_new = view ~= of
  view = of
  waiting = own_first(require("koda").pending())
  for id in pairs(ticked) do
    ticked[id] = find(id) and ticked[id]
  end
  local ask = find(shown)
  if not ask then
    present(waiting[1] and waiting[1].id)
  elseif is_new then
    present(shown)
  else
    draw()
  end
end

--- Whether something of a session waits, as far as its events have come.
---@param session? string
---@return boolean
function M.waits_in(session)
  for _, ask in ipairs(waiting) do
    if ask.session == session then
      return true
    end
  end
  return false
end

--- Tells of something that waits in a session which the chat does not show.
---@param event table
---@param is_seen boolean whether the chat's windows are open
function M.elsewhere(event, is_seen)
  if view then
    M.show(view)
  end
  if not (view and is_seen) then
    require("koda.notify").warn(("%s waits for an answer: :Koda chat shows it"):format(event.call.tool))
  end
end

--- The ask that keys answer now.
---@return koda.Ask?
local function current()
  local ask = find(armed)
  if not ask and #waiting == 0 then
    require("koda.notify").info("nothing waits for an answer")
  end
  return ask
end

---@param ask koda.Ask
---@param reply koda.Answer
local function answer(ask, reply)
  local ok, problem = require("koda").answer(ask.id, reply)
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

--- The ticked options of a question, a line each.
---@param ask koda.Ask
---@return string?
local function chosen_of(ask)
  local chosen = {}
  for number, option in ipairs(ask.call.args.options) do
    if (ticked[ask.id] or {})[number] then
      chosen[#chosen + 1] = option
    end
  end
  return chosen[1] and table.concat(chosen, "\n")
end

--- Chooses an option of the question that the card shows; ticks it where several may be chosen.
---@param number integer
---@return boolean # false if there is no such option
local function choose(number)
  local ask = find(armed)
  local option = ask and ask.kind == "question" and (ask.call.args.options or {})[number]
  if not ask or not option then
    return false
  end
  if not ask.call.args.multiple then
    answer(ask, { decision = "accept", text = option })
    return true
  end
  local of = ticked[ask.id] or {}
  ticked[ask.id] = of
  of[number] = not of[number] or nil
  draw()
  return true
end

--- Sets the keys of options: digits in the transcript, with Alt in both buffers.
---@param buf integer
local function map_digits(buf)
  for number = 1, 9 do
    local function act()
      if not choose(number) then
        require("koda.notify").info("no question has an option of this number")
      end
    end
    vim.keymap.set({ "n", "i" }, ("<M-%d>"):format(number), act, { buffer = buf, desc = "Koda: chooses an option" })
    if vim.bo[buf].filetype == "koda" then
      vim.keymap.set("n", tostring(number), function()
        -- Without a question it counts, as ever.
        if vim.v.count > 0 or not choose(number) then
          vim.api.nvim_feedkeys((vim.v.count > 0 and vim.v.count or "") .. tostring(number), "n", false)
        end
      end, { buffer = buf, nowait = true, desc = "Koda: chooses an option of a question" })
    end
  end
end

--- Answers a question: by choice where it has options.
---@param ask koda.Ask
local function reply(ask)
  local question = ask.call.args.question
  local function accept(text)
    answer(ask, { decision = "accept", text = text })
  end
  local options = ask.call.args.options or {}
  if #options == 0 then
    return with_text(question .. " ", accept)
  elseif ask.call.args.multiple then
    local chosen = chosen_of(ask)
    if chosen then
      return accept(chosen)
    end
    return with_text(question .. " ", accept)
  end
  local own = "(another answer)"
  vim.ui.select(vim.list_extend(vim.deepcopy(options), { own }), { prompt = question }, function(chosen)
    if chosen == own then
      with_text(question .. " ", accept)
    elseif chosen then
      accept(chosen)
    end
  end)
end

--- Accepts what the card shows; a question is answered.
---@param ask koda.Ask
---@param scope "once"|"session"|"project"
local function accept(ask, scope)
  if ask.kind == "question" then
    return reply(ask)
  end
  answer(ask, { decision = "accept", scope = scope })
end

---@param ask koda.Ask
local function reject_with_reason(ask)
  with_text("Why not? ", function(reason)
    answer(ask, { decision = "reject", reason = reason })
  end)
end

--- Shows another of what waits; whoever turns the pages looks at them.
---@param by integer
local function step(by)
  if #waiting > 1 then
    local _, index = find(shown)
    present(waiting[(index - 1 + by) % #waiting + 1].id)
  end
end

--- Makes a key's function of one that answers an ask.
---@param act fun(ask: koda.Ask)
---@return fun()
local function on_current(act)
  return function()
    local ask = current()
    if ask then
      act(ask)
    end
  end
end

--- Sets the keys of the card in one of the chat's buffers: plain in the transcript, with Alt in both.
---@param buf integer
function M.map(buf)
  local actions = {
    accept = on_current(function(ask) accept(ask, "once") end),
    accept_project = on_current(function(ask)
      if not ask.verdict.always then
        return require("koda.notify").info("this can't be accepted for longer than once")
      end
      accept(ask, "project")
    end),
    accept_session = on_current(function(ask) accept(ask, "session") end),
    reject = on_current(function(ask) answer(ask, { decision = "reject" }) end),
    reject_reason = on_current(reject_with_reason),
    next_ask = function() step(1) end,
    previous_ask = function() step(-1) end,
  }
  map_digits(buf)
  local is_transcript = vim.bo[buf].filetype == "koda"
  for name, act in pairs(actions) do
    keys.set(buf, { "n", "i" }, name, act, { keys.while_typing(name) })
    if is_transcript then
      keys.set(buf, "n", name, act)
    end
  end
end

return M
