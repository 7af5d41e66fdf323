//! The paths that a command names, as far as they are known before it runs.

use std::path::Path;

use koda_protocol::CommandClass;
use koda_trust::{Classified, ResolvedPath, Touch, classify};

use crate::context::Workplace;
use crate::reach::reached;

/// What a command touches, and how it is run.
pub struct Looked {
    /// What it writes, and what it names that exists.
    pub touches: Vec<Touch>,
    /// Whether it is run within the sandbox.
    pub confined: bool,
}

/// Words of systems and programs for what a sandbox forbids.
const FORBIDDEN: &[&str] = &[
    "Permission denied",
    "permission denied",
    "Operation not permitted",
    "Read-only file system",
    "EACCES",
    "EPERM",
    "EROFS",
];

/// Whether a command that failed may have been stopped by the sandbox.
pub fn looks_forbidden(exit_code: Option<i32>, output: &str) -> bool {
    exit_code.is_some_and(|code| code != 0) && FORBIDDEN.iter().any(|words| output.contains(words))
}

/// Looks at `command`, begun in `cwd`. What the user is asked about in any case (what destroys, or writes
/// elsewhere, or what is `free` of the sandbox by its own wish) runs as the user let it: unconfined.
///
/// # Errors
///
/// A path that is written and can't be resolved, so that nobody knows where it leads to.
pub fn look(command: &str, cwd: &ResolvedPath, free: bool, place: &Workplace) -> Result<Looked, String> {
    let classified = classify(command);
    let mut touches = touches(&classified, cwd.as_path(), place)?;
    let reached = reached(command, &classified, cwd.as_path(), place).into_iter();
    touches.extend(reached.map(|path| Touch { path, write: false }));
    // Its own folder may be written without being named, and outside of everything so may all else.
    if classified.class > CommandClass::Safe && !cwd.inside() {
        touches.push(Touch { path: cwd.clone(), write: true });
    }
    if free {
        touches.push(Touch { path: place.resolve("/")?, write: true });
    }
    let elsewhere = touches.iter().any(|touch| touch.write && !touch.path.inside());
    let confined = classified.class < CommandClass::Destructive && !elsewhere;
    Ok(Looked { touches, confined })
}

fn touches(classified: &Classified, cwd: &Path, place: &Workplace) -> Result<Vec<Touch>, String> {
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
