--- `:Koda`: a table of subcommands. What is no subcommand is a prompt.

local M = {}

--- What a subcommand is called with.
---@class koda.Call
---@field args string what follows the subcommand, trimmed
---@field context? string the lines of the range, quoted

---@class koda.Subcommand
---@field name string
---@field args? string how help shows the arguments
---@field words integer how many words it takes at most; with more the line is a prompt: `:Koda stop the server`
---@field text string one sentence
---@field complete? fun(): string[]

---@param path string
---@return fun(): string[]
local function values(path)
  return function()
    return require("koda.config").option(path).values
  end
end

---@return string[]
local function session_ids()
  return vim.tbl_map(function(session)
    return session.id
  end, require("koda").sessions() or {})
end

---@return string[]
local function terminal_numbers()
  return vim.tbl_map(function(terminal)
    return tostring(terminal.number)
  end, require("koda.terminal").list())
end

---@return string[]
local function rule_numbers()
  return require("koda.rules").numbers()
end

---@return string[]
local function models()
  return require("koda.first_use").models()
end

---@type koda.Subcommand[]
M.SUBCOMMANDS = {
  { name = "chat", words = 0, text = "Opens the chat, or hides it." },
  {
    name = "ask",
    args = "[PROMPT]",
    words = math.huge,
    text = "Sends a prompt; asks for it if there is none.",
  },
  {
    name = "run",
    args = "[OPTIONS] -- PROMPT",
    words = math.huge,
    text = "Sends a prompt; without a screen it prints what happens and leaves Neovim, see |koda-headless|.",
  },
  { name = "stop", words = 0, text = "Stops every turn that runs." },
  {
    name = "mode",
    args = "[MODE]",
    words = 1,
    text = "Sets which tools the model is offered, until Neovim ends.",
    complete = values("mode"),
  },
  {
    name = "trust",
    args = "[TRUST]",
    words = 1,
    text = "Sets who approves, until Neovim ends.",
    complete = values("trust"),
  },
  {
    name = "model",
    args = "[MODEL]",
    words = 1,
    text = "Sets the model, until Neovim ends; without a name lists what is offered, and the ways to one.",
    complete = models,
  },
  { name = "sessions", words = 0, text = "Lists this project's sessions, to go on with one." },
  {
    name = "resume",
    args = "[SESSION]",
    words = 1,
    text = "Goes on with a session, the latest unless one is named.",
    complete = session_ids,
  },
  { name = "undo", words = 0, text = "Takes back the last turn: files and conversation, see |koda-undo|." },
  { name = "redo", words = 0, text = "Does again what was taken back last." },
  {
    name = "terminal",
    args = "[NUMBER]",
    words = 1,
    text = "Opens a terminal of Koda's, the latest unless one is named.",
    complete = terminal_numbers,
  },
  { name = "context", words = 0, text = "Shows what fills the model's window, and what each request sends." },
  {
    name = "review",
    args = "[list]",
    words = 1,
    text = "Goes to the first hunk that waits for you; `list` puts all into the quickfix list.",
    complete = function() return { "list" } end,
  },
  {
    name = "accept",
    args = "[file|all]",
    words = 1,
    text = "Accepts the hunk at the cursor, those of the file, or all.",
    complete = function() return { "file", "all" } end,
  },
  {
    name = "reject",
    args = "[file|all]",
    words = 1,
    text = "Rejects the hunk at the cursor, those of the file, or all.",
    complete = function() return { "file", "all" } end,
  },
  {
    name = "plan",
    args = "[accept|reject]",
    words = 1,
    text = "Opens the plan that waits for your review; `accept` starts it in mode agent, `reject` says why not.",
    complete = function() return { "accept", "reject" } end,
  },
  { name = "tools", words = 0, text = "Lists the tools, and what is decided on them." },
  {
    name = "rules",
    args = "[NUMBER]",
    words = 1,
    text = "Lists the rules that an acceptance for a project made, or deletes one.",
    complete = rule_numbers,
  },
  { name = "log", words = 0, text = "Opens the log." },
  { name = "health", words = 0, text = "Checks the installation, as |:checkhealth| koda does." },
  { name = "build", words = 0, text = "Builds the library in the background." },
  { name = "help", args = "[TOPIC]", words = 1, text = "Opens this help." },
}

---@param name string
---@return koda.Subcommand?
local function find(name)
  for _, subcommand in ipairs(M.SUBCOMMANDS) do
    if subcommand.name == name then
      return subcommand
    end
  end
end

--- Splits a line into a subcommand and its arguments; without one the line is a prompt.
---@param line string
---@return koda.Subcommand?
---@return string
function M.split(line)
  local name, rest = line:match("^(%a+)%s*(.-)%s*$")
  local subcommand = name and find(name)
  if not subcommand then
    return nil, line
  end
  local words = #vim.split(rest, "%s+", { trimempty = true })
  -- `:Koda run the tests` is a prompt as well, where a person is there to send it to.
  local is_sentence = name == "run" and words > 0 and rest:sub(1, 1) ~= "-" and #vim.api.nvim_list_uis() > 0
  if words > subcommand.words or is_sentence then
    return nil, line
  end
  return subcommand, rest
end

--- Runs `:Koda`.
---@param call vim.api.keyset.create_user_command.command_args
function M.run(call)
  local line = vim.trim(call.args)
  local context = nil
  if call.range > 0 then
    context = require("koda.context").lines(vim.api.nvim_get_current_buf(), call.line1, call.line2)
  end
  local subcommand, rest = M.split(line)
  if subcommand then
    return require("koda.command." .. subcommand.name)({ args = rest, context = context })
  end
  if line == "" then
    -- With a range there is something to ask about, only the question is missing.
    return require("koda.command." .. (context and "ask" or "chat"))({ args = "", context = context })
  end
  require("koda.command.ask")({ args = line, context = context })
end

---@param candidates string[]
---@param lead string
---@return string[]
local function starting_with(candidates, lead)
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

---@param before string the arguments before the word at the cursor
---@return string[]
local function run_candidates(before)
  local arguments = require("koda.headless.arguments")
  local previous = before:match("(%S+)%s*$")
  local candidates = previous and arguments.values(previous) or {}
  return #candidates > 0 and candidates or vim.list_extend(arguments.names(), { "--" })
end

--- Completes `:Koda`.
---@param line string the command line up to the cursor
---@return string[]
function M.complete(line)
  local typed = line:match("Koda!?%s+(.*)$") or ""
  local name, before, lead = typed:match("^(%a+)%s(.-)(%S*)$")
  if not name then
    return starting_with(
      vim.tbl_map(function(subcommand)
        return subcommand.name
      end, M.SUBCOMMANDS),
      typed
    )
  end
  local subcommand = find(name)
  if name == "run" and not (" " .. before):find("%s%-%-%s") then
    return starting_with(run_candidates(before), lead)
  end
  local is_first = not before:find("%S")
  return subcommand and subcommand.complete and is_first and starting_with(subcommand.complete(), lead) or {}
end

return M
