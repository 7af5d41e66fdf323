--- Keys of Koda's own windows: `<Plug>` maps, and the keys that the option `keys` gives them.

local M = {}

--- Returns the key of an action.
---@param name string as in the option `keys`
---@return string? # none if the user wants none
function M.of(name)
  return require("koda.config").get().keys[name] or nil
end

--- Returns the key of an action where text is typed: with Alt if it is one character, none if it would be text.
---@param name string
---@return string?
function M.while_typing(name)
  local key = M.of(name)
  if not key or vim.startswith(key:lower(), "<leader>") or vim.startswith(key:lower(), "<localleader>") then
    return nil
  elseif vim.fn.strchars(key) == 1 then
    return ("<M-%s>"):format(key)
  end
  return key:sub(1, 1) == "<" and key or nil
end

--- Sets the map of an action in a buffer.
---@param buf integer
---@param modes string|string[]
---@param name string as in the option `keys`
---@param fn fun()
---@param keys? (string?)[] the keys; the option's without it
function M.set(buf, modes, name, fn, keys)
  local option = require("koda.config").option("keys." .. name) --[[@as koda.config.Option]]
  local plug = ("<Plug>(koda-%s)"):format((name:gsub("_", "-")))
  local desc = "Koda: " .. option.text:gsub("%.$", "")
  vim.keymap.set(modes, plug, fn, { buffer = buf, desc = desc })
  for _, key in ipairs(keys or { M.of(name) }) do
    vim.keymap.set(modes, key, plug, { buffer = buf, nowait = true, desc = desc })
  end
end

--- Removes the maps of an action from a buffer, but for those that somebody else has set since.
---@param buf integer
---@param mode string
---@param name string as in the option `keys`
function M.remove(buf, mode, name)
  local plug = ("<Plug>(koda-%s)"):format((name:gsub("_", "-")))
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
    if map.lhs == plug or map.rhs == plug then
      vim.keymap.del(mode, map.lhs, { buffer = buf })
    end
  end
end

--- Says keys and what they do, without those that the user has taken away.
---@param actions { [1]: string, [2]: string }[] name, and a word for it
---@param format string of a key and its word
---@param separator string
---@return string
function M.hint(actions, format, separator)
  local parts = {}
  for _, action in ipairs(actions) do
    local key = M.of(action[1])
    if key then
      parts[#parts + 1] = format:format(key, action[2])
    end
  end
  return table.concat(parts, separator)
end

return M
