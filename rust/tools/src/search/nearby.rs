//! What a path that does not exist may have meant.

use std::path::{Path, PathBuf};

use koda_text::diff::likeness;
use tokio_util::sync::CancellationToken;

/// Paths named at most: more are a guess, not a help.
const NAMED: usize = 3;

/// How alike a name must be, from 0 to 1.
const ALIKE: f32 = 0.6;

/// Finds files of the same name elsewhere below `root`, else names like it in the folder where it was
/// looked for; best first. Ignored files are left out. Blocks.
pub fn nearby(root: &Path, missing: &Path, cancel: &CancellationToken) -> Vec<PathBuf> {
    let Some(name) = missing.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let mut found = match super::glob(&globset::escape(name)) {
        Ok(matcher) => super::files(root, &matcher, cancel),
        Err(_) => Vec::new(),
    };
    if found.is_empty() {
        found = alike(root, missing.parent().unwrap_or(root), name);
    }
    found.truncate(NAMED);
    found
}

fn alike(root: &Path, folder: &Path, name: &str) -> Vec<PathBuf> {
    // A folder that is missing too has no names to offer.
    let names = super::list(folder).unwrap_or_default();
    let score = |other: &String| likeness(&other.to_lowercase(), &name.to_lowercase());
    let mut scored: Vec<(f32, String)> = names.into_iter().map(|other| (score(&other), other)).collect();
    scored.retain(|(score, _)| *score >= ALIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let folder = folder.strip_prefix(root).unwrap_or(folder);
    scored.into_iter().map(|(_, other)| folder.join(other.trim_end_matches(['/', '@']))).collect()
}
