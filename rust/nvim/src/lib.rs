//! The Neovim side: bridge to the main thread, ports over the editor, the Lua API.
