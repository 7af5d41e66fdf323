--- `:Koda rules`: lists the rules that last, or deletes one.

local notify = require("koda.notify")

---@param rule koda.Rule
---@return string
local function shown(rule)
  local what = rule.kind == "command" and table.concat(rule.heads, ", ") or rule.tool .. " in the project"
  local used = rule.last_use and os.date("last %Y-%m-%d %H:%M", math.floor(rule.last_use / 1000)) or "not used yet"
  local where = rule.project or "everywhere"
  return ("%d  %s %s  (%s; used %d times, %s)"):format(
    rule.id, rule.deny and "deny" or "allow", what, where, rule.uses, used
  )
end

---@param rules? koda.Rule[]
---@param problem? koda.Error
local function list(rules, problem)
  if not rules then
    return notify.error(problem --[[@as koda.Error]])
  elseif #rules == 0 then
    return notify.info("there are no rules yet")
  end
  local lines = vim.tbl_map(shown, rules)
  vim.list_extend(lines, { "", ":Koda rules NUMBER deletes one." })
  require("koda.view").open("Koda: rules", lines)
end

---@param call koda.Call
return function(call)
  local native, problem = require("koda.native").get()
  if not native then
    return notify.error(problem --[[@as koda.Error]])
  elseif call.args == "" then
    return require("koda.rules").list(list)
  end
  local id = tonumber(call.args)
  if not id or id < 1 or id % 1 ~= 0 then
    return notify.error({ code = "usage", message = call.args .. " is no rule's number", hint = "see :Koda rules" })
  end
  native.remove_rule(id, function(removed, failure)
    if failure then
      notify.error(failure)
    elseif removed then
      notify.info(("rule %d is deleted"):format(id))
    else
      notify.error({ code = "usage", message = ("there is no rule %d"):format(id), hint = "see :Koda rules" })
    end
  end)
end
