//! The ports of `koda-protocol`, over Neovim.
//!
//! Each has its other half in `lua/koda/port/`: Lua speaks to the editor in the editor's own language,
//! Rust decides what is said.

mod disk;
mod editor;
mod place;
mod view;

pub use editor::NvimEditor;
pub use view::SplitView;
