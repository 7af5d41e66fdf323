--- Finding a model: before there is one, which ways there are; a server that runs here is offered.

local M = {}

--- Whether a model is known to be found.
local found = false

--- Whether models were looked for.
local looked = false

---@type string[] models of which the last look knew that they can be used
local usable = {}

--- Returns the models that are known to be offered, for completion. The first time they are looked for, which
--- is over a moment later.
---@return string[]
function M.models()
  if not looked then
    M.look(function()
      M.list(false, function() end)
    end)
  end
  return usable
end

---@param ways koda.Ways
---@return string[]
local function usable_models(ways)
  local models = {}
  for _, way in ipairs(ways.ways) do
    if way.has_key and way.model then
      models[#models + 1] = way.model
    end
  end
  for _, server in ipairs(ways.local_servers) do
    vim.list_extend(models, server.models)
  end
  return models
end

---@param listings koda.Listing[]
local function add_offered(listings)
  local known = {}
  for _, model in ipairs(usable) do
    known[model] = true
  end
  for _, listing in ipairs(listings) do
    for _, offered in ipairs(listing.models) do
      if not known[offered.model] then
        usable[#usable + 1] = offered.model
      end
    end
  end
  table.sort(usable)
end

--- Lists what the providers offer.
---@param may_ask boolean whether they are asked, for which key commands may run
---@param callback fun(listings: koda.Listing[])
function M.list(may_ask, callback)
  local notify = require("koda.notify")
  local native, problem = require("koda.native").get()
  if not native then
    return notify.error(problem --[[@as koda.Error]])
  end
  native.models(may_ask, function(listings, failure)
    if not listings then
      return notify.error(failure --[[@as koda.Error]])
    end
    add_offered(listings)
    callback(listings)
  end)
end

--- Looks for keys and for servers on this machine.
---@param callback fun(ways: koda.Ways)
function M.look(callback)
  looked = true
  local notify = require("koda.notify")
  local native, problem = require("koda.native").get()
  if not native then
    return notify.error(problem --[[@as koda.Error]])
  end
  native.ways(function(ways, failure)
    if not ways then
      return notify.error(failure --[[@as koda.Error]])
    end
    usable = usable_models(ways)
    callback(ways)
  end)
end

---@param ways koda.Ways
---@return string[]
local function key_lines(ways)
  local lines = {}
  for _, way in ipairs(ways.ways) do
    if way.model and way.key_env then
      local note = way.has_key and "  (the key is there)" or ""
      lines[#lines + 1] = ("     %-22s %s%s"):format(way.key_env, way.model, note)
    end
  end
  return lines
end

---@param ways koda.Ways
---@return string[]
local function server_lines(ways)
  local lines = {}
  for _, server in ipairs(ways.local_servers) do
    for _, model in ipairs(server.models) do
      lines[#lines + 1] = ("     %s  (answers at %s)"):format(model, server.endpoint)
    end
  end
  if #lines == 0 then
    lines[1] = "     None answers. Start Ollama (port 11434) or llama.cpp's server (port 8080), then :Koda model."
  end
  return lines
end

--- Says which ways there are to a model.
---@param ways koda.Ways
---@return string[]
function M.explain(ways)
  local lines = { "Koda asks a model of your choice. The ways to one:", "" }
  lines[#lines + 1] = "  1. A key in the environment that Neovim is started from:"
  vim.list_extend(lines, key_lines(ways))
  vim.list_extend(lines, { "", "  2. A server on this machine:" })
  vim.list_extend(lines, server_lines(ways))
  return vim.list_extend(lines, {
    "",
    "  3. Any other server, by the option `providers`: see :help koda-models",
    "",
    ":Koda model NAME takes a model until Neovim ends, require(\"koda\").setup({ model = \"NAME\" }) for good.",
  })
end

---@param offered koda.Offered
---@return string
local function offered_line(offered)
  local money = require("koda.money")
  local context = offered.context and money.tokens(offered.context) or "?"
  local rates = offered.price and offered.price.rates
  local price = "price unknown"
  if rates then
    local is_free = rates.input == 0 and rates.output == 0
    price = is_free and "free" or ("%s in, %s out"):format(money.dollars(rates.input), money.dollars(rates.output))
  end
  local name = offered.model .. (" "):rep(math.max(44 - vim.fn.strdisplaywidth(offered.model), 1))
  return ("  %s %7s  %s"):format(name, context, price)
end

--- Says what providers offer.
---@param listings koda.Listing[]
---@return string[]
function M.offers(listings)
  local lines = {}
  for _, listing in ipairs(listings) do
    vim.list_extend(lines, { "", listing.provider .. (listing.problem and ": " .. listing.problem or "") })
    vim.list_extend(lines, vim.tbl_map(offered_line, listing.models))
  end
  if #lines > 0 then
    vim.list_extend(lines, { "", "  Beside a name: tokens that a request may have, and dollars for a million tokens." })
  end
  return lines
end

---@param ways koda.Ways
local function show(ways)
  require("koda.view").open("Koda: models", M.explain(ways))
end

--- Offers the models of local servers; without any says which ways there are.
---@param ways koda.Ways
---@param chosen fun()
---@param otherwise fun()
local function offer(ways, chosen, otherwise)
  if #usable == 0 then
    otherwise()
    return show(ways)
  end
  local none = "none of these: show the other ways"
  local choices = vim.list_extend(vim.deepcopy(usable), { none })
  vim.ui.select(choices, { prompt = "Koda: no model is set, but a server runs here. Ask" }, function(choice)
    if choice and choice ~= none then
      return M.choose(choice, chosen)
    end
    otherwise()
    if choice == none then
      show(ways)
    end
  end)
end

--- Takes a model for the chat and for the sessions to come.
---@param model string
---@param taken? fun()
function M.choose(model, taken)
  local notify = require("koda.notify")
  local ok, problem = require("koda.current").set({ model = model })
  if not ok then
    return notify.error(problem --[[@as koda.Error]])
  end
  found = true
  notify.info(("model %s"):format(model))
  if taken then
    taken()
  end
end

--- Calls a function once there is a model; without one asks the user for it.
--- Without a library too: whoever needs it says what is wrong with it.
---@param fn fun()
---@param otherwise fun() called if there is none and the user takes none
---@param named? string a model that is named anyway
function M.with_model(fn, otherwise, named)
  if found or named or require("koda.config").get().model or not require("koda.native").get() then
    return fn()
  end
  M.look(function(ways)
    if ways.default_model then
      found = true
      return fn()
    end
    offer(ways, fn, otherwise)
  end)
end

--- Says which ways there are if there is no model yet.
function M.guide()
  M.with_model(function() end, function() end)
end

return M
