--- `:Koda build`.

---@param problem? koda.Error
local function report(problem)
  local notify = require("koda.notify")
  require("koda.progress").hide()
  if problem then
    notify.error(problem)
  elseif require("koda.native").file() then
    notify.info("the new library is built; restart Neovim to use it")
  else
    notify.info("the library is built; Koda is ready")
    if package.loaded["koda.chat"] then
      require("koda.chat").refresh()
    end
  end
end

return function()
  local over = false
  require("koda.build").run({
    progress = require("koda.progress").show,
    done = function(problem)
      over = true
      report(problem)
    end,
  })
  if #vim.api.nvim_list_uis() == 0 then
    -- A script goes on with its next command, which may be `:qa`, only when the build is over.
    require("koda.handle").wait_until(3600 * 1000, function()
      return over
    end)
  end
end
