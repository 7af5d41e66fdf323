--- The keys of a review, in buffers with hunks only.

local M = {}

local review = function()
  return require("koda.review")
end

---@param ok true?
---@param problem koda.Error?
local function report(ok, problem)
  if not ok and problem then
    require("koda.notify").warn(problem)
  end
end

--- Goes to the next hunk of the buffer, or the one before; round the end.
---@param by 1|-1
local function go(by)
  local hunks, line = review().list(vim.api.nvim_get_current_buf()), vim.api.nvim_win_get_cursor(0)[1]
  local target
  if by > 0 then
    target = vim.iter(hunks):find(function(hunk) return hunk.first > line end) or hunks[1]
  else
    target = vim.iter(hunks):rfind(function(hunk) return hunk.first < line end) or hunks[#hunks]
  end
  if target then
    local last = vim.api.nvim_buf_line_count(0)
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { math.min(target.first, last), 0 })
    vim.cmd("normal! zv")
    require("koda.review.draw").reveal(vim.api.nvim_get_current_buf())
  end
end

--- Opens a hunk's new text in a small window; writing it takes the text over.
local function edit()
  local item = review().at_cursor()
  if not item or item.is_made then
    return require("koda.notify").info("there is no proposal here to edit")
  end
  local lines = require("koda.review.draw").lines(item.edited or item.hunk.new)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden = "acwrite", "wipe"
  vim.api.nvim_buf_set_name(buf, ("koda://hunk/%d"):format(item.id))
  vim.bo[buf].filetype, vim.bo[buf].modified = vim.bo[item.buf].filetype, false
  vim.cmd.split({ mods = { split = "belowright" } })
  vim.api.nvim_win_set_buf(0, buf)
  vim.api.nvim_win_set_height(0, math.min(#lines + 2, 15))
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    desc = "Koda: takes the edited proposal over",
    callback = function()
      local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
      review().amend(item.id, { edited = text == "" and "" or text .. "\n" })
      vim.bo[buf].modified = false
    end,
  })
end

---@param label string
---@param use fun(id: integer, text: string)
local function with_text(label, use)
  local item = review().at_cursor()
  if not item then
    return require("koda.notify").info("there is no hunk here")
  end
  vim.ui.input({ prompt = label }, function(text)
    if text and text ~= "" then
      use(item.id, text)
    end
  end)
end

--- Runs an action so that `.` repeats it.
---@param act fun()
---@return fun()
local function repeatable(act)
  return function()
    M.again = act
    vim.go.operatorfunc = "v:lua.require'koda.review.keys'.again"
    vim.api.nvim_feedkeys("g@l", "n", false)
  end
end

---@return table<string, fun()>
local function actions()
  local function each(decide, buf)
    return function()
      review().each(review()[decide], buf and vim.api.nvim_get_current_buf() or nil)
    end
  end
  return {
    next_hunk = function() go(1) end,
    previous_hunk = function() go(-1) end,
    accept_hunk = repeatable(function() report(review().accept()) end),
    reject_hunk = repeatable(function() report(review().reject()) end),
    accept_file = each("accept", true),
    reject_file = each("reject", true),
    accept_turn = each("accept"),
    reject_turn = each("reject"),
    edit_hunk = edit,
    comment_hunk = function()
      with_text("To the model: ", function(id, text)
        review().amend(id, { said = text })
      end)
    end,
    reject_hunk_reason = function()
      with_text("Why not? ", function(id, text)
        report(review().reject(id, text))
      end)
    end,
  }
end

---@param buf integer
function M.map(buf)
  for name, act in pairs(actions()) do
    require("koda.keys").set(buf, "n", name, act)
  end
end

--- Takes the keys away.
---@param buf integer
function M.unmap(buf)
  for name in pairs(actions()) do
    require("koda.keys").remove(buf, "n", name)
  end
end

return M
