---@meta
--- Types of the settings. Generated from the schema in `koda.config` by `make doc`.

---@class koda.config.Provider
---@field endpoint? string The base address of its API, such as `http://127.0.0.1:8080/v1`.
---@field adapter? string The provider whose protocol the endpoint speaks; `openai` for an unknown name.
---@field key_env? string The environment variable that holds the key.
---@field key_command? string|string[] The command that prints the key: a line for `sh`, or a list of words.
---@field proxy? string The address of a proxy, in place of the environment's.
---@field ca_file? string A file of certificates (PEM) to trust beside the system's.
---@field extra_body? table<string, any> Fields that each request's body has besides.
---@field headers? table<string, string> Headers to send with each request.

---@class koda.config.ModelOptions
---@field effort? "none"|"minimal"|"low"|"medium"|"high"|"max" How much it is to reason.
---@field temperature? number How freely it is to choose its words.
---@field max_tokens? integer Tokens that a reply may have; over `max_output_tokens`.

---@class koda.config.Price
---@field input? number Of tokens sent.
---@field output? number Of tokens received.
---@field cached? number Of tokens read from a cache; as others without it.
---@field cache_write? number Of tokens written to a cache; as others without it.
---@field context? integer Tokens that a request may have.

---@class koda.Settings.budget
---@field turn? number By one prompt.
---@field session? number By one session.
---@field day? number By all sessions of a day (UTC).

---@class koda.Settings.timeouts
---@field connect_ms? integer Until a provider has taken the connection.
---@field first_byte_ms? integer From the request to the first bytes of the reply.
---@field idle_ms? integer Between two pieces of the reply.
---@field key_command_ms? integer For a `key_command`.

---@class koda.Settings.instructions
---@field max_bytes? integer Bytes of instruction files in the system prompt; 0 for none.
---@field cursor? boolean Whether Cursor's rules that hold always are told as well.

---@class koda.Settings.checkpoints
---@field max_file_bytes? integer Bytes of a file; a larger one can't be given back.
---@field days? integer Days that a change can be taken back.

---@class koda.Settings.edit
---@field save? boolean Whether a buffer without changes of yours is saved after an edit.

---@class koda.Settings.chat
---@field layout? "float"|"right"|"left"|"tab" How the chat opens.
---@field width? integer Columns of the float or the split, at most.
---@field height? integer Lines of the float, at most.
---@field border? string|string[]|[string, string][] The border of floats: a name or a list, as in |nvim_open_win()|.

---@class koda.Settings.terminal
---@field layout? "bottom"|"right"|"float"|"tab"|"hidden" Where terminals show.
---@field height? integer Lines of the split or float.
---@field shell? string The shell's program; `$SHELL` without it.

---@class koda.Settings.sandbox
---@field profile? "read-only"|"project"|"off" What confined commands may write: temporary files only, the project and caches too, or everything.
---@field network? "on"|"off" Whether confined commands reach the network over TCP.

---@class koda.Settings.keys
---@field send? string|false Sends the prompt, while it is written too; <CR> in normal mode sends as well.
---@field hide? string|false Hides the chat.
---@field stop? string|false Stops what runs.
---@field rewind? string|false In the transcript: goes back before the message at the cursor, see |koda-undo|.
---@field unfold? string|false Unfolds the call at the cursor, or folds it.
---@field accept? string|false Accepts what waits, once; answers a question. In the prompt single letters need Alt.
---@field accept_session? string|false Accepts what waits, and its like in this session.
---@field accept_project? string|false Accepts what waits, and by a rule that lasts its like in this project, see `:Koda rules`.
---@field reject? string|false Rejects what waits.
---@field reject_reason? string|false Rejects what waits, with a reason for the model.
---@field next_ask? string|false Shows the next of what waits.
---@field previous_ask? string|false Shows the one before.
---@field next_hunk? string|false In a buffer with hunks to review: goes to the next.
---@field previous_hunk? string|false Goes to the one before.
---@field accept_hunk? string|false Accepts the hunk at the cursor; |.| repeats it.
---@field reject_hunk? string|false Rejects it; |.| repeats it.
---@field reject_hunk_reason? string|false Rejects it with a reason for the model.
---@field accept_file? string|false Accepts all hunks of the file.
---@field reject_file? string|false Rejects all hunks of the file.
---@field accept_turn? string|false Accepts all hunks of all files.
---@field reject_turn? string|false Rejects all hunks of all files.
---@field edit_hunk? string|false Edits what is proposed; writing the window takes it over.
---@field comment_hunk? string|false Says something of a hunk to the model.

---@class koda.Settings.log
---@field level? "error"|"warn"|"info"|"debug"|"trace" What is logged.

---@class koda.Settings
---@field model? string The model, `provider::model`; without it the first provider whose key is found.
---@field providers? table<string, koda.config.Provider> How to reach providers, by the name before `::`.
---@field model_options? table<string, koda.config.ModelOptions> What requests ask for, by `provider::model`, which may end in `*`; else the provider decides.
---@field prices? table<string, koda.config.Price> Your own prices of models, by `provider::model`, which may end in `*`.
---@field budget? koda.Settings.budget Limits of what may be spent, in US dollars, see |koda-cost|.
---@field mode? "agent"|"plan"|"ask"|"debug"|"educator" Which tools the model is offered.
---@field trust? "plan"|"safe"|"auto" Who approves what Koda does.
---@field tools? table<string, "auto"|"ask"|"off"> Single tools: as trust says, ask each time, or never offered.
---@field max_steps? integer Requests to the model that one prompt may lead to.
---@field max_output_tokens? integer Tokens that a reply may have; the provider's default without it.
---@field timeouts? koda.Settings.timeouts How long to wait for a provider, in milliseconds.
---@field instructions? koda.Settings.instructions Files with instructions, see |koda-instructions|.
---@field checkpoints? koda.Settings.checkpoints What undo can give back, see |koda-undo|.
---@field edit? koda.Settings.edit Edits of files.
---@field chat? koda.Settings.chat The chat.
---@field terminal? koda.Settings.terminal Terminals that Koda's commands run in.
---@field sandbox? koda.Settings.sandbox What confines the commands that nobody was asked about.
---@field keys? koda.Settings.keys Keys in Koda's own windows and in buffers with hunks to review; `false` for none.
---@field log? koda.Settings.log The log (`:Koda log`).
---@field data_dir? string The folder of the sessions; `koda` in Neovim's data folder without it.

---@class koda.Config.budget
---@field turn? number By one prompt.
---@field session? number By one session.
---@field day? number By all sessions of a day (UTC).

---@class koda.Config.timeouts
---@field connect_ms integer Until a provider has taken the connection.
---@field first_byte_ms integer From the request to the first bytes of the reply.
---@field idle_ms integer Between two pieces of the reply.
---@field key_command_ms integer For a `key_command`.

---@class koda.Config.instructions
---@field max_bytes integer Bytes of instruction files in the system prompt; 0 for none.
---@field cursor boolean Whether Cursor's rules that hold always are told as well.

---@class koda.Config.checkpoints
---@field max_file_bytes integer Bytes of a file; a larger one can't be given back.
---@field days integer Days that a change can be taken back.

---@class koda.Config.edit
---@field save boolean Whether a buffer without changes of yours is saved after an edit.

---@class koda.Config.chat
---@field layout "float"|"right"|"left"|"tab" How the chat opens.
---@field width integer Columns of the float or the split, at most.
---@field height integer Lines of the float, at most.
---@field border string|string[]|[string, string][] The border of floats: a name or a list, as in |nvim_open_win()|.

---@class koda.Config.terminal
---@field layout "bottom"|"right"|"float"|"tab"|"hidden" Where terminals show.
---@field height integer Lines of the split or float.
---@field shell? string The shell's program; `$SHELL` without it.

---@class koda.Config.sandbox
---@field profile "read-only"|"project"|"off" What confined commands may write: temporary files only, the project and caches too, or everything.
---@field network "on"|"off" Whether confined commands reach the network over TCP.

---@class koda.Config.keys
---@field send string|false Sends the prompt, while it is written too; <CR> in normal mode sends as well.
---@field hide string|false Hides the chat.
---@field stop string|false Stops what runs.
---@field rewind string|false In the transcript: goes back before the message at the cursor, see |koda-undo|.
---@field unfold string|false Unfolds the call at the cursor, or folds it.
---@field accept string|false Accepts what waits, once; answers a question. In the prompt single letters need Alt.
---@field accept_session string|false Accepts what waits, and its like in this session.
---@field accept_project string|false Accepts what waits, and by a rule that lasts its like in this project, see `:Koda rules`.
---@field reject string|false Rejects what waits.
---@field reject_reason string|false Rejects what waits, with a reason for the model.
---@field next_ask string|false Shows the next of what waits.
---@field previous_ask string|false Shows the one before.
---@field next_hunk string|false In a buffer with hunks to review: goes to the next.
---@field previous_hunk string|false Goes to the one before.
---@field accept_hunk string|false Accepts the hunk at the cursor; |.| repeats it.
---@field reject_hunk string|false Rejects it; |.| repeats it.
---@field reject_hunk_reason string|false Rejects it with a reason for the model.
---@field accept_file string|false Accepts all hunks of the file.
---@field reject_file string|false Rejects all hunks of the file.
---@field accept_turn string|false Accepts all hunks of all files.
---@field reject_turn string|false Rejects all hunks of all files.
---@field edit_hunk string|false Edits what is proposed; writing the window takes it over.
---@field comment_hunk string|false Says something of a hunk to the model.

---@class koda.Config.log
---@field level "error"|"warn"|"info"|"debug"|"trace" What is logged.

---@class koda.Config
---@field model? string The model, `provider::model`; without it the first provider whose key is found.
---@field providers table<string, koda.config.Provider> How to reach providers, by the name before `::`.
---@field model_options table<string, koda.config.ModelOptions> What requests ask for, by `provider::model`, which may end in `*`; else the provider decides.
---@field prices table<string, koda.config.Price> Your own prices of models, by `provider::model`, which may end in `*`.
---@field budget koda.Config.budget Limits of what may be spent, in US dollars, see |koda-cost|.
---@field mode "agent"|"plan"|"ask"|"debug"|"educator" Which tools the model is offered.
---@field trust "plan"|"safe"|"auto" Who approves what Koda does.
---@field tools table<string, "auto"|"ask"|"off"> Single tools: as trust says, ask each time, or never offered.
---@field max_steps integer Requests to the model that one prompt may lead to.
---@field max_output_tokens? integer Tokens that a reply may have; the provider's default without it.
---@field timeouts koda.Config.timeouts How long to wait for a provider, in milliseconds.
---@field instructions koda.Config.instructions Files with instructions, see |koda-instructions|.
---@field checkpoints koda.Config.checkpoints What undo can give back, see |koda-undo|.
---@field edit koda.Config.edit Edits of files.
---@field chat koda.Config.chat The chat.
---@field terminal koda.Config.terminal Terminals that Koda's commands run in.
---@field sandbox koda.Config.sandbox What confines the commands that nobody was asked about.
---@field keys koda.Config.keys Keys in Koda's own windows and in buffers with hunks to review; `false` for none.
---@field log koda.Config.log The log (`:Koda log`).
---@field data_dir? string The folder of the sessions; `koda` in Neovim's data folder without it.
