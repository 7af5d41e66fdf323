--- What was taken back, in the transcript: it stays to be read, and is dimmed until it is done again.

local rewind = require("koda.rewind")

local M = {}

local NS = vim.api.nvim_create_namespace("koda.chat.undone")

--- Over all that the transcript is painted with.
local PRIORITY = 5000

--- Where a message stands among those of the conversation.
---@param view koda.chat.View
---@param number integer
---@return integer? index
local function index_of(view, number)
  for index, message in ipairs(view.messages) do
    if message.number == number then
      return index
    end
  end
end

--- Dims all from a message on, and takes its messages out of those that stand.
---@param view koda.chat.View
---@param number integer
---@return { messages: table[], mark?: integer }
local function dim(view, number)
  local index = index_of(view, number)
  if not index then
    return { messages = {} }
  end
  local transcript = view.transcript
  local messages = vim.list_slice(view.messages, index)
  view.messages = vim.list_slice(view.messages, 1, index - 1)
  local mark = vim.api.nvim_buf_set_extmark(transcript.buf, NS, transcript:row_of(messages[1].mark), 0, {
    end_row = transcript.rows,
    hl_group = "KodaUndone",
    hl_eol = true,
    priority = PRIORITY,
    right_gravity = false,
    strict = false,
  })
  return { messages = messages, mark = mark }
end

---@param view koda.chat.View
---@param changes? koda.TakenBack[]
local function report(view, changes)
  for _, line in ipairs(rewind.lines(changes)) do
    local is_bad = line:find(" was left", 1, true) or line:find(" could not be ", 1, true)
    view.transcript:block({ "  " .. line }, is_bad and "KodaError" or "KodaDim", true)
  end
end

---@param event table
---@return string
local function what(event)
  if event.files and event.conversation then
    return "files and conversation"
  end
  return event.files and "files" or "conversation"
end

--- Draws that something was taken back.
---@param view koda.chat.View
---@param event table
---@param say fun(view: koda.chat.View, mark: string, text: string, group: string): integer
function M.take(view, event, say)
  view.transcript:finish()
  local taken = event.conversation and dim(view, event.message) or { messages = {} }
  table.insert(view.undone, taken)
  local text = ("taken back from “%s” on: %s"):format(event.text:match("[^\n]*"), what(event))
  say(view, "↶ ", text, "KodaNotice")
  report(view, event.changes)
end

--- Draws that it was done again.
---@param view koda.chat.View
---@param event table
---@param say fun(view: koda.chat.View, mark: string, text: string, group: string): integer
function M.give(view, event, say)
  view.transcript:finish()
  local taken = table.remove(view.undone)
  if taken then
    vim.list_extend(view.messages, taken.messages)
    if taken.mark then
      vim.api.nvim_buf_del_extmark(view.transcript.buf, NS, taken.mark)
    end
  end
  say(view, "↷ ", "done again: " .. what(event), "KodaNotice")
  report(view, event.changes)
end

return M
