--- What Koda costs at the start: `require` and `setup`, then the first `:Koda` until its windows stand and the engine runs.
--- Beside it the same of a plugin that does nothing: an empty module, and a floating window.
---
--- Reads BENCH_OUT (where the numbers go), BENCH_WHAT (`koda` or `least`).

local uv = vim.uv

local function milliseconds(fn)
  local started = uv.hrtime()
  fn()
  return (uv.hrtime() - started) / 1e6
end

local least = {
  require = function()
    package.preload["empty"] = function()
      return { setup = function() end }
    end
    require("empty").setup({})
  end,
  open = function()
    local buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_open_win(buffer, true, { relative = "editor", row = 1, col = 1, width = 80, height = 10 })
    vim.cmd.redraw()
  end,
}

local koda = {
  require = function()
    require("koda").setup({})
  end,
  open = function()
    vim.cmd("Koda")
    vim.cmd.redraw()
  end,
}

local what = vim.env.BENCH_WHAT == "koda" and koda or least
local numbers = { require_ms = milliseconds(what.require), open_ms = milliseconds(what.open) }
vim.fn.writefile({ vim.json.encode(numbers) }, vim.env.BENCH_OUT)
vim.cmd("qall!")
