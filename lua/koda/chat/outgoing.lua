--- Prompts on their way: what they mention is read first, and they leave in the order in which they were sent.

local mention = require("koda.mention")

local M = {}

---@class koda.chat.Outgoing
---@field text string
---@field context? string
---@field is_ready boolean
---@field deliver fun(text: string, context?: string)

---@type koda.chat.Outgoing[]
local waiting = {}

local function flush()
  while waiting[1] and waiting[1].is_ready do
    local first = table.remove(waiting, 1)
    first.deliver(first.text, first.context)
  end
end

--- Sends a prompt once what it mentions is read.
---@param text string
---@param context? string
---@param deliver fun(text: string, context?: string)
function M.send(text, context, deliver)
  local outgoing = { text = text, context = context, is_ready = false, deliver = deliver }
  waiting[#waiting + 1] = outgoing
  mention.resolve(text, function(mentioned, problems)
    if mentioned then
      outgoing.context = context and context ~= "" and (context .. "\n\n" .. mentioned) or mentioned
    end
    for _, problem in ipairs(problems) do
      require("koda.notify").warn(problem)
    end
    outgoing.is_ready = true
    flush()
  end)
end

return M
