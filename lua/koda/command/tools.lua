--- `:Koda tools`.

local POLICIES = { ask = "asked each time", off = "never offered" }

--- Returns the first sentence of a text.
---@param text string
---@return string
local function gist(text)
  return (text:match("^(.-)[.:]%s") or text:gsub("%.$", ""))
end

return function()
  local native, problem = require("koda.native").get()
  if not native then
    return require("koda.notify").error(problem --[[@as koda.Error]])
  end
  local policies, now = require("koda.config").get().tools, require("koda.current").get()
  local lines = { ("Offered in mode %s; trust is %s."):format(now.mode, now.trust), "" }
  for _, tool in ipairs(native.tools(now.mode)) do
    local policy = POLICIES[policies[tool.name]]
    local note = policy and (" [%s]"):format(policy) or ""
    lines[#lines + 1] = ("%-12s %s%s"):format(tool.name, gist(tool.description), note)
  end
  require("koda.view").open("Koda: tools", lines)
end
