--- Events as a person would like to read them; pure: what it returns is to be printed.

local describe = require("koda.describe")

---@class koda.headless.Printer
---@field private colour boolean
---@field private at_start boolean whether the last text ended its line
---@field private kind? string what was printed last: blocks of different kinds stand apart
---@field private open? string the call whose title was printed last
---@field private calls table<string, koda.Event> calls without a result yet
---@field private usage? koda.Usage
local Printer = {}
Printer.__index = Printer

local STYLES = { bold = 1, dim = 2, red = 31, green = 32, yellow = 33, cyan = 36 }

--- Lines of a command's output that are shown, the last ones.
local OUTPUT_LINES = 12

local DIFF_LINES = 60

---@param colour boolean
---@return koda.headless.Printer
function Printer.new(colour)
  return setmetatable({ colour = colour, at_start = true, calls = {} }, Printer)
end

---@private
---@param style string
---@param text string
---@return string
function Printer:style(style, text)
  return self.colour and ("\27[%dm%s\27[0m"):format(STYLES[style], text) or text
end

---@private
---@param kind string
---@return string # what parts this block from the last
function Printer:begin(kind)
  local parts = ""
  if self.kind and self.kind ~= kind then
    parts = self.at_start and "\n" or "\n\n"
  elseif not self.at_start then
    parts = kind == "text" and "" or "\n"
  end
  self.kind = kind
  return parts
end

---@private
---@param kind string
---@param lines string[]
---@return string
function Printer:lines(kind, lines)
  local text = self:begin(kind) .. table.concat(lines, "\n") .. "\n"
  self.at_start = true
  return text
end

---@private
---@param text string
---@param style? string
---@return string
function Printer:delta(text, style)
  text = describe.harmless(text)
  local begun = self:begin(style and "reasoning" or "text")
  if text == "" then
    return begun
  end
  self.at_start = text:sub(-1) == "\n"
  return begun .. (style and self:style(style, text) or text)
end

---@private
---@param event koda.Event
---@param mark string
---@param style string
---@return string
function Printer:title(event, mark, style)
  local about = describe.call(event.tool, event.args)
  local lines = vim.split(about, "\n", { plain = true })
  -- A command speaks for itself, and goes on in lines of its own.
  local title = event.tool == "Bash" and ("%s %s"):format(self:style(style, mark), self:style("bold", lines[1]))
    or ("%s %s  %s"):format(self:style(style, mark), self:style("bold", event.tool), lines[1])
  for index = 2, #lines do
    title = title .. "\n  " .. self:style("bold", lines[index])
  end
  return (title:gsub("%s+$", ""))
end

---@private
---@param text string
---@return string[]
function Printer:diff(text)
  local shown, lines = {}, vim.split(vim.trim(describe.harmless(text)), "\n", { plain = true })
  for index, line in ipairs(lines) do
    local first = line:sub(1, 1)
    if index > DIFF_LINES then
      shown[#shown + 1] = "    " .. self:style("dim", ("… %d lines more"):format(#lines - DIFF_LINES))
      break
    elseif not line:find("^%-%-%- ") and not line:find("^%+%+%+ ") then
      local style = first == "+" and "green" or first == "-" and "red" or first == "@" and "cyan" or nil
      shown[#shown + 1] = "    " .. (style and self:style(style, line) or line)
    end
  end
  return shown
end

---@private
---@param text string
---@return string[]
function Printer:output(text)
  -- The exit code is said in a line of its own, and blank lines only push out what is worth seeing.
  text = describe.harmless(text):gsub("%[exit code %d+%]%s*$", ""):gsub("\n%s*\n", "\n")
  local lines = vim.split(vim.trim(text), "\n", { plain = true, trimempty = true })
  local shown = {}
  local skipped = #lines - OUTPUT_LINES
  if skipped > 1 then
    shown[1] = "    " .. self:style("dim", ("… %d lines before"):format(skipped))
  end
  for index = skipped > 1 and skipped + 1 or 1, #lines do
    shown[#shown + 1] = "    " .. self:style("dim", lines[index])
  end
  return shown
end

---@private
---@param event koda.Event a `tool_result`
---@return string
function Printer:result(event)
  local call = self.calls[event.id] or event
  self.calls[event.id] = nil
  local data = type(event.data) == "table" and event.data or {}
  local failed = not event.ok or (data.exit_code ~= nil and data.exit_code ~= 0)
  local mark, style = failed and "✗" or "✓", failed and "red" or "green"
  local outcome = describe.result(event)
  local lines = {}
  if event.tool == "Bash" and event.ok then
    if self.open ~= event.id then
      lines[1] = self:title(call, "$", "cyan")
    end
    vim.list_extend(lines, self:output(event.text))
    lines[#lines + 1] = ("  %s %s"):format(self:style(style, mark), outcome)
    self.open = nil
    return self:lines("call", lines)
  end
  local title = self:title(call, mark, style)
  lines[1] = outcome ~= "" and ("%s  %s"):format(title, self:style(failed and "red" or "dim", outcome)) or title
  if type(data.diff) == "string" then
    vim.list_extend(lines, self:diff(data.diff))
  end
  self.open = nil
  return self:lines("call", lines)
end

---@type table<string, fun(printer: koda.headless.Printer, event: koda.Event): string>
local on = {}

function on.session_start(printer, event)
  local text = ("%s · mode %s · trust %s · session %s"):format(event.model, event.mode, event.trust, event.session)
  return printer:lines("head", { printer:style("dim", text) })
end

function on.text_delta(printer, event)
  return printer:delta(event.text)
end

function on.reasoning_delta(printer, event)
  return printer:delta(event.text, "dim")
end

function on.tool_call(printer, event)
  printer.calls[event.id] = event
  -- Only what may take long is announced; of the rest the result says everything in its line.
  if event.tool ~= "Bash" then
    return ""
  end
  printer.open = event.id
  return printer:lines("call", { printer:title(event, "$", "cyan") })
end

on.tool_result = Printer.result

function on.todo(printer, event)
  local marks = { completed = "✓", in_progress = "▸", pending = "○" }
  return printer:lines("todo", vim.tbl_map(function(item)
    return ("  %s %s"):format(marks[item.status] or "○", describe.harmless(item.content))
  end, event.items))
end

function on.approval(printer, event)
  local what = event.kind == "question" and "a question that nobody can answer here" or "needs an approval"
  local title = printer:title(event.call, "?", "yellow")
  local lines = { ("%s  %s"):format(title, printer:style("yellow", what)) }
  for _, reason in ipairs(event.verdict.reasons) do
    lines[#lines + 1] = "    " .. printer:style("dim", describe.harmless(reason))
  end
  return printer:lines("call", lines)
end

function on.retry(printer, event)
  local text = ("%s; trying again in %s"):format(describe.harmless(event.reason), describe.duration(event.wait_ms))
  return printer:lines("notice", { printer:style("yellow", text) })
end

function on.note(printer, event)
  return printer:lines("notice", { printer:style("dim", describe.harmless(event.text:match("[^\n]*"))) })
end

function on.notice(printer, event)
  return printer:lines("notice", { printer:style("yellow", describe.harmless(event.text)) })
end

function on.error(printer, event)
  local text = describe.harmless(require("koda.notify").text(event.error))
  return printer:lines("notice", { printer:style("red", "✗ " .. text) })
end

function on.usage(printer, event)
  printer.usage = event.total
  return ""
end

---@param number? integer
---@return string
local function tokens(number)
  if not number then
    return "?"
  end
  return number < 1000 and tostring(number) or ("%.1fk"):format(number / 1000)
end

function on.turn_end(printer, event)
  local steps = ("%d step%s"):format(event.steps, event.steps == 1 and "" or "s")
  local parts = { event.outcome:gsub("_", " "), steps, describe.duration(event.duration_ms) }
  if printer.usage then
    parts[#parts + 1] = ("%s tokens in, %s out"):format(tokens(printer.usage.input), tokens(printer.usage.output))
  end
  if event.cost then
    parts[#parts + 1] = require("koda.money").spent(event.cost)
  end
  local style = event.outcome == "done" and "green" or "red"
  local rest = printer:style("dim", " · " .. table.concat(parts, " · ", 2))
  return printer:lines("end", { printer:style(style, parts[1]) .. rest })
end

--- Says an event.
---@param event koda.Event
---@return string # to be printed after what was returned before; often empty
function Printer:print(event)
  local say = on[event.type]
  return say and say(self, event) or ""
end

return Printer
