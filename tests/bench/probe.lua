--- Measures Neovim from inside: how long a queued callback waits, and the CPU time of the whole process.

local M = {}

local uv = vim.uv
local timer
local waits = {}

--- Queues a callback each millisecond, as a plugin would, and notes how late it runs.
function M.start()
  timer = assert(uv.new_timer())
  local function arm()
    uv.update_time()
    local due = uv.hrtime() + 1e6
    timer:start(1, 0, function()
      vim.schedule(function()
        waits[#waits + 1] = (uv.hrtime() - due) / 1e6
        if timer then
          arm()
        end
      end)
    end)
  end
  arm()
end

--- Seconds of CPU, all threads, since Neovim started.
---@return number
function M.cpu()
  local usage = assert(uv.getrusage())
  return usage.utime.sec + usage.stime.sec + (usage.utime.usec + usage.stime.usec) / 1e6
end

--- Ends the measuring and writes the numbers as JSON.
---@param path string
---@param numbers table<string, number>
function M.finish(path, numbers)
  timer:close()
  timer = nil
  table.sort(waits)
  numbers.longest_wait_ms = waits[#waits]
  numbers.p99_wait_ms = waits[math.ceil(#waits * 0.99)]
  local part = path .. ".part"
  vim.fn.writefile({ vim.json.encode(numbers) }, part)
  assert(uv.fs_rename(part, path))
end

return M
