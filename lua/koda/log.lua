--- The log file, which the library writes; the face adds the messages that did not fit the screen.

local M = {}

--- Returns the folder of what may be lost without harm.
---@return string
function M.folder()
  return vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "koda")
end

--- Returns the path of the log.
---@return string
function M.path()
  return vim.fs.joinpath(M.folder(), "koda.log")
end

--- Appends a line.
---@param text string
function M.write(text)
  vim.fn.mkdir(M.folder(), "p")
  -- Opened anew each time: the library rotates the file.
  local file = io.open(M.path(), "a")
  if file then
    file:write(os.date("!%Y-%m-%dT%H:%M:%SZ"), "  face: ", text, "\n")
    file:close()
  end
end

return M
