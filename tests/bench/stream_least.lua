--- The baseline of streaming: the least Lua that shows text as it comes. It takes the same tokens from a child process,
--- appends what came once a frame to a plain buffer in a floating window, and follows the end.
---
--- Reads BENCH_TEXT (a file of tokens), BENCH_DELAY_MS (between tokens), BENCH_OUT (where the numbers go).

local probe = dofile(vim.env.BENCH_FOLDER .. "/probe.lua")
local uv = vim.uv
local FRAME_MS = 16

local transcript = vim.api.nvim_create_buf(false, true)
local window = vim.api.nvim_open_win(transcript, false, {
  relative = "editor", row = 1, col = 2, width = 110, height = 30, border = "rounded", style = "minimal",
})
vim.wo[window].wrap = true
local prompt = vim.api.nvim_create_buf(false, true)
vim.api.nvim_open_win(prompt, true, {
  relative = "editor", row = 34, col = 2, width = 110, height = 2, border = "rounded", style = "minimal",
})

-- Started now and told to begin later, so that the start of Python is not measured.
local go, output = assert(uv.new_pipe()), assert(uv.new_pipe())
local feeder = { vim.env.BENCH_FOLDER .. "/feed.py", vim.env.BENCH_TEXT, vim.env.BENCH_DELAY_MS }
assert(uv.spawn("python3", { args = feeder, stdio = { go, output, nil } }, function() end))

local pending = {}

local function append()
  if #pending == 0 then
    return
  end
  local text = table.concat(pending)
  pending = {}
  local last = vim.api.nvim_buf_line_count(transcript) - 1
  local line = vim.api.nvim_buf_get_lines(transcript, last, last + 1, true)[1]
  vim.api.nvim_buf_set_text(transcript, last, #line, last, #line, vim.split(text, "\n"))
  vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(transcript), 0 })
end

local function begin()
  local cpu = probe.cpu()
  probe.start()
  local started = uv.hrtime()
  local frames = assert(uv.new_timer())
  frames:start(FRAME_MS, FRAME_MS, vim.schedule_wrap(append))
  go:write("go\n")
  output:read_start(function(_, data)
    if data then
      pending[#pending + 1] = data
      return
    end
    vim.schedule(function()
      frames:close()
      append()
      vim.cmd.redraw()
      probe.finish(vim.env.BENCH_OUT, { milliseconds = (uv.hrtime() - started) / 1e6, cpu_s = probe.cpu() - cpu })
    end)
  end)
end

vim.keymap.set({ "n", "i" }, "<F5>", begin)
vim.cmd.startinsert()
