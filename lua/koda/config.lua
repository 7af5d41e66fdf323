--- The settings: one schema, from which defaults, checks, types, help and completion come.
---
--- `setup` only keeps what it got; the library reads the settings when it is first used.

local M = {}

---@class koda.config.Option
---@field name string
---@field type "string"|"integer"|"number"|"any"|"boolean"|"enum"|"border"|"command"|"key"|"section"|"map"|"list"
---@field text string one sentence
---@field default? any absent: nil is allowed and the default
---@field values? string[] of an enum
---@field min? integer
---@field max? integer
---@field fields? koda.config.Option[] of a section
---@field of? koda.config.Option of a map or a list: its values

---@param name string
---@param kind string
---@param default any
---@param text string
---@param more? table
---@return koda.config.Option
local function option(name, kind, default, text, more)
  local made = { name = name, type = kind, default = default, text = text }
  for key, value in pairs(more or {}) do
    made[key] = value
  end
  return made
end

---@param name string
---@param text string
---@param fields koda.config.Option[]
---@return koda.config.Option
local function section(name, text, fields)
  return { name = name, type = "section", text = text, fields = fields }
end

---@param name string
---@param text string
---@param of koda.config.Option
---@return koda.config.Option
local function map(name, text, of)
  return { name = name, type = "map", default = {}, text = text, of = of }
end

local MODES = { "agent", "plan", "ask", "debug", "educator" }
local TRUSTS = { "plan", "safe", "auto" }
local MILLISECONDS = { min = 1 }

local PROVIDER = section("koda.config.Provider", "One provider.", {
  option("endpoint", "string", nil, "The base address of its API, such as `http://127.0.0.1:8080/v1`."),
  option(
    "adapter", "string", nil,
    "The provider whose protocol the endpoint speaks; `openai` for an unknown name."
  ),
  option("key_env", "string", nil, "The environment variable that holds the key."),
  option(
    "key_command", "command", nil,
    "The command that prints the key: a line for `sh`, or a list of words."
  ),
  option("proxy", "string", nil, "The address of a proxy, in place of the environment's."),
  option("ca_file", "string", nil, "A file of certificates (PEM) to trust beside the system's."),
  map("extra_body", "Fields that each request's body has besides.", option("", "any", nil, "Any JSON.")),
  map("headers", "Headers to send with each request.", option("", "string", nil, "The header's value.")),
})

local EFFORTS = { "none", "minimal", "low", "medium", "high", "max" }

local MODEL_OPTIONS = section("koda.config.ModelOptions", "What the requests to a model ask for.", {
  option("effort", "enum", nil, "How much it is to reason.", { values = EFFORTS }),
  option("temperature", "number", nil, "How freely it is to choose its words.", { min = 0 }),
  option("max_tokens", "integer", nil, "Tokens that a reply may have; over `max_output_tokens`.", { min = 1 }),
})

local PRICE = section("koda.config.Price", "A price, in US dollars for a million tokens.", {
  option("input", "number", nil, "Of tokens sent.", { min = 0 }),
  option("output", "number", nil, "Of tokens received.", { min = 0 }),
  option("cached", "number", nil, "Of tokens read from a cache; as others without it.", { min = 0 }),
  option("cache_write", "number", nil, "Of tokens written to a cache; as others without it.", { min = 0 }),
  option("context", "integer", nil, "Tokens that a request may have.", { min = 1 }),
})

---@type koda.config.Option[]
M.SCHEMA = {
  option(
    "model", "string", nil,
    "The model, `provider::model`; without it the first provider whose key is found."
  ),
  map("providers", "How to reach providers, by the name before `::`.", PROVIDER),
  map(
    "model_options",
    "What requests ask for, by `provider::model`, which may end in `*`; else the provider decides.",
    MODEL_OPTIONS
  ),
  map("prices", "Your own prices of models, by `provider::model`, which may end in `*`.", PRICE),
  section("budget", "Limits of what may be spent, in US dollars, see |koda-cost|.", {
    option("turn", "number", nil, "By one prompt.", { min = 0 }),
    option("session", "number", nil, "By one session.", { min = 0 }),
    option("day", "number", nil, "By all sessions of a day (UTC).", { min = 0 }),
  }),
  option("mode", "enum", "agent", "Which tools the model is offered.", { values = MODES }),
  option("trust", "enum", "safe", "Who approves what Koda does.", { values = TRUSTS }),
  map(
    "tools",
    "Single tools: as trust says, ask each time, or never offered.",
    option("", "enum", nil, "The tool's policy.", { values = { "auto", "ask", "off" } })
  ),
  option("max_steps", "integer", 200, "Requests to the model that one prompt may lead to.", { min = 1 }),
  option(
    "max_output_tokens", "integer", nil,
    "Tokens that a reply may have; the provider's default without it.",
    { min = 1 }
  ),
  section("timeouts", "How long to wait for a provider, in milliseconds.", {
    option("connect_ms", "integer", 30000, "Until a provider has taken the connection.", MILLISECONDS),
    option(
      "first_byte_ms", "integer", 300000,
      "From the request to the first bytes of the reply.",
      MILLISECONDS
    ),
    option("idle_ms", "integer", 300000, "Between two pieces of the reply.", MILLISECONDS),
    option("key_command_ms", "integer", 120000, "For a `key_command`.", MILLISECONDS),
  }),
  section("instructions", "Files with instructions, see |koda-instructions|.", {
    option("max_bytes", "integer", 32768, "Bytes of instruction files in the system prompt; 0 for none.", { min = 0 }),
    option("cursor", "boolean", false, "Whether Cursor's rules that hold always are told as well."),
  }),
  section("checkpoints", "What undo can give back, see |koda-undo|.", {
    option("max_file_bytes", "integer", 10485760, "Bytes of a file; a larger one can't be given back.", { min = 0 }),
    option("days", "integer", 30, "Days that a change can be taken back.", { min = 1 }),
  }),
  section("edit", "Edits of files.", {
    option("save", "boolean", true, "Whether a buffer without changes of yours is saved after an edit."),
  }),
  section("chat", "The chat.", {
    option("layout", "enum", "float", "How the chat opens.", { values = { "float", "right", "left", "tab" } }),
    option("width", "integer", 100, "Columns of the float or the split, at most.", { min = 20 }),
    option("height", "integer", 40, "Lines of the float, at most.", { min = 8 }),
    option("border", "border", "rounded", "The border of floats: a name or a list, as in |nvim_open_win()|."),
  }),
  section("terminal", "Terminals that Koda's commands run in.", {
    option(
      "layout", "enum", "bottom",
      "Where terminals show.",
      { values = { "bottom", "right", "float", "tab", "hidden" } }
    ),
    option("height", "integer", 12, "Lines of the split or float.", { min = 3 }),
    option("shell", "string", nil, "The shell's program; `$SHELL` without it."),
  }),
  section("sandbox", "What confines the commands that nobody was asked about.", {
    option(
      "profile", "enum", "project",
      "What confined commands may write: temporary files only, the project and caches too, or everything.",
      { values = { "read-only", "project", "off" } }
    ),
    option("network", "enum", "on", "Whether confined commands reach the network over TCP.", { values = { "on", "off" } }),
  }),
  section("keys", "Keys in Koda's own windows and in buffers with hunks to review; `false` for none.", {
    option(
      "send", "key", "<C-s>",
      "Sends the prompt, while it is written too; <CR> in normal mode sends as well."
    ),
    option("hide", "key", "q", "Hides the chat."),
    option("stop", "key", "<C-c>", "Stops what runs."),
    option("rewind", "key", "u", "In the transcript: goes back before the message at the cursor, see |koda-undo|."),
    option("unfold", "key", "<Tab>", "Unfolds the call at the cursor, or folds it."),
    option(
      "accept", "key", "a",
      "Accepts what waits, once; answers a question. In the prompt single letters need Alt."
    ),
    option("accept_session", "key", "A", "Accepts what waits, and its like in this session."),
    option(
      "accept_project", "key", "P",
      "Accepts what waits, and by a rule that lasts its like in this project, see `:Koda rules`."
    ),
    option("reject", "key", "r", "Rejects what waits."),
    option("reject_reason", "key", "R", "Rejects what waits, with a reason for the model."),
    option("next_ask", "key", "<M-n>", "Shows the next of what waits."),
    option("previous_ask", "key", "<M-p>", "Shows the one before."),
    option("next_hunk", "key", "]k", "In a buffer with hunks to review: goes to the next."),
    option("previous_hunk", "key", "[k", "Goes to the one before."),
    option("accept_hunk", "key", "<M-a>", "Accepts the hunk at the cursor; |.| repeats it."),
    option("reject_hunk", "key", "<M-r>", "Rejects it; |.| repeats it."),
    option("reject_hunk_reason", "key", "<M-R>", "Rejects it with a reason for the model."),
    option("accept_file", "key", "g<M-a>", "Accepts all hunks of the file."),
    option("reject_file", "key", "g<M-r>", "Rejects all hunks of the file."),
    option("accept_turn", "key", "z<M-a>", "Accepts all hunks of all files."),
    option("reject_turn", "key", "z<M-r>", "Rejects all hunks of all files."),
    option("edit_hunk", "key", "<M-e>", "Edits what is proposed; writing the window takes it over."),
    option("comment_hunk", "key", "<M-c>", "Says something of a hunk to the model."),
  }),
  section("log", "The log (`:Koda log`).", {
    option(
      "level", "enum", "info",
      "What is logged.",
      { values = { "error", "warn", "info", "debug", "trace" } }
    ),
  }),
  option("data_dir", "string", nil, "The folder of the sessions; `koda` in Neovim's data folder without it."),
}

---@param fields koda.config.Option[]
---@return table
local function defaults(fields)
  local values = {}
  for _, field in ipairs(fields) do
    if field.type == "section" then
      values[field.name] = defaults(field.fields)
    elseif type(field.default) == "table" then
      values[field.name] = {}
    else
      values[field.name] = field.default
    end
  end
  return values
end

---@type koda.Config?
local current

--- What was wrong with the last `setup`; nothing is done with wrong settings.
---@type koda.Error?
local problem

--- Returns the settings in force.
---@return koda.Config
function M.get()
  current = current or defaults(M.SCHEMA)
  return current
end

--- Returns the error of the last `setup`, if its settings were wrong.
---@return koda.Error?
function M.problem()
  return problem
end

--- Takes the user's settings over the defaults. If any is wrong, none is taken.
---@param opts? koda.Settings
---@return true?
---@return koda.Error?
function M.set(opts)
  problem = nil
  local merged = defaults(M.SCHEMA)
  if opts ~= nil and (type(opts) ~= "table" or next(opts) ~= nil) then
    problem = require("koda.validate").check(M.SCHEMA, opts)
    if problem then
      return nil, problem
    end
    merged = vim.tbl_deep_extend("force", merged, opts)
  end
  current = merged
  return true
end

--- Finds an option by its path.
---@param path string names joined by dots
---@return koda.config.Option?
function M.option(path)
  local fields, found = M.SCHEMA, nil
  for name in vim.gsplit(path, ".", { plain = true }) do
    found = nil
    for _, field in ipairs(fields) do
      if field.name == name then
        found = field
      end
    end
    fields = found and found.fields or {}
  end
  return found
end

return M
