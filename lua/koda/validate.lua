--- Checks settings against the schema in `koda.config`, and says each fault with what to write instead.

local M = {}

---@param word any
---@param candidates string[]
---@return string?
local function nearest(word, candidates)
  -- Required only for a fault: `setup` runs at each start of Neovim.
  return type(word) == "string" and require("koda.nearest").find(word, candidates) or nil
end

---@param value any
---@return string
local function shown(value)
  if type(value) == "string" then
    return ('"%s"'):format(#value > 40 and value:sub(1, 40) .. "…" or value)
  end
  return type(value) == "table" and "a table" or tostring(value)
end

---@param values string[]
---@return string
local function choices(values)
  local quoted = vim.tbl_map(function(value)
    return ('"%s"'):format(value)
  end, values)
  local last = table.remove(quoted)
  return #quoted == 0 and last or ("%s or %s"):format(table.concat(quoted, ", "), last)
end

---@param path string
---@param expected string
---@param value any
---@return string
local function mismatch(path, expected, value)
  return ("`%s` must be %s, not %s"):format(path, expected, shown(value))
end

---@param parent string
---@param name any
---@return string
local function join(parent, name)
  return parent == "" and tostring(name) or ("%s.%s"):format(parent, name)
end

---@type table<string, fun(option: koda.config.Option, value: any, path: string): string?>
local checks = {}

---@param option koda.config.Option
---@param value any
---@param path string
---@return string? # the fault
local function check(option, value, path)
  return checks[option.type](option, value, path)
end

---@param kind string
---@param expected string
---@return fun(option: koda.config.Option, value: any, path: string): string?
local function of_type(kind, expected)
  return function(_, value, path)
    return type(value) ~= kind and mismatch(path, expected, value) or nil
  end
end

checks.string = of_type("string", "a string")
checks.boolean = of_type("boolean", "true or false")

function checks.integer(option, value, path)
  local expected = option.min and ("a whole number of at least %d"):format(option.min) or "a whole number"
  if type(value) ~= "number" or value % 1 ~= 0 or (option.min and value < option.min) then
    return mismatch(path, expected, value)
  end
end

--- Whatever can be sent as JSON.
function checks.any(_, value, path)
  if not pcall(vim.json.encode, value) then
    return mismatch(path, "a value that JSON can hold", value)
  end
end

function checks.number(option, value, path)
  local expected = option.min and ("a number of at least %d"):format(option.min) or "a number"
  -- A number that is none (NaN) is not even itself.
  if type(value) ~= "number" or value ~= value or (option.min and value < option.min) or value == math.huge then
    return mismatch(path, expected, value)
  end
end

function checks.enum(option, value, path)
  if vim.list_contains(option.values, value) then
    return nil
  end
  local near = nearest(value, option.values)
  local hint = near and ('; did you mean "%s"?'):format(near) or ""
  return mismatch(path, choices(option.values), value) .. hint
end

function checks.key(_, value, path)
  if value ~= false and type(value) ~= "string" then
    return mismatch(path, "a key such as \"<C-s>\", or false", value)
  end
end

function checks.command(_, value, path)
  local is_words = type(value) == "table" and vim.islist(value) and #value > 0
  for _, word in ipairs(is_words and value or {}) do
    is_words = is_words and type(word) == "string"
  end
  if type(value) ~= "string" and not is_words then
    return mismatch(path, "a command line, or a list of its words", value)
  end
end

--- The borders that Neovim has a name for, by the first version that has it.
local BORDERS = { none = 0, single = 0, double = 0, rounded = 0, solid = 0, shadow = 0, bold = "nvim-0.11" }

---@param part any
---@return boolean # whether it is a piece of a border: a character of one cell or nothing, or that with a highlight
local function is_border_part(part)
  if type(part) == "table" then
    return vim.islist(part) and (#part == 1 or type(part[2]) == "string") and is_border_part(part[1])
  end
  return type(part) == "string" and vim.fn.strdisplaywidth(part) <= 1 and vim.fn.strchars(part) <= 1
end

--- As `nvim_open_win` takes it: a wrong one would fail only when a window opens.
function checks.border(_, value, path)
  if type(value) == "table" then
    local fits = vim.islist(value) and vim.list_contains({ 1, 2, 4, 8 }, #value)
    for _, part in ipairs(fits and value or {}) do
      fits = fits and is_border_part(part)
    end
    return not fits and mismatch(path, "1, 2, 4 or 8 characters, as of nvim_open_win()", value) or nil
  end
  local names = vim.tbl_filter(function(name)
    return BORDERS[name] == 0 or vim.fn.has(BORDERS[name]) == 1
  end, vim.tbl_keys(BORDERS))
  table.sort(names)
  local fault = checks.enum({ values = names }, value, path)
  return fault and fault:gsub(", not ", ", or a list of characters, not ", 1) or nil
end

---@param faults string[]
---@return string? # one in a line
local function joined(faults)
  return #faults > 0 and table.concat(faults, "\n") or nil
end

function checks.map(option, value, path)
  if type(value) ~= "table" or (vim.islist(value) and #value > 0) then
    return mismatch(path, "a table by name", value)
  end
  local faults = {}
  for name, item in vim.spairs(value) do
    if type(name) ~= "string" then
      return mismatch(path, "a table by name", value)
    end
    faults[#faults + 1] = check(option.of, item, join(path, name))
  end
  return joined(faults)
end

---@param fields koda.config.Option[]
---@param name any
---@param parent string
---@return string
local function unknown(fields, name, parent)
  local names = vim.tbl_map(function(field)
    return field.name
  end, fields)
  local near = nearest(name, names)
  local hint = near and ("; did you mean `%s`?"):format(join(parent, near))
    or #names > 0 and ("; there are %s"):format(table.concat(names, ", "))
    or ""
  return ("unknown option `%s`%s"):format(join(parent, name), hint)
end

function checks.section(option, value, path)
  if type(value) ~= "table" then
    return mismatch(path, "a table", value)
  end
  local known = {}
  for _, field in ipairs(option.fields) do
    known[field.name] = field
  end
  -- Sorted by their text, since a list's keys can't be compared with names.
  local names = vim.tbl_keys(value)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  local faults = {}
  for _, name in ipairs(names) do
    if known[name] then
      faults[#faults + 1] = check(known[name], value[name], join(path, name))
    else
      faults[#faults + 1] = unknown(option.fields, name, path)
    end
  end
  return joined(faults)
end

--- Checks settings. Returns all that is wrong, sorted by name, each in a line of the message.
---@param schema koda.config.Option[]
---@param opts any
---@param where? string what the message begins with; `setup: ` without it
---@return koda.Error?
function M.check(schema, opts, where)
  local fault
  if type(opts) ~= "table" then
    fault = "a table is expected, not " .. shown(opts)
  else
    fault = checks.section({ fields = schema }, opts, "")
  end
  if fault then
    return { code = "config", message = (where or "setup: ") .. fault, hint = "see :help koda-config" }
  end
end

return M
