--- Markdown of one line, as spans to highlight; pure and linear in the line's length.
---
--- No parser of whole documents: a reply only ever grows at its end, so that each line is looked at once. What
--- spans lines is only the code block, which `koda.chat.fence` follows.

local M = {}

--- A highlighted range of a line, in bytes from 0, the end not included.
---@class koda.chat.Span
---@field [1] integer
---@field [2] integer
---@field [3] string highlight group

--- Bytes of a line that are searched for inline marks; what follows stays plain.
local MAX_INLINE = 2048

---@type table<string, string> the group that each emphasis run gives
local EMPHASIS = { ["**"] = "KodaBold", ["__"] = "KodaBold", ["*"] = "KodaItalic", ["_"] = "KodaItalic", ["~~"] = "KodaStrike" }

--- A line being searched, with what is known not to come any more.
---@class koda.chat.Scan
---@field line string
---@field spans koda.chat.Span[]
---@field missing table<string, boolean> delimiters without a further closer
---@field closers table<integer, integer> where a closer stands → its length

---@param scan koda.chat.Scan
---@param at integer where a run of backticks begins, from 1
---@return integer # where to go on
local function code(scan, at)
  local _, run_end = scan.line:find("^`+", at)
  local run = scan.line:sub(at, run_end)
  local from = run_end + 1
  while not scan.missing[run] do
    local first, last = scan.line:find("`+", from)
    if not first then
      break
    end
    if last - first == run_end - at then
      scan.spans[#scan.spans + 1] = { at - 1, last, "KodaCodeInline" }
      return last + 1
    end
    from = last + 1
  end
  scan.missing[run] = true
  return run_end + 1
end

---@param scan koda.chat.Scan
---@param delimiter string
---@param from integer
---@return integer? # where the closing delimiter begins
local function closer(scan, delimiter, from)
  local at = from
  while true do
    local first, last = scan.line:find(delimiter, at, true)
    if not first then
      scan.missing[delimiter] = true
      return nil
    end
    local before, after = scan.line:sub(first - 1, first - 1), scan.line:sub(last + 1, last + 1)
    local inner = #delimiter == 1 and (before == delimiter or after == delimiter)
    local in_word = delimiter:find("_", 1, true) and after:find("%w")
    if not before:find("%s") and not inner and not in_word and first > from then
      return first
    end
    at = inner and last + 2 or last + 1
  end
end

---@param scan koda.chat.Scan
---@param at integer
---@return integer # where to go on
local function emphasis(scan, at)
  if scan.closers[at] then
    return at + scan.closers[at]
  end
  local char = scan.line:sub(at, at)
  local double = scan.line:sub(at + 1, at + 1) == char
  local delimiter = double and char .. char or char
  local group, from = EMPHASIS[delimiter], at + #delimiter
  local opens = group and scan.line:find("^%S", from)
  if opens and char == "_" and at > 1 and scan.line:find("^%w", at - 1) then
    opens = nil
  end
  if not opens or scan.missing[delimiter] then
    return from
  end
  local closing = closer(scan, delimiter, from)
  if closing then
    scan.closers[closing] = #delimiter
    scan.spans[#scan.spans + 1] = { at - 1, closing + #delimiter - 1, group }
  end
  -- Goes on inside, since emphasis holds code and other emphasis.
  return from
end

---@param scan koda.chat.Scan
---@param at integer
---@return integer # where to go on
local function link(scan, at)
  local label_end = not scan.missing["]("] and scan.line:find("](", at, true)
  if not label_end then
    scan.missing["]("] = true
    return at + 1
  end
  local close = scan.line:find(")", label_end, true)
  local inner = scan.line:find("[", at + 1, true)
  if not close or (inner and inner < label_end) then
    return at + 1
  end
  scan.spans[#scan.spans + 1] = { at - 1, close, "KodaLink" }
  return close + 1
end

---@param line string
---@param spans koda.chat.Span[]
---@param from integer
local function inline(line, spans, from)
  local scan = { line = line:sub(1, MAX_INLINE), spans = spans, missing = {}, closers = {} }
  local at = scan.line:find("[`*_~%[\\]", from)
  while at do
    local char = scan.line:sub(at, at)
    local next_at
    if char == "`" then
      next_at = code(scan, at)
    elseif char == "[" then
      next_at = link(scan, at)
    elseif char == "\\" then
      next_at = at + 2
    else
      next_at = emphasis(scan, at)
    end
    at = scan.line:find("[`*_~%[\\]", next_at)
  end
end

---@param line string
---@return koda.chat.Span[]? # if the line is one thing as a whole
local function whole(line)
  if line:find("^ ? ? ?#+%s") and not line:find("^%s*#######") then
    return { { 0, #line, "KodaHeading" } }
  end
  local rule = line:match("^%s*([-*_])[-*_%s]+$")
  if rule and select(2, line:gsub("%" .. rule, "")) >= 3 and not line:find("[^%s%" .. rule .. "]") then
    return { { 0, #line, "KodaRule" } }
  end
  if line:find("^%s*|?[%s:|-]*%-%-[%s:|-]*$") and line:find("|", 1, true) then
    return { { 0, #line, "KodaRule" } }
  end
end

--- Finds what to highlight in a line that is not code.
---@param line string without its end
---@return koda.chat.Span[]
function M.spans(line)
  if not line:find("[`*_~%[#>|%d+-]") then
    return {}
  end
  local found = whole(line)
  if found then
    return found
  end
  local spans, from = {}, 1
  local _, quote_end = line:find("^%s*>[%s>]*")
  if quote_end then
    spans[1] = { 0, #line, "KodaQuote" }
    from = quote_end + 1
  else
    local first, last = line:match("^%s*()[-*+]()%s")
    if not first then
      first, last = line:match("^%s*()%d+[.)]()%s")
    end
    if first then
      spans[1] = { first - 1, last - 1, "KodaListMark" }
      from = last
    end
  end
  inline(line, spans, from)
  return spans
end

return M
