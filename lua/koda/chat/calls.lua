--- Tool calls in the transcript: one line each, with what they were asked and what came of it; unfolded on
--- demand.

local describe = require("koda.describe")

local M = {}

local NS = vim.api.nvim_create_namespace("koda.chat.calls")

--- Lines of a result that an unfolded call shows: as many as a model gets.
local MAX_BODY = 2000

--- Bytes of an argument in the call's line.
local MAX_ARGUMENT = 70

local ICONS = {
  forming = { "…", "KodaRunning" },
  running = { "●", "KodaRunning" },
  waiting = { "?", "KodaWaiting" },
  ok = { "✓", "KodaDone" },
  failed = { "✗", "KodaFailed" },
}

---@class koda.chat.Call
---@field id string
---@field tool string
---@field state "forming"|"running"|"waiting"|"ok"|"failed"
---@field args? table
---@field result? table the event `tool_result`
---@field mark integer extmark of its line
---@field body integer rows shown below its line

---@param text any
---@return string
local function one_line(text)
  text = tostring(text):gsub("%s+", " ")
  if #text > MAX_ARGUMENT then
    text = vim.fn.strcharpart(text, 0, MAX_ARGUMENT - 1) .. "…"
  end
  return text
end

--- The argument that says most about a call.
---@param call koda.chat.Call
---@return string
function M.argument(call)
  local args = type(call.args) == "table" and call.args or {}
  local main = describe.call(call.tool, args)
  if main ~= "" then
    return one_line(main)
  end
  for _, name in ipairs({ "command", "path", "file_path", "pattern", "question", "thought" }) do
    if type(args[name]) == "string" then
      return one_line(args[name])
    end
  end
  return ""
end

--- What came of a call, in a few words.
---@param call koda.chat.Call
---@return string
local function gist(call)
  local result = call.result
  if not result then
    return ""
  end
  local data = result.data or {}
  if data.exit_code or data.signal then
    local how = data.exit_code and ("exit %d"):format(data.exit_code) or data.signal
    return (" · %s · %.1f s"):format(how, (data.duration_ms or 0) / 1000)
  end
  if data.state and data.state ~= "done" then
    return " · " .. data.state
  end
  if data.rejected == true then
    return " · " .. one_line(type(data.reason) == "string" and "rejected: " .. data.reason or "rejected")
  end
  if type(data.answer) == "string" then
    return " · " .. one_line(data.answer)
  end
  local outcome = describe.result({ tool = call.tool, ok = result.ok, text = result.text, data = data })
  return outcome == "" and "" or " · " .. one_line(outcome)
end

---@param call koda.chat.Call
---@return string line
---@return koda.chat.Span[]
local function render(call)
  local state = call.state
  local data = call.result and call.result.data or {}
  if state == "ok" and data.exit_code and data.exit_code ~= 0 then
    state = "failed"
  end
  local icon = ICONS[state]
  local argument, came = M.argument(call), gist(call)
  local head = icon[1] .. " " .. call.tool
  local middle = argument ~= "" and " " .. argument or ""
  local spans = {
    { 0, #icon[1], icon[2] },
    { #icon[1] + 1, #head, "KodaTool" },
    { #head, #head + #middle, "KodaToolArg" },
    { #head + #middle, #head + #middle + #came, "KodaToolGist" },
  }
  return head .. middle .. came, spans
end

---@param transcript koda.chat.Transcript
---@param call koda.chat.Call
---@return integer row
local function row_of(transcript, call)
  return vim.api.nvim_buf_get_extmark_by_id(transcript.buf, NS, call.mark, {})[1]
end

--- Draws a call's line anew.
---@param transcript koda.chat.Transcript
---@param call koda.chat.Call
function M.redraw(transcript, call)
  local row = row_of(transcript, call)
  local line, spans = render(call)
  local old = vim.api.nvim_buf_get_lines(transcript.buf, row, row + 1, false)[1]
  if old == line then
    return
  end
  local base = require("koda.chat.transcript").NS
  transcript:change(function()
    vim.api.nvim_buf_clear_namespace(transcript.buf, base, row, row + 1)
    vim.api.nvim_buf_set_text(transcript.buf, row, 0, row, #old, { line })
    transcript:spans(row, spans)
  end)
end

--- Adds a call's line.
---@param transcript koda.chat.Transcript
---@param call koda.chat.Call without its mark
---@param tight boolean whether it follows another call
function M.add(transcript, call, tight)
  local line, spans = render(call)
  local row = transcript:block({ line }, nil, tight)
  transcript:spans(row, spans)
  call.body = 0
  call.mark = vim.api.nvim_buf_set_extmark(transcript.buf, NS, row, 0, {})
end

---@param lines string[]
---@param text string
local function add_text(lines, text)
  local all = vim.split(text:gsub("\n$", ""), "\n", { plain = true })
  for index, line in ipairs(all) do
    if index > MAX_BODY then
      lines[#lines + 1] = ("  … %d more lines"):format(#all - MAX_BODY)
      return
    end
    lines[#lines + 1] = "  " .. line
  end
end

--- Adds arguments as a person reads them: texts as they stand, line by line.
---@param lines string[]
---@param args table
local function add_arguments(lines, args)
  for name, value in vim.spairs(args) do
    if type(value) == "string" and value:find("\n", 1, true) then
      lines[#lines + 1] = ("  %s:"):format(name)
      add_text(lines, "  " .. value:gsub("\n$", ""):gsub("\n", "\n  "))
    else
      add_text(lines, ("%s: %s"):format(name, type(value) == "string" and value or vim.inspect(value)))
    end
  end
end

---@param call koda.chat.Call
---@return string[]
local function body_of(call)
  local lines = {}
  local args = type(call.args) == "table" and call.args or {}
  if args.command then
    add_text(lines, "$ " .. args.command)
  end
  local data = call.result and call.result.data or {}
  if data.diff then
    add_text(lines, data.diff)
    return lines
  end
  if not args.command then
    add_arguments(lines, args)
  end
  if call.result then
    add_text(lines, call.result.text)
  end
  return lines
end

---@param line string
---@return string
local function body_group(line)
  local sign = line:sub(3, 3)
  if sign == "+" then
    return "KodaAdded"
  elseif sign == "-" then
    return "KodaRemoved"
  elseif line:find("^  @@") then
    return "KodaHunk"
  end
  return "KodaToolBody"
end

--- Shows or hides what stands behind a call's line.
---@param transcript koda.chat.Transcript
---@param call koda.chat.Call
function M.toggle(transcript, call)
  local row = row_of(transcript, call)
  if call.body > 0 then
    transcript:replace(row + 1, row + 1 + call.body, {})
    call.body = 0
    return
  end
  local lines = body_of(call)
  transcript:replace(row + 1, row + 1, lines)
  call.body = #lines
  local is_diff = call.result and call.result.data and call.result.data.diff
  local from, group = row + 1, nil
  for index, line in ipairs(lines) do
    local of_line = is_diff and body_group(line) or "KodaToolBody"
    if group and of_line ~= group then
      transcript:paint_block(from, row + index, group)
      from = row + index
    end
    group = of_line
  end
  if group then
    transcript:paint_block(from, row + 1 + #lines, group)
  end
end

--- Finds the call at a row: its line or what is shown below.
---@param transcript koda.chat.Transcript
---@param calls table<string, koda.chat.Call>
---@param row integer
---@return koda.chat.Call?
function M.at(transcript, calls, row)
  for _, call in pairs(calls) do
    local first = row_of(transcript, call)
    if row >= first and row <= first + call.body then
      return call
    end
  end
end

return M
