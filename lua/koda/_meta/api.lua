---@meta
--- Types of the public API.

---@alias koda.Mode "agent"|"plan"|"ask"|"debug"|"educator"
---@alias koda.Trust "plan"|"safe"|"auto"
---@alias koda.CommandClass "safe"|"mutating"|"destructive"
---@alias koda.Outcome "done"|"failed"|"cancelled"|"needs_approval"|"step_limit"|"budget"

---@class koda.OpenOptions
---@field cwd? string the project; Neovim's working directory without it
---@field model? string `provider::model`; the setting without it
---@field mode? koda.Mode
---@field trust? koda.Trust
---@field resume? string the id of a stored session to go on with
---@field unattended? boolean nobody is there to answer: what must be asked ends the turn
---@field max_cost? number

---@class koda.RunOptions: koda.OpenOptions
---@field prompt string
---@field context? string sent along with the prompt
---@field session? string an open session to send it to; without it a new one is opened
---@field on_event? fun(event: koda.Event) called for each event of the session until the turn is over

---@class koda.ToolOptions
---@field name string
---@field args? table
---@field trust? koda.Trust
---@field mode? koda.Mode
---@field cwd? string

---@class koda.ToolResult
---@field ok boolean whether the tool did what it was asked; a command that exits with 1 is still ok
---@field text string what a model would read
---@field data? table what happened, in fields

---@class koda.JudgeOptions
---@field tool string
---@field args? table
---@field trust? koda.Trust
---@field mode? koda.Mode
---@field cwd? string

---@class koda.Verdict
---@field verdict "allow"|"ask"|"deny"
---@field class? koda.CommandClass of a command
---@field reasons string[] most weighty first, never empty
---@field parts { text: string, class: koda.CommandClass, reason: string }[] of a command, in the order of its text
---@field rule? string the rule that decided, if one did
---@field always? string what an acceptance for longer than once would allow

---@class koda.Rule
---@field id integer
---@field project? string the root that it holds for; everywhere without it
---@field deny boolean
---@field kind "command"|"tool"
---@field heads? string[] of commands: program and subcommand
---@field tool? string
---@field created integer milliseconds since the epoch
---@field uses integer
---@field last_use? integer milliseconds since the epoch

---@class koda.ToolCall
---@field id string
---@field tool string
---@field args any

---@class koda.Ask
---@field id string
---@field session string
---@field kind "approval"|"question"
---@field call koda.ToolCall
---@field verdict koda.Verdict
---@field proposal? koda.Proposal what it would change

---@class koda.Plan
---@field explanation? string
---@field steps { text: string, status: "pending"|"in_progress"|"done"|"skipped" }[]
---@field risks? string[]
---@field assumptions? string[]
---@field questions? string[]
---@field diagram? string in Mermaid

---@class koda.Proposal what a call would change in one file
---@field path string absolute
---@field shown string relative to the project inside it
---@field created boolean whether the file would be new
---@field hunks koda.ProposedHunk[]

---@class koda.ProposedHunk whole lines that go and come
---@field number integer from 1
---@field line integer of the text before, from 1; an insertion stands before it
---@field new_line integer of the text after, from 1
---@field old string the lines that go, with their ends
---@field new string the lines that come, with their ends
---@field old_words? koda.WordMark[] what differs within them
---@field new_words? koda.WordMark[]

---@class koda.WordMark
---@field row integer the line within the hunk's side, from 0
---@field start integer bytes, from 0
---@field end integer the byte after

---@class koda.HunkText
---@field hunk integer its number
---@field text string

---@class koda.Answer
---@field decision "accept"|"reject"
---@field scope? "once"|"session"|"project" how long an acceptance holds; `once` without it
---@field text? string the answer to a question; with an approval, what the model shall hear
---@field hunks? integer[] the numbers of the proposal's hunks that stand; all without it
---@field edited? koda.HunkText[] what shall stand in the place of hunks
---@field said? koda.HunkText[] what the model shall hear of hunks
---@field reason? string why it is rejected, for the model

---@class koda.SessionInfo
---@field id string
---@field cwd string
---@field title string the first line of the first message; may be empty
---@field created integer milliseconds since the epoch
---@field updated integer milliseconds since the epoch

---@class koda.RewindOptions
---@field message integer the number of the user's message in the session, from 1, those taken back included
---@field files? boolean whether files are given back; true without it
---@field conversation? boolean whether the conversation goes on from before the message; true without it
---@field session? string the chat's session without it, else the one opened last

---@class koda.Rewound
---@field message integer the number of the message
---@field text string what it said
---@field changes koda.TakenBack[]

---@class koda.TakenBack what became of a file
---@field path string relative to the project inside it
---@field how "restored"|"removed"|"merged"|"conflict"|"failed" `merged`: what you changed besides stands
---@field lines? integer[] of a conflict: where your own changes were left
---@field reason? string why something was left

---@class koda.Hunk
---@field id integer
---@field buf? integer the buffer, if the file is loaded
---@field path string absolute
---@field session string
---@field ask? string the id of what waits for it
---@field first integer line, from 1
---@field last integer
---@field state "pending"|"stale" stale if the text that it was made for is gone
---@field made boolean whether the text has it already
---@field old string the lines that go
---@field new string the lines that come

---@class koda.Way
---@field provider string
---@field key_env? string the environment variable that holds its key
---@field has_key boolean
---@field model? string a model to begin with

---@class koda.Ways
---@field ways koda.Way[] those with a key first
---@field local_servers { provider: string, endpoint: string, models: string[] }[] those that answer
---@field default_model? string the one that is asked if none is set

---@class koda.Usage tokens as the provider counted them; an absent count is unknown
---@field input? integer
---@field output? integer
---@field cached? integer
---@field cache_write? integer
---@field reasoning? integer

---@class koda.Spent
---@field usd number as far as it is known
---@field partial? boolean whether some cost is not known

---@class koda.Costs
---@field step? number of this request, in US dollars; absent if not known
---@field turn koda.Spent
---@field session koda.Spent
---@field day koda.Spent

---@class koda.ContextReport
---@field model string
---@field window? integer tokens that the model takes, if that is known
---@field fixed { kind: "prompt"|"instructions"|"tool", name: string, tokens: integer }[] sent with each request
---@field conversation integer tokens, about
---@field counted? integer tokens of the last request and its reply, as the provider counted them

---@class koda.Rates US dollars for a million tokens
---@field input number
---@field output number
---@field cached? number
---@field cache_write? number

---@class koda.Offered
---@field model string `provider::model`
---@field price? { rates: koda.Rates }
---@field context? integer tokens that a request may have

---@class koda.Listing what a provider offers
---@field provider string
---@field models koda.Offered[]
---@field problem? string why it could not be asked
