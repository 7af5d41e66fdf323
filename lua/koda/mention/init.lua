--- Mentions: `@path`, `@path:10-20`, `@folder/`, `@selection` and their like in a prompt, resolved when it is sent.
---
--- Files and folders are read by the engine's own tools, so that unsaved lines count and hidden files stay hidden.
--- An `@` before anything else is text like any other.

local M = {}

--- Mentions of one prompt; more stand there for another reason, such as a pasted log.
local MAX = 20

---@class koda.Mention
---@field name string what stands behind the `@`: a path, or a keyword
---@field first? integer lines, from 1
---@field last? integer
---@field argument? string of a keyword, behind a colon

--- What a mention became.
---@class koda.mention.Part
---@field title string
---@field text? string what the model reads; none if it could not be attached
---@field problem? string why not

---@param word string as it stands behind the `@`, without what closes a sentence
---@return koda.Mention
local function understand(word)
  local quoted, rest = word:match('^"([^"]+)"(.*)$')
  local name, lines = (quoted or word), rest or ""
  if not quoted then
    local path, tail = word:match("^(.-)(:%d+%-?%d*)$")
    name, lines = path or word, tail or ""
  end
  local first, last = lines:match("^:(%d+)%-?(%d*)$")
  local mention = { name = name }
  if first then
    mention.first = math.max(tonumber(first) --[[@as integer]], 1)
    mention.last = math.max(tonumber(last) or mention.first, mention.first)
  end
  return mention
end

--- Finds what may be mentions in a text.
---@param text string
---@return koda.Mention[]
function M.parse(text)
  local mentions, seen, at = {}, {}, 1
  while #mentions < MAX do
    local from, to = text:find("@[^%s]+", at)
    if not from then
      break
    end
    local quoted = text:match('^@"[^"\n]+"[^%s]*', from)
    to = quoted and from + #quoted - 1 or to
    -- An `@` inside of a word is part of an address.
    local before = from == 1 and " " or text:sub(from - 1, from - 1)
    if before:find("[%s(%[{]") then
      local word = text:sub(from + 1, to):gsub("[%.,;:!?)%]}'`]+$", "")
      if word ~= "" and not seen[word] then
        seen[word] = true
        mentions[#mentions + 1] = understand(word)
      end
    end
    at = to + 1
  end
  return mentions
end

---@param parts koda.mention.Part[]
---@return string? context none if nothing is attached
---@return string[] problems
local function join(parts)
  local titles, texts, problems = {}, {}, {}
  for _, part in ipairs(parts) do
    if part.text then
      titles[#titles + 1] = part.title
      texts[#texts + 1] = part.text
    elseif part.problem then
      problems[#problems + 1] = part.problem
    end
  end
  if #titles == 0 then
    return nil, problems
  end
  return table.concat(titles, ", ") .. ":\n" .. table.concat(texts, "\n\n"), problems
end

--- Resolves the mentions of a text.
---@param text string
---@param done fun(context?: string, problems: string[]) called once, also at once
function M.resolve(text, done)
  local mentions = M.parse(text)
  local parts, open = {}, #mentions
  if open == 0 then
    return done(nil, {})
  end
  local sources = require("koda.mention.sources")
  for index, mention in ipairs(mentions) do
    sources.resolve(mention, function(part)
      parts[index] = part
      open = open - 1
      if open == 0 then
        done(join(parts))
      end
    end)
  end
end

return M
