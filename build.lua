-- Builds the library and installs it. lazy.nvim runs this file by itself; by hand: `nvim -l build.lua`.
-- `nvim -l build.lua install` installs what `cargo build --release` made.

local root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
vim.opt.runtimepath:prepend(root)
local build = require("koda.build")

local over, problem, progress = false, nil, nil
local function done(err)
  over, problem = true, err
end

if arg and arg[1] == "install" then
  build.install_built(done)
else
  build.run({
    done = done,
    progress = function(text)
      progress = text
    end,
  })
end

if coroutine.running() then
  -- A plugin manager that goes on with its own work, and shows what is yielded.
  local said
  while not over do
    local news = progress ~= said and progress or nil
    said = progress
    coroutine.yield(news)
  end
else
  while not over do
    vim.wait(60000, function()
      return over
    end, 50)
  end
end

if problem then
  error(require("koda.notify").text(problem), 0)
end
