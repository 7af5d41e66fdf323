--- Going back before a message of the transcript, to send it again in other words.

local M = {}

--- Finds the message of the user that a row belongs to.
---@param view koda.chat.View
---@param row integer from 0
---@return { number: integer, text: string }?
local function message_at(view, row)
  local found
  for _, message in ipairs(view.messages) do
    if view.transcript:row_of(message.mark) <= row then
      found = message
    end
  end
  return found
end

local CHOICES = {
  { text = "files and conversation", files = true, conversation = true },
  { text = "conversation only: files stay as they are", files = false, conversation = true },
  { text = "files only: the conversation stays", files = true, conversation = false },
}

--- Puts a text into the prompt in the place of the draft, to be changed and sent, and goes there.
---@param text string
local function edit(text)
  require("koda.chat").open()
  require("koda.chat.prompt").replace(text)
  vim.api.nvim_set_current_win(require("koda.chat.window").get().prompt)
end

---@param message { number: integer, text: string }
---@param choice { files: boolean, conversation: boolean }
local function go(message, choice)
  local notify = require("koda.notify")
  local opts = { message = message.number, files = choice.files, conversation = choice.conversation }
  local ok, problem = require("koda.rewind").back(opts, function(report, failure)
    if not report then
      return notify.error(failure --[[@as koda.Error]])
    end
    if choice.conversation then
      edit(report.text)
    end
  end)
  if not ok then
    notify.error(problem --[[@as koda.Error]])
  end
end

--- Asks what is to be taken back from the message at a row on, and does it.
---@param view koda.chat.View
---@param row integer from 0
function M.ask(view, row)
  local message = message_at(view, row)
  if not message then
    return require("koda.notify").info("there is no message here that stands")
  end
  local title = ("Koda: take back from “%s” on"):format(vim.fn.strcharpart(message.text:match("[^\n]*"), 0, 40))
  vim.ui.select(CHOICES, {
    prompt = title,
    format_item = function(choice)
      return choice.text
    end,
  }, function(choice)
    if choice then
      go(message, choice)
    end
  end)
end

return M
