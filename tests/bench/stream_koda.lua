--- Streaming in Koda's chat. <F5> sends a prompt; the numbers are written when the turn is over and drawn.
---
--- Reads BENCH_MODEL (a replay), BENCH_OUT (where the numbers go).

local probe = dofile(vim.env.BENCH_FOLDER .. "/probe.lua")
local koda = require("koda")
koda.setup({ model = vim.env.BENCH_MODEL })

local started, cpu

koda.on("turn_end", function()
  -- Scheduled, so that the chat draws this batch before.
  vim.schedule(function()
    vim.cmd.redraw()
    probe.finish(vim.env.BENCH_OUT, { milliseconds = (vim.uv.hrtime() - started) / 1e6, cpu_s = probe.cpu() - cpu })
  end)
end)

vim.keymap.set({ "n", "i" }, "<F5>", function()
  cpu = probe.cpu()
  probe.start()
  started = vim.uv.hrtime()
  vim.cmd("Koda go")
end)

vim.cmd("Koda")
vim.cmd.startinsert()
