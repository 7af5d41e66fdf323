--- The card of an approval or a question: everything that will run, visible to the last character.

local keys = require("koda.keys")

local M = {}

--- Characters that would hide or turn around what stands there: shown by their number.
local HIDDEN = {
  { 0x200B, 0x200F }, { 0x202A, 0x202E }, { 0x2060, 0x2064 }, { 0x2066, 0x206F }, { 0xFEFF, 0xFEFF },
  { 0x00AD, 0x00AD }, { 0x061C, 0x061C }, { 0x180E, 0x180E }, { 0xFE00, 0xFE0F }, { 0xE0000, 0xE0FFF },
}

---@param code integer
---@return boolean
local function is_hidden(code)
  if code < 32 or code == 127 or (code >= 0x80 and code < 0xA0) then
    return true
  end
  for _, range in ipairs(HIDDEN) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

--- Makes every character of a line visible.
---@param line string
---@return string
function M.visible(line)
  if not line:find("[%c\128-\255]") then
    return line
  end
  local out = {}
  for _, char in ipairs(vim.fn.split(line, "\\zs")) do
    local code = vim.fn.char2nr(char)
    if char == "\t" then
      out[#out + 1] = "→\t"
    elseif is_hidden(code) then
      out[#out + 1] = ("<U+%04X>"):format(code)
    else
      out[#out + 1] = char
    end
  end
  return table.concat(out)
end

--- A card as it grows.
---@class koda.approve.Card
---@field lines string[]
---@field spans table[] row, first byte, byte after the last, group

---@param card koda.approve.Card
---@param line string
---@param group? string of the whole line
local function add_line(card, line, group)
  card.lines[#card.lines + 1] = line
  if group then
    card.spans[#card.spans + 1] = { #card.lines - 1, 0, #line, group }
  end
end

--- Adds a text, all of it: what can't be read must not be accepted.
---@param card koda.approve.Card
---@param text string
---@param group? string
local function add(card, text, group)
  for line in vim.gsplit(text, "\n", { plain = true }) do
    local shown = M.visible(line)
    add_line(card, "    " .. shown, group)
    if shown ~= line then
      for first, after in shown:gmatch("()<U%+%x+>()") do
        card.spans[#card.spans + 1] = { #card.lines - 1, first + 3, after + 3, "KodaInvisible" }
      end
    end
  end
end

---@param card koda.approve.Card
---@param sign string
---@param text string
---@param group string
---@param note? string
local function add_side(card, sign, text, group, note)
  local shown = sign .. text:gsub("\n$", ""):gsub("\n", "\n" .. sign)
  add(card, shown .. (note or ""), group)
end

--- Arguments that have a form of their own on the card.
local SHOWN = { command = true, path = true, edits = true, content = true }

---@param card koda.approve.Card
---@param args table
local function add_call(card, args)
  if args.command then
    add(card, args.command)
  end
  if args.path then
    add(card, args.path)
  end
  for _, edit in ipairs(args.edits or {}) do
    local all = (edit.all or edit.replace_all) and "  (all occurrences)" or nil
    add_side(card, "- ", edit.old or edit.old_string or "", "KodaRemoved")
    add_side(card, "+ ", edit.new or edit.new_string or "", "KodaAdded", all)
  end
  if args.content then
    add_side(card, "+ ", args.content, "KodaAdded")
  end
  for name, value in vim.spairs(args) do
    if not SHOWN[name] then
      add(card, ("%s: %s"):format(name, type(value) == "string" and value or vim.inspect(value)))
    end
  end
end

---@param card koda.approve.Card
---@param verdict koda.Verdict
local function add_reasons(card, verdict)
  for _, reason in ipairs(verdict.reasons or {}) do
    add_line(card, "  · " .. M.visible(reason), "KodaHint")
  end
  for _, part in ipairs(#(verdict.parts or {}) > 1 and verdict.parts or {}) do
    local class = part.class
    add_line(card, ("  %s: %s (%s)"):format(class, M.visible((part.text:gsub("\n", " "))), part.reason))
    local group = "KodaClass" .. class:sub(1, 1):upper() .. class:sub(2)
    card.spans[#card.spans + 1] = { #card.lines - 1, 2, 2 + #class, group }
  end
end

--- The keys of a card, by its lines.
local KEYS = {
  approval = {
    { { "accept", "accept once" }, { "accept_session", "accept for this session" } },
    { { "reject", "reject" }, { "reject_reason", "reject with a reason" } },
  },
  -- What nobody may accept for longer than once.
  once = { { { "accept", "accept once" }, { "reject", "reject" }, { "reject_reason", "reject with a reason" } } },
  question = { { { "accept", "answer" }, { "reject", "don't answer" } } },
}

--- What a card says beside its ask.
---@class koda.approve.Place
---@field index integer which it is of those that wait, from 1
---@field count integer how many wait
---@field is_foreign boolean whether another session than the chat's asks
---@field is_armed boolean whether the keys answer already
---@field ticked? table<integer, true> the options that were chosen so far

---@param place koda.approve.Place
---@return string
local function beside(place)
  local notes = {}
  if place.is_foreign then
    notes[#notes + 1] = "in another session"
  end
  if place.count > 1 then
    notes[#notes + 1] = ("%d of %d, %s next"):format(place.index, place.count, keys.of("next_ask") or "no key for the")
  end
  return #notes > 0 and (" (%s)"):format(table.concat(notes, ", ")) or ""
end

---@param card koda.approve.Card
---@param ask koda.Ask
---@param note string
---@param ticked table<integer, true>
local function add_question(card, ask, note, ticked)
  add_line(card, "  ? " .. M.visible((tostring(ask.call.args.question):gsub("\n", " "))) .. note)
  for number, option in ipairs(ask.call.args.options or {}) do
    local box = ask.call.args.multiple and (ticked[number] and "[x] " or "[ ] ") or ""
    add_line(card, ("    %d. %s%s"):format(number, box, M.visible((tostring(option):gsub("\n", " ")))))
  end
end

---@param card koda.approve.Card
---@param always string what an acceptance for the project would allow
local function add_project(card, always)
  local key = keys.of("accept_project")
  local accept = key and ("[%s] accept"):format(key) or "Accept"
  add_line(card, ("  %s for this project from now on: %s"):format(accept, M.visible(always)), "KodaAskKey")
end

--- Says how options are chosen, if there are any.
---@param ask koda.Ask
---@return string
function M.choice_hint(ask)
  local count = ask.kind == "question" and #(ask.call.args.options or {}) or 0
  if count == 0 then
    return ""
  end
  local digits = count == 1 and "1" or ("1-%d"):format(count)
  return ("[%s] %s  "):format(digits, ask.call.args.multiple and "tick" or "choose")
end

---@param card koda.approve.Card
---@param ask koda.Ask
---@param is_armed boolean
local function add_keys(card, ask, is_armed)
  local always = ask.kind == "approval" and ask.verdict.always
  local rows = KEYS[(ask.kind == "approval" and not always) and "once" or ask.kind]
  for index, row in ipairs(rows) do
    local hint = M.choice_hint(ask) .. keys.hint(row, "[%s] %s", "  ")
    if index == #rows then
      hint = hint .. "  (in the prompt: with Alt)"
    end
    add_line(card, "  " .. (is_armed and hint or "…"), "KodaAskKey")
    if index == 1 and always then
      add_project(card, always)
    end
  end
end

--- Draws the card of what waits.
---@param ask koda.Ask
---@param place koda.approve.Place
---@return string[] lines
---@return table[] spans row, first byte, byte after the last, group
function M.card(ask, place)
  ---@type koda.approve.Card
  local card = { lines = { "" }, spans = {} }
  if ask.kind == "question" then
    add_question(card, ask, beside(place), place.ticked or {})
  else
    add_line(card, ("  ? %s wants to run%s"):format(ask.call.tool, beside(place)), "KodaWaiting")
    add_call(card, type(ask.call.args) == "table" and ask.call.args or {})
    add_reasons(card, ask.verdict)
  end
  add_keys(card, ask, place.is_armed)
  return card.lines, card.spans
end

return M
