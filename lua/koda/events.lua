--- The event hub: hands each batch that the engine delivers to whoever listens.
---
--- The chat takes whole batches, since it draws once a batch; listeners of `on` get event by event; `User Koda*`
--- autocmds fire for what happens a few times a turn, never for deltas.

local M = {}

---@alias koda.events.Listener fun(event: table)

--- The autocmd of each event type that has one.
M.AUTOCMDS = {
  session_start = "KodaSessionStart",
  user_message = "KodaTurnStart",
  tool_call = "KodaToolCall",
  tool_result = "KodaToolResult",
  approval = "KodaApproval",
  answer = "KodaAnswer",
  todo = "KodaTodo",
  settings = "KodaSettings",
  rewound = "KodaRewound",
  redone = "KodaRedone",
  error = "KodaError",
  turn_end = "KodaTurnEnd",
}

--- What an autocmd gets in `args.data`: the small fields only, texts are asked for through the API.
local FIELDS = { "type", "time", "session", "id", "tool", "ok", "kind", "outcome", "steps", "duration_ms", "model", "mode", "trust", "message", "files", "conversation" }

---@type table<string, koda.events.Listener[]> by event type, or `*`
local listeners = {}

---@type (fun(batch: table[]))[]
local batch_listeners = {}

---@param list function[]
---@param fn function
---@return fun() # unsubscribes
local function add(list, fn)
  list[#list + 1] = fn
  return function()
    for index, other in ipairs(list) do
      if other == fn then
        table.remove(list, index)
        return
      end
    end
  end
end

---@param what string
---@param fn function
---@param argument any
local function guarded(what, fn, argument)
  local ok, problem = xpcall(fn, debug.traceback, argument)
  if not ok then
    -- Reported later: a listener's fault must not keep the batch from the others.
    vim.schedule(function()
      require("koda.notify").error(("a listener of %s failed: %s"):format(what, problem))
    end)
  end
end

---@param event table
local function fire(event)
  local pattern = M.AUTOCMDS[event.type]
  if not pattern then
    return
  end
  local data = {}
  for _, field in ipairs(FIELDS) do
    data[field] = event[field]
  end
  if event.call then
    data.call, data.tool = event.call.id, event.call.tool
  end
  vim.api.nvim_exec_autocmds("User", { pattern = pattern, data = data, modeline = false })
end

--- Calls `fn` for each event of a type, or for all with `"*"`.
---@param type string an event type of the stream, such as `turn_end`, or `*`
---@param fn koda.events.Listener
---@return fun() # unsubscribes
function M.on(type, fn)
  listeners[type] = listeners[type] or {}
  return add(listeners[type], fn)
end

--- Calls `fn` with each whole batch.
---@param fn fun(batch: table[])
---@return fun() # unsubscribes
function M.on_batch(fn)
  return add(batch_listeners, fn)
end

--- Whether an event needs a person, who only the chat can ask.
---@param batch table[]
---@return boolean
local function asks(batch)
  for _, event in ipairs(batch) do
    if event.type == "approval" then
      return true
    end
  end
  return false
end

--- Hands a batch to all listeners, in order; on the main thread.
---@param batch table[]
function M.deliver(batch)
  if #vim.api.nvim_list_uis() > 0 and not package.loaded["koda.chat"] and asks(batch) then
    require("koda.chat")
  end
  for _, event in ipairs(batch) do
    if event.proposal or (type(event.data) == "table" and event.data.hunks) then
      require("koda.review")
    end
  end
  for _, fn in ipairs(vim.list_slice(batch_listeners)) do
    guarded("batches", fn, batch)
  end
  for _, event in ipairs(batch) do
    for _, fn in ipairs(vim.list_slice(listeners[event.type] or {})) do
      guarded(event.type, fn, event)
    end
    for _, fn in ipairs(vim.list_slice(listeners["*"] or {})) do
      guarded("all events", fn, event)
    end
    guarded("User autocmds", fire, event)
  end
end

return M
