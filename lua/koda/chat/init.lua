--- The chat: the conversation of one session, in its windows.
---
--- Events come in batches from `koda.events`; `view` draws them into the transcript whether a window shows
--- it or not, so that hiding and showing lose nothing.

local bar = require("koda.chat.bar")
local calls = require("koda.chat.calls")
local events = require("koda.events")
local keys = require("koda.keys")
local prompt = require("koda.chat.prompt")
local transcript = require("koda.chat.transcript")
local view = require("koda.chat.view")
local window = require("koda.chat.window")

local M = {}

---@type string? the session that is shown
local session

---@type koda.chat.View
local shown

---@type boolean whether text came while the reader was further up
local is_behind = false

local function draw_bar()
  local wins = window.get()
  if wins then
    local text = bar.winbar(shown.info, is_behind)
    if vim.wo[wins.transcript].winbar ~= text then
      vim.wo[wins.transcript].winbar = text
    end
    window.pin(shown.info.tasks)
  end
end

---@type boolean whether the transcript says why Koda does not work
local is_broken = false

--- Returns the running library. Without one the transcript says why, and what to do; later calls try again.
---@return koda.Native?
local function native()
  local lib, problem = require("koda.native").get()
  if not lib then
    is_broken = true
    shown.transcript:say_below("✗ " .. problem.message, problem.hint)
  elseif is_broken then
    is_broken = false
    shown.transcript:set_tail({})
  end
  return lib
end

---@param following integer[]
local function grown(following)
  local wins = window.get()
  if wins then
    is_behind = not vim.tbl_contains(following, wins.transcript)
  else
    is_behind = shown.scroll ~= nil
  end
end

--- Moves the reader to the end, where what they have just sent will be answered.
local function follow()
  shown.scroll, is_behind = nil, false
  local wins = window.get()
  if wins then
    local last = vim.api.nvim_buf_line_count(shown.transcript.buf)
    vim.api.nvim_win_set_cursor(wins.transcript, { last, 0 })
  end
end

--- Makes CTRL-W with a direction lead from one window of the chat to the other: it leaves floats out.
---@param buf integer
---@param direction "j"|"k"
local function map_direction(buf, direction)
  local function go()
    if not window.switch() then
      vim.cmd.wincmd(direction)
    end
  end
  for _, lhs in ipairs({ "<C-w>" .. direction, "<C-w><C-" .. direction .. ">" }) do
    vim.keymap.set("n", lhs, go, { buffer = buf, desc = "Koda: goes to the chat's other window" })
  end
end

--- Sets the keys that transcript and prompt share.
---@param buf integer
local function map(buf)
  map_direction(buf, "j")
  map_direction(buf, "k")
  keys.set(buf, "n", "hide", M.hide)
  keys.set(buf, { "n", "i" }, "stop", M.stop)
  require("koda.approve").map(buf)
end

---@return koda.chat.View
local function fresh()
  local made = view.new(transcript.new())
  made.transcript.on_growth = grown
  local buf = made.transcript.buf
  map(buf)
  local function unfold()
    local call = calls.at(made.transcript, made.calls, vim.api.nvim_win_get_cursor(0)[1] - 1)
    if call then
      calls.toggle(made.transcript, call)
      window.reveal(call.body)
    end
  end
  keys.set(buf, "n", "rewind", function()
    require("koda.chat.rewind").ask(made, vim.api.nvim_win_get_cursor(0)[1] - 1)
  end)
  keys.set(buf, "n", "unfold", unfold, { "za", keys.of("unfold") })
  vim.keymap.set("n", "i", function()
    local wins = window.get()
    if wins then
      vim.api.nvim_set_current_win(wins.prompt)
      vim.cmd.startinsert()
    end
  end, { buffer = buf, desc = "Koda: goes to the prompt" })
  return made
end

--- Draws the conversation anew from what is stored, if its buffer was deleted.
local function revive()
  if vim.api.nvim_buf_is_loaded(shown.transcript.buf) then
    return
  end
  local info = shown.info
  shown = fresh()
  shown.info = info
  local lib = session and native()
  if not lib then
    return
  end
  local reviving = shown
  reviving.is_reviving = true
  lib.events(session, function(stored)
    for _, event in ipairs(stored or {}) do
      view.draw(reviving, event)
    end
    reviving.is_reviving = nil
    draw_bar()
  end)
end

--- Opens the chat's windows and enters the prompt.
function M.open()
  require("koda.highlight").setup()
  revive()
  if window.is_open() then
    return window.open(shown.transcript.buf, 0)
  end
  local config = require("koda.current").get()
  if not session then
    shown.info.model, shown.info.mode, shown.info.trust = config.model or "no model", config.mode, config.trust
  end
  local buf = prompt.buffer(function(text)
    M.send(text)
  end, map)
  window.open(shown.transcript.buf, buf)
  draw_bar()
  if shown.scroll then
    vim.api.nvim_win_call(window.get().transcript, function()
      vim.fn.winrestview(shown.scroll)
    end)
  else
    follow()
  end
  -- After the windows are on the screen: the library takes longer than they.
  vim.schedule(native)
end

--- Looks again whether Koda works, if it did not.
function M.refresh()
  if is_broken then
    native()
  end
end

--- Hides the windows; everything stays.
function M.hide()
  local wins = window.get()
  if wins then
    local at_end = vim.api.nvim_win_get_cursor(wins.transcript)[1] == vim.api.nvim_buf_line_count(shown.transcript.buf)
    shown.scroll = not at_end and vim.api.nvim_win_call(wins.transcript, vim.fn.winsaveview) or nil
    if vim.api.nvim_get_mode().mode:find("^i") and window.has(vim.api.nvim_get_current_win()) then
      vim.cmd.stopinsert()
    end
  end
  window.close()
end

--- Hides the chat where its floats lie over a window that the user asks for.
function M.make_way()
  if window.is_float() then
    M.hide()
  end
end

--- Opens the chat with a text in the prompt that could not be sent.
---@param text string
function M.draft(text)
  M.open()
  prompt.keep(text)
end

--- Opens the chat, or hides it where it is open; from another tab it is brought over.
function M.toggle()
  local wins = window.get()
  if wins and vim.api.nvim_win_get_tabpage(wins.prompt) ~= vim.api.nvim_get_current_tabpage() then
    M.hide()
    M.open()
  elseif wins then
    M.hide()
  else
    M.open()
  end
end

--- Sends a prompt with what it mentions; in the chat's session, which is opened if there is none.
---@param text string
---@param context? string
function M.send(text, context)
  M.open()
  follow()
  local lib = native()
  if not lib then
    return prompt.keep(text)
  end
  local problem
  if not session then
    session, problem = require("koda").open({})
    if not session then
      prompt.keep(text)
      return require("koda.notify").error(problem --[[@as koda.Error]])
    end
  end
  local to = session
  require("koda.chat.outgoing").send(text, context, function(said, with)
    local ok, refused = lib.prompt(to, said, with)
    if not ok then
      prompt.keep(said)
      require("koda.notify").error(refused)
    end
  end)
end

--- Sends a prompt as it stands: what looks like a mention in it is none.
---@param text string
function M.send_plain(text)
  local lib = session and native()
  if lib then
    M.open()
    follow()
    local ok, problem = lib.prompt(session, text)
    if not ok then
      prompt.keep(text)
      require("koda.notify").error(problem)
    end
  end
end

--- Stops the chat's turn.
function M.stop()
  local lib = session and native()
  if lib then
    lib.stop(session)
  end
end

--- Returns the session that the chat shows.
---@return string?
function M.session()
  return session
end

--- Shows another session from now on.
---@param id string
function M.attach(id)
  if session == id then
    return
  end
  session = id
  local was_open = window.is_open()
  M.hide()
  shown, is_behind = fresh(), false
  if was_open then
    M.open()
  end
end

--- Goes on with a stored session: its events are drawn as they were live.
---@param id string
---@return string?
---@return koda.Error?
function M.resume(id)
  local lib, problem = require("koda.native").get()
  if not lib then
    return nil, problem
  end
  if session == id then
    M.open()
    return id
  end
  local ok
  ok, problem = lib.events(id, function(stored, failed)
    local opened, refused
    if not failed then
      opened, refused = require("koda").open({ resume = id })
    end
    if not opened then
      return require("koda.notify").error(failed or refused --[[@as koda.Error]])
    end
    M.attach(id)
    shown.is_reviving = true
    for _, event in ipairs(stored) do
      view.draw(shown, event)
    end
    shown.is_reviving = nil
    view.settle(shown)
    M.open()
  end)
  return ok and id or nil, problem
end

--- The state in a few characters, for a statusline.
---@return string
function M.statusline()
  return session and bar.short(shown.info) or ""
end

---@param batch table[]
local function on_batch(batch)
  revive()
  for _, event in ipairs(batch) do
    if event.session == session then
      -- While what is stored is being drawn, this event comes with it.
      if not shown.is_reviving then
        view.draw(shown, event)
      end
    elseif event.type == "approval" then
      require("koda.approve").elsewhere(event, window.is_open())
    end
  end
  -- What else happens does not end the wait.
  if shown.info.state == "working" and require("koda.approve").waits_in(session) then
    shown.info.state = "waiting"
  end
  if not window.is_open() and shown.info.state == "waiting" and not shown.told then
    require("koda.notify").warn("something waits for your answer: :Koda chat shows it")
  end
  shown.told = shown.info.state == "waiting"
  draw_bar()
  require("koda.chat.countdown").follow(function()
    return shown.info
  end, draw_bar)
end

shown = fresh()
events.on_batch(on_batch)

local group = vim.api.nvim_create_augroup("koda.chat", { clear = true })
vim.api.nvim_create_autocmd({ "VimResized", "WinResized" }, { group = group, desc = "Koda: fits the chat", callback = window.fit })
vim.api.nvim_create_autocmd("BufEnter", {
  group = group,
  desc = "Koda: notes which file @buffer and @selection mean",
  callback = function(args)
    require("koda.mention.sources").visit(args.buf)
  end,
})
require("koda.mention.sources").visit(vim.api.nvim_get_current_buf())
vim.api.nvim_create_autocmd("WinClosed", {
  group = group,
  desc = "Koda: closes the chat's other window",
  callback = function(args)
    if window.has(tonumber(args.match) --[[@as integer]]) then
      vim.schedule(window.close)
    end
  end,
})
vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved" }, {
  group = group,
  desc = "Koda: notes that the reader is at the end again",
  callback = function()
    local wins = is_behind and window.get()
    if wins and vim.api.nvim_win_get_cursor(wins.transcript)[1] == vim.api.nvim_buf_line_count(shown.transcript.buf) then
      is_behind = false
      draw_bar()
    end
  end,
})

return M
