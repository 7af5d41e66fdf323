//! The tools, one file each.

mod ask_user;
mod bash;
mod delete;
mod edit;
mod glob;
mod grep;
mod list_files;
mod read;
mod think;
mod todo_write;
mod write;

use crate::entry::Entry;

/// Returns every tool.
pub fn all() -> Vec<Entry> {
    vec![
        ask_user::entry(),
        bash::entry(),
        delete::entry(),
        edit::entry(),
        glob::entry(),
        grep::entry(),
        list_files::entry(),
        read::entry(),
        think::entry(),
        todo_write::entry(),
        write::entry(),
    ]
}

/// Other names that models give to a path.
const PATH_NAMES: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("filepath", "path"),
    ("target_file", "path"),
    ("filename", "path"),
    ("file", "path"),
    ("directory", "path"),
    ("dir_path", "path"),
    ("dirpath", "path"),
];
