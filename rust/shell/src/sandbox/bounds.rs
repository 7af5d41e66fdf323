//! What a command may write, by profile.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Bounds, Network, Profile, Sandbox};

/// Devices that take everything, and terminals.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Where temporary files go.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Caches of compilers and package managers, below the home.
const CACHES: &[&str] = &[
    ".cache",
    ".cargo",
    ".rustup",
    ".npm",
    ".pnpm-store",
    ".local/share/pnpm",
    ".yarn",
    ".bun/install",
    ".gradle",
    ".m2",
    ".nuget",
    ".ivy2",
    ".sbt",
    ".stack",
    ".cabal",
    ".ccache",
    "go",
    ".gem",
    ".bundle",
    ".composer",
    ".hex",
    ".mix",
    ".deno",
    ".pub-cache",
    "Library/Caches",
];

/// Variables that name folders for caches or temporary files.
const CACHE_VARIABLES: &[&str] = &[
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "GOPATH",
    "GOCACHE",
    "GOMODCACHE",
    "npm_config_cache",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    "CCACHE_DIR",
    "SCCACHE_DIR",
    "GRADLE_USER_HOME",
];

/// See [`Sandbox::bounds`].
pub fn of(sandbox: &Sandbox, cwd: &Path) -> Option<Bounds> {
    let mut writable: Vec<PathBuf> = DEVICES.iter().chain(TEMPORARY).map(PathBuf::from).collect();
    match sandbox.profile {
        Profile::Off => return None,
        Profile::ReadOnly => {}
        Profile::Project => {
            writable.extend(project(cwd));
            let caches = sandbox.home.iter().flat_map(|home| CACHES.iter().map(|name| home.join(name)));
            writable.extend(caches);
            let named = sandbox.env.iter().filter(|(name, _)| CACHE_VARIABLES.contains(&name.as_str()));
            // A variable that says `/` or the home would open everything.
            let narrow = |path: &PathBuf| {
                path.is_absolute() && path.components().count() > 2 && sandbox.home.as_ref() != Some(path)
            };
            writable.extend(named.map(|(_, path)| PathBuf::from(path)).filter(narrow));
        }
    }
    Some(Bounds { writable, network: sandbox.network == Network::On })
}

/// The project of a folder, with the repository that keeps its history if that lies elsewhere.
fn project(cwd: &Path) -> Vec<PathBuf> {
    let Some(root) = cwd.ancestors().find(|folder| folder.join(".git").exists()) else {
        return vec![cwd.to_owned()];
    };
    let mut folders = vec![root.to_owned()];
    // Worktrees and submodules have a file that says where.
    if let Ok(text) = fs::read_to_string(root.join(".git"))
        && let Some(place) = text.strip_prefix("gitdir:")
    {
        let place = root.join(place.trim());
        let repository =
            place.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".git"));
        folders.push(repository.unwrap_or(&place).to_owned());
    }
    folders
}
