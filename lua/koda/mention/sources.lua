--- Where the content of mentions comes from.

local M = {}

--- Lines of a buffer, a terminal or a diff that a mention attaches; the model reads on by itself.
local MAX_LINES = 1000

---@alias koda.mention.Done fun(part: koda.mention.Part)

---@type integer? the file's buffer that was last looked at
local here

--- Takes note of a buffer that is looked at; Koda's own and other special ones are none to mention.
---@param buf integer
function M.visit(buf)
  if vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= "" then
    here = buf
  end
end

---@return integer?
local function buffer()
  return here and vim.api.nvim_buf_is_loaded(here) and here or nil
end

---@param text string
---@return string
local function fenced(text)
  return require("koda.context").fenced(text)
end

---@param title string
---@param lines string[]
---@return koda.mention.Part
local function part(title, lines)
  local shown = lines
  if #lines > MAX_LINES then
    -- The end says most of a terminal, and as much as the beginning of the rest.
    shown = vim.list_slice(lines, #lines - MAX_LINES + 1)
    table.insert(shown, 1, ("[%d earlier lines left out]"):format(#lines - MAX_LINES))
  end
  return { title = title, text = title .. "\n" .. fenced(table.concat(shown, "\n")) }
end

local SEVERITY = { "error", "warning", "information", "hint" }

---@param diagnostics vim.Diagnostic[]
---@return string[]
local function diagnostic_lines(diagnostics)
  return vim.tbl_map(function(found)
    local path = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(found.bufnr), ":.")
    local severity, message = SEVERITY[found.severity], found.message:gsub("\n", " ")
    return ("%s:%d:%d: %s: %s"):format(path, found.lnum + 1, found.col + 1, severity, message)
  end, diagnostics)
end

---@param items table[]
---@return string[]
local function quickfix_lines(items)
  return vim.tbl_map(function(item)
    local name = item.bufnr > 0 and vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ":.") or ""
    return ("%s:%d: %s"):format(name, item.lnum, item.text)
  end, items)
end

--- Ends one after another: a list, or words that say that there is nothing.
---@param done koda.mention.Done
---@param title string
---@param lines string[]
---@param none string
local function listed(done, title, lines, none)
  done(#lines > 0 and part(title, lines) or { title = title, text = title .. ": " .. none })
end

---@type table<string, { text: string, resolve: fun(mention: koda.Mention, done: koda.mention.Done) }>
M.KEYWORDS = {}

M.KEYWORDS.buffer = {
  text = "the file that was last looked at, unsaved lines included",
  resolve = function(_, done)
    local buf = buffer()
    if not buf then
      return done({ title = "@buffer", problem = "@buffer: no file was looked at" })
    end
    local path = vim.api.nvim_buf_get_name(buf)
    M.file({ name = path }, done, vim.fn.fnamemodify(path, ":."))
  end,
}

M.KEYWORDS.selection = {
  text = "its lines that were last selected",
  resolve = function(_, done)
    local buf = buffer()
    local first = buf and vim.api.nvim_buf_get_mark(buf, "<")[1] or 0
    local last = buf and vim.api.nvim_buf_get_mark(buf, ">")[1] or 0
    if not buf or first == 0 or last < first then
      return done({ title = "@selection", problem = "@selection: nothing was selected" })
    end
    last = math.min(last, vim.api.nvim_buf_line_count(buf))
    done({ title = "selection", text = require("koda.context").lines(buf, first, last) })
  end,
}

M.KEYWORDS.diagnostics = {
  text = "what language servers and linters say",
  resolve = function(_, done)
    listed(done, "diagnostics", diagnostic_lines(vim.diagnostic.get()), "none")
  end,
}

M.KEYWORDS.quickfix = {
  text = "the quickfix list",
  resolve = function(_, done)
    listed(done, "quickfix list", quickfix_lines(vim.fn.getqflist()), "empty")
  end,
}

M.KEYWORDS.diff = {
  text = "what changed since the last commit",
  resolve = function(_, done)
    local command = { "git", "--no-pager", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD" }
    local ok, problem = pcall(vim.system, command, { cwd = vim.fn.getcwd() }, function(result)
      vim.schedule(function()
        if result.code ~= 0 then
          local said = vim.trim(result.stderr or ""):match("[^\n]*")
          return done({ title = "@diff", problem = "@diff: " .. (said ~= "" and said or "git failed") })
        end
        listed(done, "git diff HEAD", vim.split(vim.trim(result.stdout), "\n"), "no changes")
      end)
    end)
    if not ok then
      done({ title = "@diff", problem = ("@diff: git can't be run: %s"):format(problem) })
    end
  end,
}

M.KEYWORDS.terminal = {
  text = "the terminal that was last at work; @terminal:2 names one",
  resolve = function(mention, done)
    local terminals = require("koda.terminal").list()
    local wanted = mention.first and vim.iter(terminals):find(function(terminal)
      return terminal.number == mention.first
    end) or (not mention.first and terminals[#terminals])
    if not wanted then
      return done({ title = "@terminal", problem = "@terminal: there is no such terminal" })
    end
    local lines = vim.api.nvim_buf_get_lines(wanted.buf, 0, -1, false)
    while lines[#lines] == "" do
      lines[#lines] = nil
    end
    listed(done, ("terminal %d, $ %s"):format(wanted.number, wanted.title), lines, "empty")
  end,
}

--- Attaches what a tool says of a path.
---@param tool string
---@param args table
---@param title string
---@param done koda.mention.Done
local function by_tool(tool, args, title, done)
  local koda = require("koda")
  local verdict, problem = koda.judge({ tool = tool, args = args })
  if not verdict or verdict.verdict ~= "allow" then
    local why = verdict and verdict.reasons[1] or problem.message
    return done({ title = title, problem = ("@%s is not attached: %s"):format(title, why) })
  end
  local handle
  handle, problem = koda.tool({ name = tool, args = args })
  if not handle then
    return done({ title = title, problem = ("@%s is not attached: %s"):format(title, problem.message) })
  end
  handle:on_end(function(result)
    if result.ok then
      return done({ title = title, text = title .. "\n" .. fenced(result.text) })
    end
    done({ title = title, problem = ("@%s is not attached: %s"):format(title, result.text:match("[^\n]*")) })
  end)
end

--- Attaches a file, or the names in a folder; what is neither is no mention.
---@param mention koda.Mention
---@param done koda.mention.Done
---@param title? string
function M.file(mention, done, title)
  local path = vim.startswith(mention.name, "~/") and vim.uv.os_homedir() .. mention.name:sub(2) or mention.name
  local full = vim.startswith(path, "/") and path or vim.fs.joinpath(vim.fn.getcwd(), path)
  vim.uv.fs_stat(full, vim.schedule_wrap(function(_, stat)
    if not stat then
      return done({ title = mention.name })
    end
    if stat.type == "directory" then
      return by_tool("ListFiles", { path = path }, title or mention.name, done)
    end
    local ranges = mention.first and { { start_line = mention.first, end_line = mention.last } } or nil
    local lines = mention.first and (":%d-%d"):format(mention.first, mention.last) or ""
    by_tool("Read", { path = path, ranges = ranges }, (title or mention.name) .. lines, done)
  end))
end

--- Resolves one mention.
---@param mention koda.Mention
---@param done koda.mention.Done
function M.resolve(mention, done)
  local keyword = M.KEYWORDS[mention.name]
  if keyword then
    return keyword.resolve(mention, done)
  end
  M.file(mention, done)
end

return M
