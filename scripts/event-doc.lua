-- The events of the stream, read from their definition in Rust, for scripts/gen-doc.lua.

local RUST_TYPES = {
  String = "string",
  bool = "boolean",
  u32 = "integer",
  u64 = "integer",
  Value = "any",
  CallId = "string",
  AskId = "string",
  Mode = "koda.Mode",
  Trust = "koda.Trust",
  Usage = "koda.Usage",
  ["Option<Usage>"] = "koda.Usage",
  ["Option<Costs>"] = "koda.Costs",
  ["Option<Spent>"] = "koda.Spent",
  ["Vec<TakenBack>"] = "koda.TakenBack[]",
  Verdict = "koda.Verdict",
  ToolCall = "koda.ToolCall",
  Answer = "table",
  Message = "table",
  Outcome = "koda.Outcome",
  AskKind = '"approval"|"question"',
  UserError = "koda.Error",
  Plan = "koda.Plan",
  ["Option<Proposal>"] = "koda.Proposal",
  ["Vec<TodoItem>"] = "{ content: string, status: string, priority: string }[]",
}

---@class koda.doc.Event
---@field name string
---@field text string
---@field fields { name: string, type: string, text: string, optional: boolean }[]

--- Reads the events from the text of `rust/protocol/src/event.rs`.
---@param source string
---@return koda.doc.Event[]
return function(source)
  local body = source:match("pub enum Event {\n(.-)\n}\n")
  local found, texts, optional = {}, {}, false
  for line in vim.gsplit(body, "\n", { plain = true }) do
    local text = line:match("^%s*///%s?(.*)$")
    local variant = line:match("^    (%u%w+) {$")
    local field, kind = line:match("^        ([%l_]+): (.-),$")
    if text then
      texts[#texts + 1] = text:gsub("%[`(.-)`%]", "`%1`")
    elseif line:find("skip_serializing_if", 1, true) then
      optional = true
    elseif variant then
      local name = variant:gsub("(%l)(%u)", "%1_%2"):lower()
      found[#found + 1] = { name = name, text = table.concat(texts, " "), fields = {} }
      texts = {}
    elseif field then
      assert(RUST_TYPES[kind], "scripts/gen-doc.lua knows no Lua type for " .. kind)
      local fields = found[#found].fields
      fields[#fields + 1] = {
        name = field,
        type = RUST_TYPES[kind],
        text = table.concat(texts, " "),
        optional = optional or kind == "Value",
      }
      texts, optional = {}, false
    end
  end
  return found
end
