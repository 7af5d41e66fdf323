--- The editor's half of the port `Editor`: buffers, for `rust/nvim/src/port/editor.rs`.
---
--- Everything here runs on the main thread, inside the bridge's budget, and raises no prompt: what
--- Neovim would ask about is found out before.

local M = {}

--- What Rust needs to know of a loaded buffer.
---@class koda.port.Buffer
---@field buffer integer
---@field path string
---@field text? string lines joined by `\n`, the last one ended if the file's is
---@field binary? string why the buffer is no text
---@field format string `unix`, `dos` or `mac`
---@field encoding string
---@field bom boolean
---@field unsaved boolean
---@field saved? boolean whether the change was written

--- Finds the loaded buffer of a file. Names are compared as they are, then by what they resolve to.
---@param path string absolute, symlinks resolved
---@return integer?
local function find(path)
  local base = vim.fs.basename(path)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
      local name = vim.api.nvim_buf_get_name(buf)
      if name == path then
        return buf
      end
      if name ~= "" and vim.fs.basename(name) == base and vim.uv.fs_realpath(name) == path then
        return buf
      end
    end
  end
end

--- Whether the buffer has no text at all, not even an empty line.
---@param buf integer
---@return boolean
local function is_empty(buf)
  return vim.api.nvim_buf_call(buf, function()
    return vim.fn.line2byte(vim.fn.line("$") + 1) <= 0
  end)
end

---@param buf integer
---@return koda.port.Buffer
local function describe(buf)
  local bo = vim.bo[buf]
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local text = table.concat(lines, "\n")
  if #lines > 1 or lines[1] ~= "" or not is_empty(buf) then
    text = text .. (bo.endofline and "\n" or "")
  end
  local newlines = select(2, text:gsub("\n", ""))
  local expected = #lines - 1 + (text ~= "" and bo.endofline and 1 or 0)
  return {
    buffer = buf,
    path = vim.api.nvim_buf_get_name(buf),
    text = text,
    -- Within a line the API shows a NUL byte as a newline.
    binary = newlines > expected and "it has NUL bytes" or nil,
    format = bo.fileformat,
    encoding = bo.fileencoding ~= "" and bo.fileencoding or "utf-8",
    bom = bo.bomb,
    unsaved = bo.modified,
  }
end

--- Takes over what another program wrote to a file, where the user has changed nothing.
---@param buf integer
local function catch_up(buf)
  if vim.bo[buf].modified then
    return
  end
  -- With 'autoread' Neovim reloads instead of asking (W11); undo and view stay.
  local autoread = vim.api.nvim_get_option_value("autoread", { buf = buf })
  vim.api.nvim_set_option_value("autoread", true, { buf = buf })
  vim.cmd({ cmd = "checktime", args = { tostring(buf) }, mods = { silent = true, emsg_silent = true } })
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_set_option_value("autoread", autoread, { buf = buf })
  end
end

--- Describes the buffer of a file if one is loaded.
---@param path string
---@return koda.port.Buffer?
function M.loaded(path)
  local buf = find(path)
  if buf then
    catch_up(buf)
    return describe(buf)
  end
end

--- Runs what a buffer's file type brings (plugins, syntax, servers) once a window shows it.
---
--- It can take a second (Neovim's own Python plugin looks for Python), which a file that nobody looks at
--- is not worth: the type itself is set at once, its event waits.
---@param buf integer
local function defer_filetype(buf)
  vim.api.nvim_create_autocmd("BufWinEnter", {
    buffer = buf,
    once = true,
    desc = "Koda: runs the file type's plugins of a buffer that it had loaded hidden",
    callback = function()
      vim.bo[buf].filetype = vim.bo[buf].filetype
    end,
  })
end

---@param path string
---@return integer
local function load_hidden(path)
  local buf = vim.fn.bufadd(path)
  local shortmess, eventignore = vim.o.shortmess, vim.o.eventignore
  -- No question about a swap file of another Neovim (E325): the file is read as it is.
  vim.o.shortmess = shortmess .. "A"
  vim.o.eventignore = eventignore == "" and "FileType,Syntax" or eventignore .. ",FileType,Syntax"
  local ok, err = pcall(vim.fn.bufload, buf)
  vim.o.shortmess, vim.o.eventignore = shortmess, eventignore
  if not ok then
    error(err, 0)
  end
  defer_filetype(buf)
  return buf
end

---@param buf integer
---@return string? reason why the buffer can't be changed
local function refusal(buf)
  local bo = vim.bo[buf]
  if not bo.modifiable then
    return "its buffer is 'nomodifiable'"
  end
  if bo.readonly then
    return "its buffer is 'readonly'"
  end
end

--- Describes the buffer of a file, loading it hidden and unlisted if no buffer has it.
---@param path string
---@return koda.port.Buffer?
---@return string? reason why it can't be changed
function M.load(path)
  local buf = find(path)
  if buf then
    catch_up(buf)
  else
    buf = load_hidden(path)
  end
  local reason = refusal(buf)
  if reason then
    return nil, reason
  end
  return describe(buf)
end

--- Ends the running undo block of the current buffer, so that what follows is a block of its own.
local function break_undo()
  vim.cmd("let &g:undolevels = &g:undolevels")
end

---@param buf integer
---@param change table a `Change` of `rust/nvim/src/port/place.rs`
local function change_lines(buf, change)
  if change.whole then
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, change.whole.lines)
    vim.bo[buf].endofline = change.whole.end_of_line
    return
  end
  local parts = change.parts.parts
  for i = #parts, 1, -1 do
    local part = parts[i]
    vim.api.nvim_buf_set_text(buf, part.row, part.col, part.end_row, part.end_col, part.lines)
  end
  if vim.bo[buf].endofline ~= change.parts.end_of_line then
    vim.bo[buf].endofline = change.parts.end_of_line
  end
end

--- Writes the current buffer as `:write` does, autocommands included.
---@param buf integer
---@return string? failure
local function write(buf)
  -- A file without an end of its last line stays one.
  local fixendofline = vim.bo[buf].fixendofline
  vim.bo[buf].fixendofline = false
  -- The bang answers what Neovim would ask about (W12); 'readonly' was looked at before.
  local ok, err = pcall(vim.cmd, "silent keepalt lockmarks write!")
  if vim.api.nvim_buf_is_valid(buf) then
    vim.bo[buf].fixendofline = fixendofline
  end
  if not ok then
    return tostring(err)
  end
end

--- Applies a change as one undo block and saves, unless the user had unsaved changes.
---@param buf integer
---@param change table a `Change` of `rust/nvim/src/port/place.rs`
---@param unsaved boolean whether the user had unsaved changes
---@return koda.port.Buffer?
---@return string? failure
function M.apply(buf, change, unsaved)
  local save = not unsaved and require("koda.config").get().edit.save
  local failure
  vim.api.nvim_buf_call(buf, function()
    break_undo()
    change_lines(buf, change)
    break_undo()
    if save then
      failure = write(buf)
    end
  end)
  if failure then
    return nil, "the change is in the buffer, but writing it failed: " .. failure
  end
  local after = describe(buf)
  after.saved = not vim.bo[buf].modified
  return after
end

--- Unloads the buffer of a deleted file if no window shows it and nothing in it would be lost.
---@param path string
function M.forget(path)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local gone = vim.api.nvim_buf_get_name(buf) == path
    if gone and not vim.bo[buf].modified and #vim.fn.win_findbuf(buf) == 0 then
      vim.api.nvim_buf_delete(buf, {})
    end
  end
end

--- Shows a file that was just written, or removed, in its buffer, if one is loaded.
---@param path string
function M.refresh(path)
  local buf = find(path)
  if buf and not vim.uv.fs_lstat(path) then
    M.forget(path)
  elseif buf then
    catch_up(buf)
  end
end

---@return integer[] # loaded buffers of files
local function files()
  return vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].buftype == ""
      and vim.api.nvim_buf_get_name(buf) ~= ""
  end, vim.api.nvim_list_bufs())
end

--- Names the loaded buffers of files.
---@return string[]
function M.loaded_files()
  return vim.tbl_map(vim.api.nvim_buf_get_name, files())
end

--- Describes each buffer with unsaved changes.
---@return koda.port.Buffer[]
function M.unsaved()
  local found = {}
  for _, buf in ipairs(files()) do
    if vim.bo[buf].modified then
      found[#found + 1] = describe(buf)
    end
  end
  return found
end

--- Lists the files that are open: listed, or shown in a window.
---@return table[] # an `OpenFile` of `rust/protocol` each
function M.open_files()
  local found = {}
  local current = vim.api.nvim_get_current_buf()
  for _, buf in ipairs(files()) do
    local wins = vim.fn.win_findbuf(buf)
    if vim.bo[buf].buflisted or #wins > 0 then
      found[#found + 1] = {
        path = vim.api.nvim_buf_get_name(buf),
        unsaved = vim.bo[buf].modified,
        visible = #wins > 0,
        current = buf == current,
        line = wins[1] and vim.api.nvim_win_get_cursor(wins[1])[1] or nil,
      }
    end
  end
  return found
end

local SEVERITY = { "error", "warning", "info", "hint" }

---@param buf integer
---@param path string
---@param found table[]
local function add_diagnostics(buf, path, found)
  for _, d in ipairs(vim.diagnostic.get(buf)) do
    found[#found + 1] = {
      path = path,
      line = d.lnum + 1,
      column = d.col + 1,
      severity = SEVERITY[d.severity],
      message = d.message,
      source = d.source,
    }
  end
end

--- Lists diagnostics of files, or of all.
---@param paths string[] empty: all
---@return table[] # a `Diagnostic` of `rust/protocol` each
function M.diagnostics(paths)
  local found = {}
  if #paths == 0 then
    for _, buf in ipairs(files()) do
      add_diagnostics(buf, vim.api.nvim_buf_get_name(buf), found)
    end
  end
  for _, path in ipairs(paths) do
    local buf = find(path)
    if buf then
      add_diagnostics(buf, path, found)
    end
  end
  return found
end

return M
