//! The tools, one file each.

mod activate_skill;
mod ask_user;
mod bash;
mod cancel_task;
mod delete;
mod edit;
mod glob;
mod grep;
mod list_background_tasks;
mod list_files;
mod list_skills;
mod memory_read;
mod memory_write;
mod read;
mod recall_context;
mod task;
mod task_output;
mod think;
mod todo_write;
mod update_plan;
mod wait_task;
mod write;

use crate::entry::Entry;

/// Returns every tool.
pub fn all() -> Vec<Entry> {
    vec![
        activate_skill::entry(),
        ask_user::entry(),
        bash::entry(),
        cancel_task::entry(),
        delete::entry(),
        edit::entry(),
        glob::entry(),
        grep::entry(),
        list_background_tasks::entry(),
        list_files::entry(),
        list_skills::entry(),
        memory_read::entry(),
        memory_write::entry(),
        read::entry(),
        recall_context::entry(),
        task_output::entry(),
        think::entry(),
        todo_write::entry(),
        update_plan::entry(),
        wait_task::entry(),
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
