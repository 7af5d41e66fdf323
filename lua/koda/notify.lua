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

--- Where the whole of a message that was cut stands.
local LOG = ":Koda log"

--- Columns of a message that must be left for a hint to stand behind it.
local LEAST_COLUMNS = 30

--- Makes a text fit the message line. What is cut is the message, not what to do.
---@param message string
---@param hint? string
---@return string
---@return boolean # whether it had to be cut
local function fitting(message, hint)
  local whole = M.text({ code = "", message = message, hint = hint }):gsub("%s*\n%s*", " ")
  local room = vim.v.echospace
  if vim.fn.strdisplaywidth(whole) <= room then
    return whole, false
  end
  local way = hint and hint:gsub("%s*\n%s*", " ")
  if way and not way:find(LOG, 1, true) then
    way = ("%s; %s"):format(way, LOG)
  end
  local tail = way and ("… (%s)"):format(way)
  if not tail or vim.fn.strdisplaywidth(tail) > room - LEAST_COLUMNS then
    tail = ("… (%s)"):format(LOG)
  end
  return vim.fn.strcharpart(whole, 0, math.max(room - vim.fn.strdisplaywidth(tail), 1)) .. tail, true
end

--- Whether messages go to Neovim's own message line, where a long one stops the user until a key is pressed.
---@return boolean
local function is_line()
  -- Functions of Neovim's own modules come from `@vim/…`, or from bytecode without a source.
  local source = debug.getinfo(vim.notify, "S").source
  return #vim.api.nvim_list_uis() > 0 and (source:find("^@vim/") ~= nil or source:sub(1, 1) ~= "@")
end

---@param message string
---@param level integer
---@param hint? string
local function show(message, level, hint)
  local whole = M.text({ code = "", message = message, hint = hint })
  local shown, was_cut = "Koda: " .. whole, false
  if is_line() then
    shown, was_cut = fitting("Koda: " .. message, hint)
  end
  if was_cut then
    require("koda.log").write(whole)
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
  if type(err) == "table" then
    show(err.message, vim.log.levels.ERROR, err.hint)
  else
    show(err --[[@as string]], vim.log.levels.ERROR)
  end
end

return M
