--- The plan under review: a Markdown buffer that can be edited, accepted and rejected.

local keys = require("koda.keys")

local M = {}

---@type { session: string, text: string, buf?: integer }? the latest plan
local plan

---@return integer?
local function buffer()
  return plan and plan.buf and vim.api.nvim_buf_is_valid(plan.buf) and plan.buf or nil
end

---@return string
local function text()
  local buf = buffer()
  if not buf then
    return plan and plan.text or ""
  end
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

local function hide()
  local buf = buffer()
  for _, win in ipairs(buf and vim.fn.win_findbuf(buf) or {}) do
    pcall(vim.api.nvim_win_close, win, true)
  end
end

---@return boolean
local function is_there()
  if not plan then
    require("koda.notify").info("there is no plan to review; in mode plan the model makes one")
  end
  return plan ~= nil
end

--- Forgets the plan, and says what is to happen.
---@param mode? koda.Mode
---@param prompt string
local function settle(mode, prompt)
  local session = plan.session
  local chat = require("koda.chat")
  if chat.session() ~= session then
    return require("koda.notify").error({ message = "the plan is another session's", hint = ":Koda resume " .. session })
  end
  if mode then
    local ok, problem = require("koda.current").set({ mode = mode })
    if not ok then
      return require("koda.notify").error(problem --[[@as koda.Error]])
    end
  end
  hide()
  plan = nil
  chat.send_plain(prompt)
end

--- Starts the plan as it stands in its buffer: in mode agent, with the trust that there is.
function M.accept()
  if is_there() then
    settle("agent", "Carry out this plan:\n\n" .. vim.trim(text()))
  end
end

--- Rejects the plan; the model hears why and stays in its mode.
---@param remark? string asked for without it
function M.reject(remark)
  if not is_there() then
    return
  end
  if not remark or remark == "" then
    return vim.ui.input({ prompt = "What is wrong with the plan? " }, function(said)
      if said and said ~= "" then
        M.reject(said)
      end
    end)
  end
  settle(nil, "I don't accept this plan: " .. remark)
end

---@return integer
local function make()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(plan.text:gsub("\n$", ""), "\n", { plain = true }))
  vim.bo[buf].filetype = "markdown"
  keys.set(buf, { "n", "i" }, "accept_hunk", M.accept)
  keys.set(buf, { "n", "i" }, "reject_hunk", function() M.reject() end)
  keys.set(buf, "n", "hide", hide)
  plan.buf = buf
  return buf
end

--- Opens the plan.
function M.open()
  if not is_there() then
    return
  end
  local buf = buffer() or make()
  local shown = vim.fn.win_findbuf(buf)[1]
  if shown then
    return vim.api.nvim_set_current_win(shown)
  end
  local chat = require("koda.config").get().chat
  local width, height = math.min(chat.width, vim.o.columns - 4), math.min(chat.height, vim.o.lines - 5)
  local hints = { { "accept_hunk", "accept and start" }, { "reject_hunk", "reject" }, { "hide", "hide" } }
  local win = vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    width = width,
    height = height,
    row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
    border = chat.border,
    title = " Plan: edit it as you like ",
    title_pos = "center",
    footer = " " .. keys.hint(hints, "%s %s", " · ") .. " ",
    footer_pos = "center",
    style = "minimal",
    zindex = 45,
  })
  vim.wo[win].wrap, vim.wo[win].linebreak, vim.wo[win].conceallevel = true, true, 0
end

--- Takes a plan that was published for review. It opens by itself only where the user looks at the chat already.
---@param session string
---@param markdown string
---@param is_live boolean whether it was published just now
function M.published(session, markdown, is_live)
  hide()
  plan = { session = session, text = markdown }
  if is_live and require("koda.chat.window").has(vim.api.nvim_get_current_win()) then
    vim.cmd.stopinsert()
    M.open()
  elseif is_live then
    require("koda.notify").info("a plan waits for your review: :Koda plan opens it")
  end
end

return M
