--- The prompt: a buffer to write in, sent as a whole.

local M = {}

---@type integer?
local buf

--- Takes what is written and empties the prompt.
---@return string? # nil if it is blank
local function take()
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
  if not text:find("%S") then
    return nil
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  return text
end

--- Returns the prompt's buffer, making it if there is none; its draft outlives the window.
---@param send fun(text: string)
---@param map fun(buf: integer) sets the keys that both buffers share
---@return integer
function M.buffer(send, map)
  if buf and vim.api.nvim_buf_is_valid(buf) then
    return buf
  end
  buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  require("koda.chat.window").name(buf, "prompt")
  vim.bo[buf].filetype = "koda-prompt"
  vim.bo[buf].omnifunc = "v:lua.require'koda.mention.complete'.omnifunc"
  local function submit()
    local text = take()
    if text then
      send(text)
    end
  end
  require("koda.keys").set(buf, { "n", "i" }, "send", submit)
  vim.keymap.set("n", "<CR>", "<Plug>(koda-send)", { buffer = buf, desc = "Koda: sends the prompt" })
  map(buf)
  return buf
end

--- Puts a text in the place of what is written; undo brings that back.
---@param text string
function M.replace(text)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, "\n", { plain = true }))
end

--- Adds a text that could not be sent to what is written, so that it is not lost.
---@param text string
function M.keep(text)
  local draft = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local is_blank = #draft == 1 and draft[1] == ""
  vim.api.nvim_buf_set_lines(buf, is_blank and 0 or -1, -1, false, vim.split(text, "\n", { plain = true }))
end

return M
