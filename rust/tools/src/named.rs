//! The paths that a command names, as far as they are known before it runs.

use std::path::Path;

use koda_trust::{Touch, classify};

use crate::context::Workplace;

/// Finds what `command`, begun in `cwd`, writes, and what that exists it names.
///
/// # Errors
///
/// A path that is written and can't be resolved, so that nobody knows where it leads to.
pub fn touches(command: &str, cwd: &Path, place: &Workplace) -> Result<Vec<Touch>, String> {
    let classified = classify(command);
    let mut touches: Vec<Touch> = Vec::new();
    let mut add = |touch: Touch| {
        if !touches.contains(&touch) {
            touches.push(touch);
        }
    };
    for named in &classified.paths {
        match place.resolver.resolve(&named.text, cwd) {
            Ok(path) if named.write || exists(path.as_path()) => add(Touch { path, write: named.write }),
            Ok(_) => {}
            Err(error) if named.write => return Err(format!("`command`: {error}")),
            Err(_) => {}
        }
    }
    // Most words are no paths. Those that are count as read, whatever the program does with them.
    for mention in &classified.mentions {
        if let Ok(path) = place.resolver.resolve(mention, cwd)
            && exists(path.as_path())
        {
            add(Touch { path, write: false });
        }
    }
    Ok(touches)
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
