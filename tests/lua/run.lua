-- Runs the Lua specs: `nvim -l tests/lua/run.lua [PART]`. PART keeps only specs whose file name has it.
--
-- Each `*_spec.lua` runs in a Neovim of its own, with its own HOME and XDG folders, and returns a table of cases
-- by name. A case is a function that raises an error if it fails; it gets a table with `folder`, a scratch folder
-- of its own, and `root`, the checkout. Prints each failure and `N passed, N failed`; exits with 1 if a case or a
-- whole spec failed.

local here = vim.fn.fnamemodify(arg[0], ":p:h")
local root = vim.fn.fnamemodify(here, ":h:h")

--- What a child prints before its count, so that nothing else is taken for it.
local MARK = "koda-specs:"

---@param path string
local function run_spec(path)
  vim.opt.runtimepath:prepend(root)
  local passed, failed = 0, 0
  for name, case in vim.spairs(dofile(path)) do
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder, "p")
    local ok, problem = xpcall(case, debug.traceback, { folder = folder, root = root })
    if ok then
      passed = passed + 1
    else
      failed = failed + 1
      io.stdout:write(("FAILED %s: %s\n%s\n"):format(vim.fs.basename(path), name, problem))
    end
  end
  io.stdout:write(("%s %d %d\n"):format(MARK, passed, failed))
  os.exit(failed > 0 and 1 or 0)
end

---@param path string
---@param home string
---@return integer passed
---@return integer failed
local function run_in_child(path, home)
  local env = { HOME = home, PATH = vim.env.PATH, LC_ALL = "C.UTF-8", TZ = "UTC", SHELL = "/bin/sh" }
  for _, name in ipairs({ "CONFIG", "DATA", "STATE", "CACHE", "RUNTIME" }) do
    local folder = ("%s/%s"):format(home, name:lower())
    vim.fn.mkdir(folder, "p")
    env[("XDG_%s_%s"):format(name, name == "RUNTIME" and "DIR" or "HOME")] = folder
  end
  -- By env(1): `clear_env` of vim.system loses the variables in Neovim 0.10.
  local command = { "env", "-i" }
  for name, value in vim.spairs(env) do
    command[#command + 1] = ("%s=%s"):format(name, value)
  end
  vim.list_extend(command, { vim.v.progpath, "--clean", "-l", here .. "/run.lua", "--child", path })
  local result = vim.system(command, { cwd = home, timeout = 60000 }):wait()
  local output = (result.stdout or "") .. (result.stderr or "")
  local before, passed, failed = output:match("^(.-)" .. MARK:gsub("%-", "%%-") .. " (%d+) (%d+)")
  if not passed then
    local said = "FAILED %s: it ended with %d before its end\n%s\n"
    io.stdout:write(said:format(vim.fs.basename(path), result.code, output))
    return 0, 1
  end
  io.stdout:write(before)
  return tonumber(passed) --[[@as integer]], tonumber(failed) --[[@as integer]]
end

if arg[1] == "--child" then
  run_spec(arg[2])
end

local all_passed, all_failed = 0, 0
local home = vim.fn.tempname()
for _, path in ipairs(vim.fn.sort(vim.fn.glob(here .. "/*_spec.lua", true, true))) do
  if not arg[1] or vim.fs.basename(path):find(arg[1], 1, true) then
    local passed, failed = run_in_child(path, ("%s/%s"):format(home, vim.fs.basename(path)))
    all_passed, all_failed = all_passed + passed, all_failed + failed
  end
end
vim.fn.delete(home, "rf")
io.stdout:write(("%d passed, %d failed\n"):format(all_passed, all_failed))
os.exit((all_failed > 0 or all_passed == 0) and 1 or 0)
