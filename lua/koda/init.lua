--- The public API. `:help koda-api` explains it.
---
--- Nothing is loaded before it is needed: `setup` keeps the settings, the library starts with the first call
--- that needs it. Errors are returned as `nil, { code, message, hint }`.

local M = {}

---@param message string
---@param hint? string
---@return nil
---@return koda.Error
local function usage(message, hint)
  return nil, { code = "usage", message = message, hint = hint }
end

--- Returns the running library.
---@return koda.Native?
---@return koda.Error?
local function native()
  return require("koda.native").get()
end

---@param cwd? string
---@return string # absolute
local function project(cwd)
  return (vim.fn.fnamemodify(cwd or vim.fn.getcwd(), ":p"):gsub("(.)/$", "%1"))
end

--- Takes the settings. Optional. Wrong settings are reported, and Koda does nothing until they are mended.
---@param opts? koda.Settings
---@return true?
---@return koda.Error?
function M.setup(opts)
  local ok, problem = require("koda.config").set(opts)
  if problem then
    require("koda.notify").error(problem)
  elseif package.loaded["koda.native"] and require("koda.native").is_started() then
    require("koda.notify").warn("the new settings hold after a restart of Neovim")
  end
  return ok, problem
end

--- Opens a session: a new one, or a stored one.
---@param opts koda.OpenOptions
---@return string? # its id
---@return koda.Error?
function M.open(opts)
  local lib, problem = native()
  if not lib then
    return nil, problem
  end
  local config = require("koda.config").get()
  local id
  id, problem = lib.open({
    cwd = project(opts.cwd),
    model = opts.model or config.model,
    mode = opts.mode or config.mode,
    trust = opts.trust or config.trust,
    resume = opts.resume,
    unattended = opts.unattended,
    max_cost = opts.max_cost,
  })
  if id then
    require("koda.current").opened(id)
  end
  return id, problem
end

--- Sends a prompt, in a session of its own unless one is given.
---@param opts koda.RunOptions
---@return koda.RunHandle?
---@return koda.Error?
function M.run(opts)
  if type(opts) ~= "table" or type(opts.prompt) ~= "string" or not opts.prompt:find("%S") then
    return usage("koda.run: `prompt` must be a text that is not blank")
  end
  local session, problem = opts.session, nil
  if not session then
    session, problem = M.open(opts)
  end
  local lib = session and native()
  if not session or not lib then
    return nil, problem
  end
  local handle = require("koda.handle").run(session, opts.on_event)
  local ok
  ok, problem = lib.prompt(session, opts.prompt, opts.context)
  if not ok then
    return nil, problem
  end
  return handle
end

--- Makes a call outside of a conversation, under the same verdicts. What must be asked waits in `pending()`.
---@param opts koda.ToolOptions
---@return koda.ToolHandle?
---@return koda.Error?
function M.tool(opts)
  if type(opts) ~= "table" or type(opts.name) ~= "string" then
    return usage("koda.tool: `name` must be a tool's name", "see :Koda tools")
  end
  local lib, problem = native()
  if not lib then
    return nil, problem
  end
  local config = require("koda.config").get()
  local id
  id, problem = lib.tool({
    name = opts.name,
    args = opts.args or vim.empty_dict(),
    trust = opts.trust or config.trust,
    mode = opts.mode or config.mode,
    cwd = project(opts.cwd),
  })
  if not id then
    return nil, problem
  end
  return require("koda.handle").tool(id)
end

--- Tells what would be decided on a call, without running anything.
---@param opts koda.JudgeOptions
---@return koda.Verdict?
---@return koda.Error?
function M.judge(opts)
  if type(opts) ~= "table" or type(opts.tool) ~= "string" then
    return usage("koda.judge: `tool` must be a tool's name", "see :Koda tools")
  end
  local lib, problem = native()
  if not lib then
    return nil, problem
  end
  local config = require("koda.config").get()
  return lib.judge({
    tool = opts.tool,
    args = opts.args or vim.empty_dict(),
    trust = opts.trust or config.trust,
    mode = opts.mode or config.mode,
    cwd = project(opts.cwd),
  })
end

--- Lists the approvals and questions that wait, oldest first.
---@return koda.Ask[]
function M.pending()
  -- Before the first use nothing can wait, and asking is no reason to load the library.
  if not require("koda.native").is_started() then
    return {}
  end
  return native().pending()
end

--- Answers what waits.
---@param id string
---@param answer koda.Answer
---@return true?
---@return koda.Error?
function M.answer(id, answer)
  if type(id) ~= "string" or type(answer) ~= "table" then
    return usage("koda.answer takes an id and a table with `decision`", "koda.pending() lists what waits")
  end
  local lib, problem = native()
  if not lib then
    return nil, problem
  end
  return lib.answer(id, answer)
end

--- Lists the hunks that wait for a decision, of a buffer or of all: proposals, and changes that were made unasked.
---@param buf? integer
---@return koda.Hunk[]
function M.hunks(buf)
  return require("koda.review").list(buf)
end

--- Accepts a hunk, the one at the cursor unless one is given.
---@param hunk? koda.Hunk|integer
---@return true?
---@return koda.Error?
function M.accept(hunk)
  return require("koda.review").accept(hunk)
end

--- Rejects a hunk, the one at the cursor unless one is given; a change that was made is taken back.
---@param hunk? koda.Hunk|integer
---@param reason? string for the model
---@return true?
---@return koda.Error?
function M.reject(hunk, reason)
  return require("koda.review").reject(hunk, reason)
end

--- Lists the stored sessions of a project, newest first.
---@param callback? fun(sessions?: koda.SessionInfo[], problem?: koda.Error) without it the call waits
---@return koda.SessionInfo[]|true?
---@return koda.Error?
function M.sessions(callback)
  local lib, problem = native()
  if not lib then
    return nil, problem
  end
  if callback then
    return lib.sessions(project(), callback)
  end
  return require("koda.handle").await(5000, function(answered)
    return lib.sessions(project(), answered)
  end)
end

--- Goes on with a stored session; with a screen, in the chat.
---@param id string
---@return string? # the session's id
---@return koda.Error?
function M.resume(id)
  if type(id) ~= "string" then
    return usage("koda.resume takes the id of a session", "koda.sessions() lists them")
  end
  if #vim.api.nvim_list_uis() > 0 then
    return require("koda.chat").resume(id)
  end
  return M.open({ resume = id })
end

--- Milliseconds that a call without a callback waits for files to be given back.
local GIVING_BACK_MS = 60000

--- Calls a function that answers by a callback: with the caller's, or waiting.
---@param start fun(opts: table?, callback: koda.rewind.Answer): true?, koda.Error?
---@param opts? table
---@param callback? koda.rewind.Answer
---@return koda.Rewound|true?
---@return koda.Error?
local function answered(start, opts, callback)
  if callback then
    return start(opts, callback)
  end
  return require("koda.handle").await(GIVING_BACK_MS, function(done)
    return start(opts, done)
  end)
end

--- Takes back the last turn: the changes of files, and the conversation.
---@param opts? { session?: string } the chat's session without it, else the one opened last
---@param callback? koda.rewind.Answer without it the call waits
---@return koda.Rewound|true?
---@return koda.Error?
function M.undo(opts, callback)
  return answered(require("koda.rewind").back, { session = opts and opts.session }, callback)
end

--- Does again what was taken back last.
---@param opts? { session?: string } as for `undo`
---@param callback? koda.rewind.Answer without it the call waits
---@return koda.Rewound|true?
---@return koda.Error?
function M.redo(opts, callback)
  return answered(require("koda.rewind").again, opts, callback)
end

--- Takes back a message and all that followed it: files, the conversation, or both.
---@param opts koda.RewindOptions
---@param callback? koda.rewind.Answer without it the call waits
---@return koda.Rewound|true?
---@return koda.Error?
function M.rewind(opts, callback)
  if type(opts) ~= "table" or type(opts.message) ~= "number" then
    return usage("koda.rewind: `message` must be the number of a message, from 1")
  end
  return answered(require("koda.rewind").back, opts, callback)
end

--- Calls a function for each event of a type, or for all with `"*"`.
---@param event koda.EventType|"*"
---@param fn fun(event: koda.Event)
---@return fun() # unsubscribes
function M.on(event, fn)
  return require("koda.events").on(event, fn)
end

return M
