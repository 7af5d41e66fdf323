--- What a call is about and what came of it, each in a line; pure.

local M = {}

--- The argument that says what a call is about, by canonical tool.
local MAIN = {
  Bash = "command",
  Read = "path",
  Write = "path",
  Edit = "path",
  Delete = "path",
  ListFiles = "path",
  Glob = "pattern",
  Grep = "pattern",
  AskUser = "question",
  Think = "thought",
}

local MAX_ARGUMENT = 100

--- Takes out of a text what a terminal would obey.
---@param text string
---@return string
function M.harmless(text)
  return (text:gsub("\r\n", "\n"):gsub("[%z\1-\8\11-\31\127]", ""):gsub("\194[\128-\159]", ""))
end

---@param text string
---@return string # its first line, cut
local function line(text)
  local first, more = text:match("^%s*([^\n]*)(.*)$")
  if vim.fn.strchars(first) > MAX_ARGUMENT then
    return vim.fn.strcharpart(first, 0, MAX_ARGUMENT) .. "…"
  end
  return more:find("%S") and first .. " …" or first
end

--- Says what a call is about.
---@param tool string
---@param args any
---@return string # empty if nothing short can be said
function M.call(tool, args)
  if type(args) ~= "table" then
    return ""
  end
  local main = args[MAIN[tool]]
  if type(main) ~= "string" then
    return ""
  end
  local text = tool == "Bash" and vim.trim(main) or line(main)
  if (tool == "Grep" or tool == "Glob") and type(args.path) == "string" then
    text = ("%s in %s"):format(text, args.path)
  end
  return M.harmless(text)
end

---@param number integer
---@param noun string
---@return string
local function count(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or "s")
end

--- Says a span of time.
---@param ms integer
---@return string
function M.duration(ms)
  if ms < 1000 then
    return ("%d ms"):format(ms)
  elseif ms < 60000 then
    return ("%.1f s"):format(ms / 1000)
  end
  return ("%d min %d s"):format(math.floor(ms / 60000), math.floor(ms % 60000 / 1000))
end

---@param diff string
---@return integer added
---@return integer removed
local function changes(diff)
  local added, removed = 0, 0
  for mark, next_char in diff:gmatch("\n([+-])(.?.?)") do
    added = added + ((mark == "+" and next_char ~= "++") and 1 or 0)
    removed = removed + ((mark == "-" and next_char ~= "--") and 1 or 0)
  end
  return added, removed
end

---@type table<string, fun(data: table): string?>
local outcomes = {}

function outcomes.Bash(data)
  local how = data.exit_code and ("exit %d"):format(data.exit_code)
    or data.signal and ("ended by %s"):format(data.signal)
    or data.state == "running" and ("goes on as %s"):format(data.task_id)
    or (data.state or "ended"):gsub("_", " ")
  return data.duration_ms and ("%s, %s"):format(how, M.duration(data.duration_ms)) or how
end

function outcomes.Read(data)
  return data.lines and count(data.lines, "line")
end

function outcomes.Grep(data)
  if data.matches and data.files then
    local matches = data.matches == 1 and "1 match" or ("%d matches"):format(data.matches)
    return ("%s in %s"):format(matches, count(data.files, "file"))
  end
end

function outcomes.Edit(data)
  if not data.diff then
    return nil
  end
  local added, removed = changes("\n" .. data.diff)
  local rejected = #(data.rejected or {})
  local text = ("+%d −%d"):format(added, removed)
  return rejected > 0 and ("%s, %s rejected"):format(text, count(rejected, "edit")) or text
end

outcomes.Write = outcomes.Edit

--- Says what came of a call.
---@param event koda.Event a `tool_result`
---@return string # empty if there is nothing to say beyond that it was done
function M.result(event)
  local data = type(event.data) == "table" and event.data or {}
  local outcome = event.ok and outcomes[event.tool] and outcomes[event.tool](data)
  if outcome then
    return outcome
  end
  return event.ok and "" or M.harmless(line(event.text))
end

return M
