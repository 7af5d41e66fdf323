--- `:Koda tools`.

local DECISIONS = { auto = "as trust says", ask = "asked each time", off = "never offered" }

return function()
  local native, problem = require("koda.native").get()
  if not native then
    return require("koda.notify").error(problem --[[@as koda.Error]])
  end
  local config, now = require("koda.config").get(), require("koda.current").get()
  local lines = {
    ("Offered in mode %s; trust is %s."):format(now.mode, now.trust),
    "",
  }
  for _, tool in ipairs(native.tools(now.mode)) do
    lines[#lines + 1] = ("%-12s %s"):format(tool.name, DECISIONS[config.tools[tool.name] or "auto"])
    lines[#lines + 1] = "             " .. tool.description:match("^[^.:]*")
  end
  require("koda.view").open("Koda: tools", lines)
end
