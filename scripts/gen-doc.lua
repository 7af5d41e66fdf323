-- Writes what is generated from the code: sections of doc/koda.txt, and types in lua/koda/_meta/.
--
--   nvim -l scripts/gen-doc.lua            writes
--   nvim -l scripts/gen-doc.lua --check    writes nothing; exits with 1 and names the files that would change
--
-- A generated section of the help begins below the line with its tag and ends before the next line of `=` or
-- `-`.

local root = vim.fn.fnamemodify(arg[0], ":p:h:h")
vim.opt.runtimepath:prepend(root)

local WIDTH = 78

---@param path string relative to the root
---@return string
local function read(path)
  local file = assert(io.open(root .. "/" .. path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

--- Breaks a text into lines.
---@param text string
---@param indent integer
---@return string[]
local function wrap(text, indent)
  local lines, line = {}, (" "):rep(indent)
  local is_empty = true
  for word in text:gmatch("%S+") do
    if not is_empty and vim.fn.strdisplaywidth(line .. " " .. word) > WIDTH then
      lines[#lines + 1] = line
      line, is_empty = (" "):rep(indent), true
    end
    line = line .. (is_empty and "" or " ") .. word
    is_empty = false
  end
  lines[#lines + 1] = line
  return lines
end

--- A heading with its tag at the right border.
---@param heading string
---@param tag string
---@return string
local function tagged(heading, tag)
  local room = WIDTH - vim.fn.strdisplaywidth(heading) - #tag - 2
  return heading .. (" "):rep(math.max(room, 1)) .. "*" .. tag .. "*"
end

--- A table of two columns; a left side that is too wide gets a line of its own.
---@param rows { [1]: string, [2]: string }[]
---@return string[]
local function columns(rows)
  local left = 0
  for _, row in ipairs(rows) do
    left = math.max(left, math.min(#row[1], 26))
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local text = wrap(row[2], left + 4)
    if #row[1] <= left then
      text[1] = "  " .. row[1] .. text[1]:sub(#row[1] + 3)
    else
      table.insert(text, 1, "  " .. row[1])
    end
    vim.list_extend(lines, text)
  end
  return lines
end

---@param values string[]
---@return string
local function quoted(values)
  return table.concat(
    vim.tbl_map(function(value)
      return ('"%s"'):format(value)
    end, values),
    "|"
  )
end

-- Settings --------------------------------------------------------------------------------------

local TYPES = {
  string = "string",
  integer = "integer",
  number = "number",
  any = "any",
  boolean = "boolean",
  border = "string|string[]|[string, string][]",
  command = "string|string[]",
  key = "string|false",
}

---@param option koda.config.Option
---@return string
local function lua_type(option)
  if option.type == "enum" then
    return quoted(option.values)
  elseif option.type == "map" then
    local of = option.of --[[@as koda.config.Option]]
    return ("table<string, %s>"):format(of.fields and of.name or lua_type(of))
  end
  return TYPES[option.type]
end

--- The type as the help shows it, where bars would be taken for links.
---@param option koda.config.Option
---@return string
local function shown_type(option)
  if option.type == "map" and option.of.fields then
    return "table by name"
  end
  return (lua_type(option):gsub("|", " or "))
end

---@param option koda.config.Option
---@return string
local function default_of(option)
  if option.default == nil then
    return "none"
  end
  return type(option.default) == "table" and "{}" or vim.inspect(option.default)
end

---@param options koda.config.Option[]
---@param parent string
---@param lines string[]
local function option_lines(options, parent, lines)
  for _, option in ipairs(options) do
    local path = parent .. option.name
    if option.type == "section" then
      option_lines(option.fields, path .. ".", lines)
    else
      lines[#lines + 1] = ""
      lines[#lines + 1] = tagged(path, "koda-option-" .. path)
      vim.list_extend(lines, wrap(option.text, 4))
      local kind = ("Type: %s. Default: %s."):format(shown_type(option), default_of(option))
      vim.list_extend(lines, wrap(kind, 4))
      if option.of and option.of.fields then
        for _, field in ipairs(option.of.fields) do
          vim.list_extend(lines, wrap(("`%s` (%s): %s"):format(field.name, shown_type(field), field.text), 6))
        end
      end
    end
  end
end

local function options_section()
  local schema = vim.tbl_filter(function(option)
    return option.name ~= "keys"
  end, require("koda.config").SCHEMA)
  local lines = {}
  option_lines(schema, "", lines)
  return lines
end

local function keys_section()
  local keys = require("koda.config").option("keys") --[[@as koda.config.Option]]
  return columns(vim.tbl_map(function(key)
    return { ("keys.%s  %s"):format(key.name, default_of(key)), key.text }
  end, keys.fields))
end

---@param name string
---@param options koda.config.Option[]
---@param is_optional boolean
---@param out string[]
local function class(name, options, is_optional, out)
  local own, nested = { "---@class " .. name }, {}
  for _, option in ipairs(options) do
    local kind
    if option.type == "section" then
      kind = ("%s.%s"):format(name, option.name)
      nested[#nested + 1] = { kind, option.fields }
    else
      kind = lua_type(option)
    end
    local is_absent = is_optional or (option.type ~= "section" and option.default == nil)
    own[#own + 1] = ("---@field %s%s %s %s"):format(option.name, is_absent and "?" or "", kind, option.text)
  end
  for _, section in ipairs(nested) do
    class(section[1], section[2], is_optional, out)
  end
  vim.list_extend(out, own)
  out[#out + 1] = ""
end

local function config_types()
  local config = require("koda.config")
  local out = {
    "---@meta",
    "--- Types of the settings. Generated from the schema in `koda.config` by `make doc`.",
    "",
  }
  for _, option in ipairs(config.SCHEMA) do
    if option.of and option.of.fields then
      class(option.of.name, option.of.fields, true, out)
    end
  end
  class("koda.Settings", config.SCHEMA, true, out)
  class("koda.Config", config.SCHEMA, false, out)
  out[#out] = nil
  return table.concat(out, "\n") .. "\n"
end

-- Commands, maps, highlights, autocommands ------------------------------------------------------

local function commands_section()
  local lines = {}
  for _, command in ipairs(require("koda.commands").SUBCOMMANDS) do
    lines[#lines + 1] = ""
    local heading = (":Koda %s %s"):format(command.name, command.args or ""):gsub("%s+$", "")
    lines[#lines + 1] = tagged(heading, ":Koda-" .. command.name)
    vim.list_extend(lines, wrap(command.text, 4))
  end
  return lines
end

local function run_options_section()
  local arguments = require("koda.headless.arguments")
  return columns(vim.tbl_map(function(name)
    local option = arguments.OPTIONS[name]
    return { option.shown and ("%s %s"):format(name, option.shown) or name, option.text }
  end, arguments.names()))
end

local function maps_section()
  dofile(root .. "/plugin/koda.lua")
  local rows = {}
  for _, mode in ipairs({ "n", "x" }) do
    for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
      if map.lhs:find("^<Plug>%(koda") then
        rows[#rows + 1] = { ("%s  %s"):format(mode, map.lhs), (map.desc:gsub("^Koda: ", "")) }
      end
    end
  end
  table.sort(rows, function(a, b)
    return a[1] < b[1]
  end)
  return columns(rows)
end

local function highlights_section()
  local highlight = require("koda.highlight")
  local rows = {}
  for _, group in ipairs(highlight.GROUPS) do
    rows[#rows + 1] = { group[1], ("%s; links to %s"):format(group[3], group[2]) }
  end
  for _, group in ipairs(highlight.ATTRIBUTES) do
    rows[#rows + 1] = { group[1], group[3] }
  end
  return columns(rows)
end

local function autocmds_section()
  local rows = {}
  for event, name in vim.spairs(require("koda.events").AUTOCMDS) do
    rows[#rows + 1] = { name, ("on each event `%s`"):format(event) }
  end
  table.sort(rows, function(a, b)
    return a[1] < b[1]
  end)
  return columns(rows)
end

-- Events ----------------------------------------------------------------------------------------

local events = dofile(root .. "/scripts/event-doc.lua")(read("rust/protocol/src/event.rs"))

local function events_section()
  local lines = {}
  for _, event in ipairs(events) do
    lines[#lines + 1] = ""
    lines[#lines + 1] = tagged(event.name, "koda-event-" .. event.name)
    vim.list_extend(lines, wrap(event.text, 4))
    for _, field in ipairs(event.fields) do
      vim.list_extend(lines, wrap(("`%s`: %s"):format(field.name, field.text), 6))
    end
  end
  return lines
end

local function event_types()
  local names, out = {}, {
    "---@meta",
    "--- Events of the stream. Generated from `rust/protocol/src/event.rs` by `make doc`.",
    "",
    "--- What every event has; the other fields depend on its type.",
    "---@class koda.EventBase",
    "---@field time integer milliseconds since the epoch",
    "---@field session string",
  }
  for _, event in ipairs(events) do
    names[#names + 1] = event.name
    local camel = event.name:gsub("_?(%l+)", function(word)
      return word:sub(1, 1):upper() .. word:sub(2)
    end)
    local head = ("---@class koda.event.%s: koda.EventBase"):format(camel)
    vim.list_extend(out, { "", "--- " .. event.text, head })
    out[#out + 1] = ('---@field type "%s"'):format(event.name)
    for _, field in ipairs(event.fields) do
      local name = field.name .. (field.optional and "?" or "")
      out[#out + 1] = ("---@field %s %s %s"):format(name, field.type, field.text)
    end
  end
  vim.list_extend(out, {
    "",
    "---@alias koda.EventType " .. quoted(names),
    "",
    "---@alias koda.Event table one of the classes above, told apart by `type`",
  })
  return table.concat(out, "\n") .. "\n"
end

-- The files -------------------------------------------------------------------------------------

local SECTIONS = {
  ["koda-commands"] = commands_section,
  ["koda-run-options"] = run_options_section,
  ["koda-options"] = options_section,
  ["koda-keys"] = keys_section,
  ["koda-maps"] = maps_section,
  ["koda-highlights"] = highlights_section,
  ["koda-autocmds"] = autocmds_section,
  ["koda-events"] = events_section,
}

--- Puts the generated sections into the help.
---@param help string
---@return string
local function filled(help)
  local lines, skipping = {}, false
  local missing = vim.deepcopy(SECTIONS)
  for _, line in ipairs(vim.split(help, "\n", { plain = true })) do
    if skipping and (line:find("^===") or line:find("^%-%-%-")) then
      lines[#lines + 1] = ""
      skipping = false
    end
    if not skipping then
      lines[#lines + 1] = line
    end
    local tag = line:match("%*(koda%-[%w-]+)%*$")
    if tag and missing[tag] then
      local section = missing[tag]()
      if section[1] ~= "" then
        table.insert(section, 1, "")
      end
      vim.list_extend(lines, section)
      missing[tag] = nil
      skipping = true
    end
  end
  assert(next(missing) == nil, "doc/koda.txt has no section " .. (next(missing) or ""))
  return table.concat(lines, "\n")
end

local made = {
  ["lua/koda/_meta/config.lua"] = config_types(),
  ["lua/koda/_meta/events.lua"] = event_types(),
  ["doc/koda.txt"] = filled(read("doc/koda.txt")),
}

local is_check = arg[1] == "--check"
local stale = {}
for path, text in vim.spairs(made) do
  local ok, old = pcall(read, path)
  if not ok or old ~= text then
    stale[#stale + 1] = path
    if not is_check then
      local file = assert(io.open(root .. "/" .. path, "wb"))
      file:write(text)
      file:close()
    end
  end
end
if is_check and #stale > 0 then
  io.stderr:write("stale, run `make doc`: ", table.concat(stale, ", "), "\n")
  os.exit(1)
end
