--- Taking back what a session did, and doing it again: for commands, keys and the API.

local M = {}

---@alias koda.rewind.Answer fun(report?: koda.Rewound, problem?: koda.Error)

--- The session that is meant: the one named, the chat's, or the one opened last.
---@param opts? { session?: string }
---@return string?
---@return koda.Error?
local function session_of(opts)
  local chat = package.loaded["koda.chat"]
  local id = opts and opts.session or chat and chat.session() or require("koda.current").last()
  if id then
    return id
  end
  return nil, {
    code = "no_session",
    message = "there is no session of which something could be taken back",
    hint = ":Koda resume goes on with the latest",
  }
end

--- The conflicts of a report as entries of a quickfix list.
---@param report koda.Rewound
---@return table[]
local function conflicts(report)
  local entries = {}
  for _, change in ipairs(report.changes) do
    if change.how == "conflict" then
      for _, line in ipairs(change.lines or { 1 }) do
        entries[#entries + 1] = { filename = change.path, lnum = line, text = change.reason }
      end
    end
  end
  return entries
end

--- Lists what the user has to look at, where there is a user.
---@param report koda.Rewound
local function show_conflicts(report)
  local entries = conflicts(report)
  if #entries > 0 and #vim.api.nvim_list_uis() > 0 then
    vim.fn.setqflist({}, " ", { title = "Koda: left, since you have changed it", items = entries })
    require("koda.notify").warn(
      ("%d %s left as you have changed %s since; the quickfix list has %s"):format(
        #entries,
        #entries == 1 and "place was" or "places were",
        #entries == 1 and "it" or "them",
        #entries == 1 and "it" or "them"
      )
    )
  end
end

---@param opts? { session?: string }
---@param callback koda.rewind.Answer
---@param call fun(lib: koda.Native, session: string, answered: koda.rewind.Answer): true?, koda.Error?
---@return true?
---@return koda.Error?
local function start(opts, callback, call)
  local lib, problem = require("koda.native").get()
  if not lib then
    return nil, problem
  end
  local session
  session, problem = session_of(opts)
  if not session then
    return nil, problem
  end
  return call(lib, session, function(report, failure)
    if report then
      report.changes = report.changes or {}
      show_conflicts(report)
    end
    callback(report, failure)
  end)
end

--- Takes back a message and all that followed it; without a message the last turn.
---@param opts? koda.RewindOptions
---@param callback koda.rewind.Answer
---@return true?
---@return koda.Error?
function M.back(opts, callback)
  opts = opts or {}
  return start(opts, callback, function(lib, session, answered)
    local what = { message = opts.message, files = opts.files, conversation = opts.conversation }
    return lib.rewind(session, next(what) and what or vim.empty_dict(), answered)
  end)
end

--- Does again what was taken back last.
---@param opts? { session?: string }
---@param callback koda.rewind.Answer
---@return true?
---@return koda.Error?
function M.again(opts, callback)
  return start(opts, callback, function(lib, session, answered)
    return lib.redo(session, answered)
  end)
end

local HOW = {
  restored = "is as it was",
  removed = "is gone again",
  merged = "is as it was, but for what you changed",
  conflict = "was left",
  failed = "could not be given back",
}

--- Files that a report names one by one.
local NAMED = 12

--- Says what became of files, a line each.
---@param changes? koda.TakenBack[]
---@return string[]
function M.lines(changes)
  local lines = {}
  for _, change in ipairs(changes or {}) do
    local where = change.lines and #change.lines > 0 and (" (line %s)"):format(table.concat(change.lines, ", ")) or ""
    local why = change.reason and (": " .. change.reason) or ""
    local is_bad = change.how == "conflict" or change.how == "failed"
    if is_bad then
      table.insert(lines, 1, ("%s %s%s%s"):format(change.path, HOW[change.how], where, why))
    else
      lines[#lines + 1] = ("%s %s"):format(change.path, HOW[change.how])
    end
  end
  if #lines > NAMED then
    local more = #lines - NAMED + 1
    lines = vim.list_slice(lines, 1, NAMED - 1)
    lines[#lines + 1] = ("and %d more"):format(more)
  end
  return lines
end

--- Says in a line what was done, for the message line.
---@param verb string
---@return koda.rewind.Answer
function M.notifier(verb)
  return function(report, problem)
    local notify = require("koda.notify")
    if not report then
      return notify.error(problem --[[@as koda.Error]])
    end
    local files = #report.changes
    notify.info(
      ("%s: %s (%s)"):format(
        verb,
        report.text:match("[^\n]*"),
        files == 0 and "no files" or files == 1 and report.changes[1].path or files .. " files"
      )
    )
  end
end

return M
