---@meta
--- The border with the Rust library: the table that `luaopen_koda` returns. A test compares it with the library.
---
--- All functions return at once. Errors are `nil, { code, message, hint }`.

---@class koda.Native
local Native = {}

--- Returns the version of this border; compared before any other call.
---@return integer
function Native.abi() end

---@return string
function Native.version() end

---@return string? # the last commit that changed its sources; none if they were built outside of git
function Native.commit() end

--- Starts everything, once. Must come before all functions below.
---@param settings table a `koda.Config` with `data_dir` and `state_dir`
---@param deliver fun(events: koda.Event[]) called on the main thread, in order, at most once a frame for text
---@return true?
---@return koda.Error?
function Native.setup(settings, deliver) end

--- Opens a session. Its stream begins with `session_start`.
---@param opts { cwd: string, model?: string, mode?: koda.Mode, trust?: koda.Trust, resume?: string, unattended?: boolean, max_cost?: number }
---@return string? # the session's id
---@return koda.Error?
function Native.open(opts) end

--- Sends a message; while a turn runs it is queued.
---@param session string
---@param text string
---@param context? string
---@return true?
---@return koda.Error?
function Native.prompt(session, text, context) end

--- Cancels the running turn, if one runs.
---@param session string
---@return true?
---@return koda.Error?
function Native.stop(session) end

--- Changes a session. A `settings` event follows.
---@param session string
---@param change koda.Change
---@return true?
---@return koda.Error?
function Native.set(session, change) end

--- Makes a call outside of a conversation. A `tool_result` event with the returned id follows.
---@param call { name: string, args: table, trust?: koda.Trust, mode?: koda.Mode, cwd: string }
---@return string? # the call's id
---@return koda.Error?
function Native.tool(call) end

--- Stops the calls outside of a conversation that run or wait.
---@return true?
---@return koda.Error?
function Native.stop_calls() end

--- Judges a call without running it.
---@param call { tool: string, args: table, trust?: koda.Trust, mode?: koda.Mode, cwd: string }
---@return koda.Verdict?
---@return koda.Error?
function Native.judge(call) end

--- Lists the tools that a model is offered in a mode.
---@param mode koda.Mode
---@return { name: string, description: string }[]?
---@return koda.Error?
function Native.tools(mode) end

--- Lists what waits for the user, oldest first.
---@return koda.Ask[]
function Native.pending() end

---@param id string
---@param answer koda.Answer
---@return true?
---@return koda.Error?
function Native.answer(id, answer) end

--- Reads a session's stored events.
---@param session string
---@param callback fun(events?: koda.Event[], problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.events(session, callback) end

--- Takes back a message and all that followed it; without `message` the last turn. A `rewound` event tells of it.
---@param session string
---@param what { message?: integer, files?: boolean, conversation?: boolean }
---@param callback fun(report?: koda.Rewound, problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.rewind(session, what, callback) end

--- Does again what was taken back last. A `redone` event tells of it.
---@param session string
---@param callback fun(report?: koda.Rewound, problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.redo(session, callback) end

--- Lists the stored sessions, newest first.
---@param cwd? string only those of this project
---@param callback fun(sessions?: koda.SessionInfo[], problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.sessions(cwd, callback) end

--- Looks for keys, and for servers on this machine.
---@param callback fun(ways?: koda.Ways, problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.ways(callback) end

--- Lists what providers offer that have a key, or an endpoint of yours. Lists are kept for a day.
---@param may_ask boolean without it only lists that are kept are told
---@param callback fun(listings?: koda.Listing[], problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.models(may_ask, callback) end

--- Tells what a session sends, or what a new one would.
---@param opts { session?: string, cwd: string, model?: string, mode?: koda.Mode, trust?: koda.Trust }
---@param callback fun(report?: koda.ContextReport, problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.context(opts, callback) end

--- Lists the terminals.
---@return { terminal: integer, session: string, title: string, task_id: string, status: table }[]
function Native.terminals() end

--- Sends what was typed into a terminal.
---@param terminal integer from 1
---@param bytes string
---@return true?
---@return koda.Error?
function Native.terminal_input(terminal, bytes) end

---@param terminal integer from 1
---@param columns integer
---@param rows integer
---@return true?
---@return koda.Error?
function Native.terminal_resize(terminal, columns, rows) end

--- Ends what runs in a terminal and forgets it.
---@param terminal integer from 1
---@return true?
---@return koda.Error?
function Native.terminal_close(terminal) end

--- Returns counters of the bridge, for tests and benches.
---@return table<string, number>
function Native.stats() end

--- Names what confines commands on this machine; `nil` where nothing does.
---@return string?
function Native.sandbox() end

--- Ends everything within its deadline. No call may follow.
function Native.shutdown() end

--- Tells a session's model, with its next request, what the user said to a change that was made already.
---@param session string
---@param judged { call: string, tool: string, shown: string, hunks: koda.JudgedHunk[] }
---@return true?
---@return koda.Error? `unknown_session` for a call outside of a conversation
function Native.judged(session, judged) end

---@class koda.JudgedHunk
---@field number integer
---@field line integer
---@field state "waits"|"stands"|"taken_back"|"overtaken"
---@field old string
---@field new string
---@field said? string

--- Reads the rules that last.
---@param callback fun(rules?: koda.Rule[], problem?: koda.Error)
---@return true?
---@return koda.Error?
function Native.rules(callback) end

--- Deletes a rule.
---@param id integer
---@param callback fun(removed?: boolean, problem?: koda.Error) false if there was none
---@return true?
---@return koda.Error?
function Native.remove_rule(id, callback) end

return Native
