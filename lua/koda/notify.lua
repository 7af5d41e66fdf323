--- The one notifier: every message of the face goes through here.

local M = {}

---@class koda.Error
---@field code string short and stable, for scripts
---@field message string what was wrong, and where
---@field hint? string what to do

--- Says an error in one line.
---@param err koda.Error
---@return string
function M.text(err)
  return err.hint and ("%s (%s)"):format(err.message, err.hint) or err.message
end

--- What stands behind a message that was cut.
local MORE = "… (:Koda log)"

--- Makes a text fit the message line.
---@param text string
---@return string
---@return boolean # whether it had to be cut
local function fitting(text)
  local line = text:gsub("%s*\n%s*", " ")
  local room = vim.v.echospace
  if vim.fn.strdisplaywidth(line) <= room then
    return line, false
  end
  return vim.fn.strcharpart(line, 0, math.max(room - #MORE, 1)) .. MORE, true
end

--- Whether messages go to Neovim's own message line, where a long one stops the user until a key is pressed.
---@return boolean
local function is_line()
  -- Functions of Neovim's own modules come from `@vim/…`, or from bytecode without a source.
  local source = debug.getinfo(vim.notify, "S").source
  return #vim.api.nvim_list_uis() > 0 and (source:find("^@vim/") ~= nil or source:sub(1, 1) ~= "@")
end

---@param text string
---@param level integer
local function show(text, level)
  local shown = "Koda: " .. text
  local was_cut = false
  if is_line() then
    shown, was_cut = fitting(shown)
  end
  if was_cut then
    require("koda.log").write(text)
  end
  vim.notify(shown, level, { title = "Koda" })
end

---@param text string
function M.info(text)
  show(text, vim.log.levels.INFO)
end

---@param text string
function M.warn(text)
  show(text, vim.log.levels.WARN)
end

---@param err string|koda.Error
function M.error(err)
  show(type(err) == "table" and M.text(err) or err --[[@as string]], vim.log.levels.ERROR)
end

return M
