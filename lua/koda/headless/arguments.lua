--- The arguments of `:Koda run`: options, then `--`, then the prompt as it stands.

local M = {}

---@class koda.headless.Arguments
---@field prompt string
---@field json? boolean
---@field model? string
---@field mode? string
---@field trust? string
---@field max_cost? number

--- Each option: what it takes, and how its help calls that. The values of an enum are those of the setting.
---@type table<string, { takes?: "setting"|"text"|"number", shown?: string, text: string }>
M.OPTIONS = {
  ["--json"] = { text = "prints each event as a line of JSON" },
  ["--model"] = { takes = "text", shown = "MODEL", text = "asks this model, `provider::model`" },
  ["--mode"] = { takes = "setting", shown = "MODE", text = "offers the tools of this mode" },
  ["--trust"] = { takes = "setting", shown = "TRUST", text = "who approves: plan, safe or auto" },
  ["--max-cost"] = { takes = "number", shown = "USD", text = "stops before a request at this cost" },
}

---@param message string
---@param hint? string
---@return nil
---@return koda.Error
local function fail(message, hint)
  return nil, { code = "usage", message = message, hint = hint or "usage: :Koda run [OPTIONS] -- PROMPT" }
end

---@return string[]
function M.names()
  local names = vim.tbl_keys(M.OPTIONS)
  table.sort(names)
  return names
end

--- Returns the values that an option may have, where they are few.
---@param name string
---@return string[]
function M.values(name)
  local option = M.OPTIONS[name]
  if not option or option.takes ~= "setting" then
    return {}
  end
  return require("koda.config").option(name:sub(3)).values
end

---@param name string
---@return nil
---@return koda.Error
local function unknown(name)
  local near = require("koda.nearest").find(name, M.names())
  return fail(("unknown option %s"):format(name), near and ("did you mean %s?"):format(near) or nil)
end

---@param name string
---@param value string
---@return any
---@return koda.Error?
local function convert(name, value)
  local option = M.OPTIONS[name]
  if option.takes == "number" then
    local number = tonumber(value)
    if not number or number < 0 or number == math.huge then
      return fail(("%s takes a number of at least 0, not %s"):format(name, value))
    end
    return number
  end
  local values = M.values(name)
  if #values > 0 and not vim.list_contains(values, value) then
    return fail(("%s takes %s, not %s"):format(name, table.concat(values, ", "), value))
  end
  return value
end

--- Reads the options up to `--`, one word or two each.
---@param text string
---@return table? # values by name without dashes, `-` as `_`
---@return koda.Error?
local function options(text)
  local found = {}
  local words = vim.split(text, "%s+", { trimempty = true })
  local at = 1
  while at <= #words do
    local name, value = words[at]:match("^(%-%-[^=]+)=(.*)$")
    name = name or words[at]
    local option = M.OPTIONS[name]
    if not option then
      if name:sub(1, 1) == "-" then
        return unknown(name)
      end
      return fail(("%s is no option"):format(name), "put `--` before the prompt: :Koda run -- PROMPT")
    end
    if option.takes and not value then
      at = at + 1
      value = words[at]
    end
    if option.takes and (not value or value == "") then
      return fail(("%s needs a value: %s %s"):format(name, name, option.shown))
    elseif not option.takes and value then
      return fail(("%s takes no value"):format(name))
    end
    local problem
    if option.takes then
      value, problem = convert(name, value)
      if problem then
        return nil, problem
      end
    end
    found[name:sub(3):gsub("-", "_")] = option.takes and value or true
    at = at + 1
  end
  return found
end

--- Reads the arguments.
---@param text string everything after `run`
---@return koda.headless.Arguments?
---@return koda.Error?
function M.parse(text)
  -- The first `--` that stands alone; what follows is the prompt, whatever is in it.
  local before, prompt = (" " .. text):match("^(.-)%s%-%-%s(.*)$")
  if not before then
    before, prompt = (" " .. text):match("^(.-)%s%-%-$"), ""
  end
  local parsed, problem = options(before or text)
  if not parsed then
    return nil, problem
  end
  if not before or not prompt:find("%S") then
    return fail("there is no prompt")
  end
  parsed.prompt = vim.trim(prompt)
  return parsed
end

return M
