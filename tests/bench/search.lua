--- One search by a tool of Koda's over the tree. Writes its time, and how long a queued callback waited meanwhile.
---
--- Reads BENCH_CALL (JSON of `koda.tool`), BENCH_OUT (where the numbers go).

local probe = dofile(vim.env.BENCH_FOLDER .. "/probe.lua")
local koda = require("koda")
koda.setup({})

local function search()
  local started = vim.uv.hrtime()
  local result = koda.tool(vim.json.decode(vim.env.BENCH_CALL)):wait(60000)
  return result, (vim.uv.hrtime() - started) / 1e6
end

-- Not measured: loads the library and warms the page cache, as rg's is warmed.
search()
local cpu = probe.cpu()
probe.start()
local result, milliseconds = search()
assert(result and result.ok, "the search failed: " .. vim.inspect(result))
probe.finish(vim.env.BENCH_OUT, { milliseconds = milliseconds, cpu_s = probe.cpu() - cpu, bytes = #result.text })
vim.cmd("qall!")
