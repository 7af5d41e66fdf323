---@meta
--- Events of the stream. Generated from `rust/protocol/src/event.rs` by `make doc`.

--- What every event has; the other fields depend on its type.
---@class koda.EventBase
---@field time integer milliseconds since the epoch
---@field session string

--- A session began or was resumed. Always the first of a stream.
---@class koda.event.SessionStart: koda.EventBase
---@field type "session_start"
---@field version integer `EVENT_VERSION` of the writer.
---@field cwd string The project root.
---@field model string `provider::model`.
---@field mode koda.Mode Which tools are offered.
---@field trust koda.Trust Who approves.

--- The user sent a message. Answered by a `turn_end`.
---@class koda.event.UserMessage: koda.EventBase
---@field type "user_message"
---@field text string What the user typed.
---@field context? string Context sent along (a selection with its path and lines), empty if none.

--- Something that happened outside of the turn is told to the model, with the next request.
---@class koda.event.Note: koda.EventBase
---@field type "note"
---@field text string What happened, as the model reads it.

--- The user sent a message while a turn ran; it goes in at the next step, as a `user_message`.
---@class koda.event.Queued: koda.EventBase
---@field type "queued"
---@field text string What the user typed.

--- A request goes to the model. Answered by a `message`, or by an `error`.
---@class koda.event.StepStart: koda.EventBase
---@field type "step_start"
---@field step integer Steps of this turn, from 1.

--- The model wrote text.
---@class koda.event.TextDelta: koda.EventBase
---@field type "text_delta"
---@field text string The piece, cut at a character border.

--- The model wrote reasoning.
---@class koda.event.ReasoningDelta: koda.EventBase
---@field type "reasoning_delta"
---@field text string The piece, cut at a character border.

--- A call is forming: its name is known, its arguments still grow. Nothing may be done on it yet.
---@class koda.event.CallForming: koda.EventBase
---@field type "call_forming"
---@field id string The call's id.
---@field tool string The name as the model wrote it.
---@field bytes integer Bytes of arguments so far.

--- The model's message is complete, as it enters the history.
---@class koda.event.Message: koda.EventBase
---@field type "message"
---@field message table The whole message: text, reasoning, calls.
---@field cut? boolean Whether the stream broke off, so that the text is only what had come.

--- A call is to be judged and run. Answered by exactly one `tool_result` with its id.
---@class koda.event.ToolCall: koda.EventBase
---@field type "tool_call"
---@field id string The call's id.
---@field tool string Canonical name, or the unknown name as it came.
---@field args? any The arguments, canonical where they parsed.

--- A call or a question waits for the user. Answered by an `answer` with its id.
---@class koda.event.Approval: koda.EventBase
---@field type "approval"
---@field id string Names what waits.
---@field kind "approval"|"question" `approval` or `question`.
---@field call koda.ToolCall The call that waits.
---@field verdict koda.Verdict Why it must be asked, as `koda.judge` tells it.
---@field proposal? koda.Proposal What it would change, where that can be told.

--- What waited was answered.
---@class koda.event.Answer: koda.EventBase
---@field type "answer"
---@field id string Names what waited.
---@field answer table `decision` (`accept`, `reject`, `nobody` or `cancelled`) and what was said with it.

--- A running tool had output: a glimpse for people, not the result.
---@class koda.event.ToolOutput: koda.EventBase
---@field type "tool_output"
---@field id string The call's id.
---@field text string The newest text.

--- A call ended, whatever happened to it.
---@class koda.event.ToolResult: koda.EventBase
---@field type "tool_result"
---@field id string The call's id.
---@field tool string Canonical name, or the unknown name as it came.
---@field ok boolean Whether the tool did what it was asked.
---@field text string What the model reads.
---@field data? any What happened, in fields that depend on the tool.

--- The task list changed.
---@class koda.event.Todo: koda.EventBase
---@field type "todo"
---@field items { content: string, status: string, priority: string }[] All items, in order: `content`, `status` and `priority` each.

--- The plan changed.
---@class koda.event.Plan: koda.EventBase
---@field type "plan"
---@field plan koda.Plan `explanation`, `steps` with `text` and `status` each, and further parts.
---@field text string The same as Markdown.
---@field review? boolean Whether the user is to review it: the model's turn ends with it.

--- The provider counted a request's tokens.
---@class koda.event.Usage: koda.EventBase
---@field type "usage"
---@field usage koda.Usage This request's: `input`, `output`, `cached`, `cache_write` and `reasoning`, as far as they are known.
---@field total koda.Usage The session's so far.
---@field cost? koda.Costs What was spent.

--- A request failed in a way that passes; it is tried again.
---@class koda.event.Retry: koda.EventBase
---@field type "retry"
---@field attempt integer Tries so far, from 1.
---@field wait_ms integer Milliseconds until the next.
---@field reason string What failed.

--- The user took back a message and all that followed it. Redo brings it again, before the next message.
---@class koda.event.Rewound: koda.EventBase
---@field type "rewound"
---@field message integer The number of the message in the session, from 1.
---@field files boolean Whether files were given back.
---@field conversation boolean Whether the conversation goes on from before the message.
---@field text string What the message said.
---@field changes? koda.TakenBack[] What became of files, as far as anything did.

--- What was taken back last was brought again.
---@class koda.event.Redone: koda.EventBase
---@field type "redone"
---@field message integer The number of the message in the session, from 1.
---@field files boolean Whether files were changed again.
---@field conversation boolean Whether the conversation goes on from its old end.
---@field changes? koda.TakenBack[] What became of files, as far as anything did.

--- Mode, trust or model changed within the session.
---@class koda.event.Settings: koda.EventBase
---@field type "settings"
---@field mode koda.Mode Which tools are offered.
---@field trust koda.Trust Who approves.
---@field model string `provider::model`.

--- Something the user should know that is no error.
---@class koda.event.Notice: koda.EventBase
---@field type "notice"
---@field text string One line.

--- Something failed.
---@class koda.event.Error: koda.EventBase
---@field type "error"
---@field error koda.Error What, where, and what to do.

--- The turn that a `user_message` began is over.
---@class koda.event.TurnEnd: koda.EventBase
---@field type "turn_end"
---@field outcome koda.Outcome How: `done`, `failed`, `cancelled`, `needs_approval`, `step_limit` or `budget`.
---@field steps integer Steps taken.
---@field duration_ms integer Milliseconds since the `user_message`.
---@field usage? koda.Usage The turn's tokens, as far as they were counted.
---@field cost? koda.Spent What the turn cost.

---@alias koda.EventType "session_start"|"user_message"|"note"|"queued"|"step_start"|"text_delta"|"reasoning_delta"|"call_forming"|"message"|"tool_call"|"approval"|"answer"|"tool_output"|"tool_result"|"todo"|"plan"|"usage"|"retry"|"rewound"|"redone"|"settings"|"notice"|"error"|"turn_end"

---@alias koda.Event table one of the classes above, told apart by `type`
