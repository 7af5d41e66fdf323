//! The user's rules, in one file of JSON.
//!
//! A change reads, changes and replaces the whole file while it holds a lock, so that two Neovims lose nothing;
//! reading needs no lock, since the file is replaced in one step. A file that can't be understood is an error and
//! stays as it is: rules that deny must not vanish.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use koda_protocol::UnixMillis;
use koda_protocol::port::StoreError;
use koda_protocol::rule::{Rule, Rules};
use serde::{Deserialize, Serialize};

use crate::replace::replace;
use crate::{failed, private_dir};

/// The version of the file's form.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    next: u64,
    rules: Vec<Rule>,
}

impl Default for Content {
    fn default() -> Self {
        Self { version: VERSION, next: 1, rules: Vec::new() }
    }
}

/// Keeps rules in `rules.json` of a directory.
pub struct RuleFile {
    path: PathBuf,
}

impl RuleFile {
    /// Names the directory; nothing is made before the first rule.
    pub fn new(dir: &Path) -> Self {
        Self { path: dir.join("rules.json") }
    }

    fn read(&self) -> io::Result<Content> {
        match fs::read(&self.path) {
            Ok(bytes) => {
                let content: Content = serde_json::from_slice(&bytes)?;
                if content.version == VERSION {
                    return Ok(content);
                }
                Err(io::Error::other(format!("it has the form of another version, {}", content.version)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Content::default()),
            Err(error) => Err(error),
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Content) -> T) -> Result<T, StoreError> {
        self.locked(change).map_err(|error| failed(&self.path, &error))
    }

    fn locked<T>(&self, change: impl FnOnce(&mut Content) -> T) -> io::Result<T> {
        if let Some(dir) = self.path.parent() {
            private_dir(dir)?;
        }
        let lock = private().create(true).truncate(false).open(self.path.with_extension("lock"))?;
        // Let go when the file is closed, whatever happens.
        lock.lock()?;
        let mut content = self.read()?;
        let result = change(&mut content);
        self.write(&content)?;
        Ok(result)
    }

    fn write(&self, content: &Content) -> io::Result<()> {
        replace(&self.path, &serde_json::to_vec_pretty(content)?, 0o600)
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

impl Rules for RuleFile {
    fn list(&self) -> Result<Vec<Rule>, StoreError> {
        self.read().map(|content| content.rules).map_err(|error| failed(&self.path, &error))
    }

    fn add(&self, rule: Rule) -> Result<Rule, StoreError> {
        self.change(|content| {
            let same =
                |old: &&Rule| old.project == rule.project && old.deny == rule.deny && old.what == rule.what;
            if let Some(old) = content.rules.iter().find(same) {
                return old.clone();
            }
            let rule = Rule { id: content.next, ..rule };
            content.next += 1;
            content.rules.push(rule.clone());
            rule
        })
    }

    fn remove(&self, id: u64) -> Result<bool, StoreError> {
        self.change(|content| {
            let before = content.rules.len();
            content.rules.retain(|rule| rule.id != id);
            content.rules.len() < before
        })
    }

    fn used(&self, id: u64, now: UnixMillis) -> Result<(), StoreError> {
        self.change(|content| {
            for rule in content.rules.iter_mut().filter(|rule| rule.id == id) {
                rule.uses += 1;
                rule.last_use = Some(now);
            }
        })
    }
}
