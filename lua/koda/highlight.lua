--- Highlight groups: default links, so that a colour scheme or a user's `:highlight` wins.

local M = {}

--- Each group with what it links to by default and what it colours.
---@type { [1]: string, [2]: string, [3]: string }[]
M.GROUPS = {
  { "KodaNormal", "NormalFloat", "the chat's windows" },
  { "KodaBorder", "FloatBorder", "their borders" },
  { "KodaTitle", "FloatTitle", "their titles" },
  { "KodaBar", "StatusLine", "the bar over the transcript" },
  { "KodaBarModel", "Title", "the model in the bar" },
  { "KodaBarMode", "Identifier", "mode and trust in the bar" },
  { "KodaBarBusy", "DiagnosticInfo", "the bar while Koda works" },
  { "KodaBarWaiting", "DiagnosticWarn", "the bar while something waits for you" },
  { "KodaBarError", "DiagnosticError", "the bar after an error" },
  { "KodaBarDim", "Comment", "tokens, time and hints in the bar" },
  { "KodaUser", "CursorLine", "your messages" },
  { "KodaUserMark", "Identifier", "the mark before your messages" },
  { "KodaQueued", "Comment", "your messages that wait for the next step" },
  { "KodaNotice", "DiagnosticInfo", "notices and retries" },
  { "KodaError", "DiagnosticError", "errors" },
  { "KodaHint", "DiagnosticHint", "what you can do" },
  { "KodaDim", "Comment", "what matters less" },
  { "KodaUndone", "NonText", "what was taken back" },
  { "KodaReasoning", "Comment", "the model's reasoning" },
  { "KodaTool", "Function", "a tool's name" },
  { "KodaToolArg", "Normal", "a tool's main argument" },
  { "KodaToolGist", "Comment", "what came of a call" },
  { "KodaToolBody", "Comment", "what an unfolded call shows" },
  { "KodaRunning", "DiagnosticInfo", "the icon of a running call" },
  { "KodaDone", "DiagnosticOk", "the icon of a call that did what it was asked" },
  { "KodaFailed", "DiagnosticError", "the icon of a call that did not" },
  { "KodaWaiting", "DiagnosticWarn", "the icon of a call that waits for you" },
  { "KodaAsk", "Pmenu", "the card of an approval or a question" },
  { "KodaAskKey", "Special", "the keys of a card" },
  { "KodaInvisible", "WarningMsg", "a character that would not be seen otherwise" },
  { "KodaClassSafe", "DiagnosticOk", "a part of a command that only reads" },
  { "KodaClassMutating", "DiagnosticWarn", "a part that changes something" },
  { "KodaClassDestructive", "DiagnosticError", "a part that may destroy something" },
  { "KodaAdded", "Added", "added lines of a diff" },
  { "KodaRemoved", "Removed", "removed lines of a diff" },
  { "KodaHunkAdded", "DiffAdd", "a review: lines that come" },
  { "KodaHunkRemoved", "DiffDelete", "a review: lines that go" },
  { "KodaHunkAddedWord", "DiffText", "a review: words that come" },
  { "KodaHunkRemovedWord", "DiffText", "a review: words that go" },
  { "KodaHunk", "Comment", "headers of a diff" },
  { "KodaHeading", "Title", "Markdown: headings" },
  { "KodaCodeInline", "String", "Markdown: code in a line" },
  { "KodaCode", "CursorLine", "Markdown: lines of a code block" },
  { "KodaFence", "Comment", "Markdown: fences" },
  { "KodaQuote", "Comment", "Markdown: quotes" },
  { "KodaListMark", "Special", "Markdown: list marks" },
  { "KodaLink", "Underlined", "Markdown: links" },
  { "KodaRule", "Comment", "Markdown: rules and table borders" },
  { "KodaTaskOpen", "Normal", "a task that is to be done" },
  { "KodaTaskNow", "DiagnosticInfo", "the task that is being done" },
  { "KodaTaskDone", "Comment", "a task that is done" },
  { "KodaTerminalTitle", "Title", "the command in a terminal's bar" },
  { "KodaTerminalRunning", "DiagnosticInfo", "a terminal's running command" },
  { "KodaTerminalDone", "DiagnosticOk", "a terminal's command that ended well" },
  { "KodaTerminalFailed", "DiagnosticError", "a terminal's command that did not" },
}

--- Groups that are attributes, not colours, so that they stand out in any scheme.
---@type { [1]: string, [2]: vim.api.keyset.highlight, [3]: string }[]
M.ATTRIBUTES = {
  { "KodaBold", { bold = true, default = true }, "Markdown: bold" },
  { "KodaItalic", { italic = true, default = true }, "Markdown: italic" },
  { "KodaStrike", { strikethrough = true, default = true }, "Markdown: struck out" },
}

--- Defines all groups as defaults.
function M.apply()
  for _, group in ipairs(M.GROUPS) do
    vim.api.nvim_set_hl(0, group[1], { link = group[2], default = true })
  end
  for _, group in ipairs(M.ATTRIBUTES) do
    vim.api.nvim_set_hl(0, group[1], group[2])
  end
end

local set_up = false

--- Defines all groups, now and after each change of the colour scheme; further calls do nothing.
function M.setup()
  if set_up then
    return
  end
  set_up = true
  M.apply()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("koda.highlight", { clear = true }),
    desc = "Koda: sets its default highlights again",
    callback = M.apply,
  })
end

return M
