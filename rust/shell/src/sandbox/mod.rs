//! The sandbox: what a command may write and reach, held by the kernel and not by a judge.
//!
//! On Linux it is Landlock, which a process takes upon itself and all its children. A thread that is about
//! to start a command enters the bounds first, so that nothing else of this process is bound.

mod bounds;
#[cfg(target_os = "linux")]
mod landlock;

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What commands may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Only temporary files.
    ReadOnly,
    /// The project, temporary files and the usual caches.
    #[default]
    Project,
    /// Everything: there is no sandbox.
    Off,
}

/// What commands may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// All hosts.
    #[default]
    On,
    /// None over TCP.
    Off,
}

/// How commands are confined.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// What they may write.
    pub profile: Profile,
    /// What they may reach.
    pub network: Network,
    /// The user's home, where caches are.
    pub home: Option<PathBuf>,
    /// The environment, which may name other folders for caches.
    pub env: Vec<(String, String)>,
}

/// What a command is bound to, once its folder is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Folders below which may be written, and files that may be.
    pub writable: Vec<PathBuf>,
    /// Whether the network can be reached.
    pub network: bool,
}

/// Names what confines commands on this machine; none where nothing does.
pub fn support() -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    return landlock::works().then_some("Landlock");
    #[cfg(not(target_os = "linux"))]
    None
}

impl Sandbox {
    /// Says what a command that is run in `cwd` is bound to; none if the user wants no sandbox.
    pub fn bounds(&self, cwd: &Path) -> Option<Bounds> {
        bounds::of(self, cwd)
    }
}

impl Bounds {
    /// Binds this thread, and every process that it starts from now on. It can't be undone.
    ///
    /// # Errors
    ///
    /// Why the kernel does not do it; then nothing may be started.
    pub fn enter(&self) -> Result<(), String> {
        #[cfg(target_os = "linux")]
        return landlock::enter(self).map_err(|error| format!("the sandbox could not be set up: {error}"));
        #[cfg(not(target_os = "linux"))]
        Err("there is no sandbox on this system".to_owned())
    }
}
