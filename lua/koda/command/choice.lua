--- What `:Koda mode` and `:Koda trust` share: setting one of a few values, by name or from a list.

local M = {}

--- Sets a value; without one asks for it.
---@param name "mode"|"trust"
---@param value string empty to choose
function M.of(name, value)
  local notify = require("koda.notify")
  local option = require("koda.config").option(name) --[[@as koda.config.Option]]
  if value == "" then
    local now = require("koda.current").get()[name]
    return vim.ui.select(option.values, { prompt = ("Koda: %s (now %s)"):format(name, now) }, function(chosen)
      if chosen then
        M.of(name, chosen)
      end
    end)
  end
  local problem = require("koda.validate").check({ option }, { [name] = value }, "")
  if problem then
    return notify.error(problem)
  end
  local ok
  ok, problem = require("koda.current").set({ [name] = value })
  if ok then
    notify.info(("%s %s"):format(name, value))
  else
    notify.error(problem --[[@as koda.Error]])
  end
end

return M
