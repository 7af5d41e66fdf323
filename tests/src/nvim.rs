//! Which Neovim the tests run in, and how it is called.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Place;

/// A Neovim executable. `KODA_TEST_NVIM` names it; without that it is the fetched 0.11, then the one on PATH.
pub struct Nvim {
    executable: PathBuf,
    /// What goes on the runtime path.
    checkout: PathBuf,
}

impl Nvim {
    /// Finds the Neovim under test, and checks that Koda's library is built.
    ///
    /// # Panics
    /// If there is no Neovim or no library, with the command that gets both.
    pub fn find() -> Self {
        let manifest = crate::root().join(".build/lib/manifest.json");
        assert!(
            manifest.is_file(),
            "{} is not there: the library is not built; run `make test`",
            manifest.display()
        );
        Self::find_without_library()
    }

    /// Finds the Neovim under test, for tests that need no library.
    ///
    /// # Panics
    /// If there is none, with the command that gets it.
    pub fn find_without_library() -> Self {
        let fetched = crate::root().join(".build/nvim/0.11/nvim");
        let executable = match env::var_os("KODA_TEST_NVIM") {
            Some(named) => PathBuf::from(named),
            None if fetched.is_file() => fetched,
            None => on_path("nvim").expect("no Neovim to test in; run `make test`, which gets one"),
        };
        assert!(executable.is_file(), "KODA_TEST_NVIM={} is no file; run `make test`", executable.display());
        Self { executable, checkout: crate::root() }
    }

    /// Runs Koda from a copy of the checkout.
    #[must_use]
    pub fn with_checkout(self, checkout: &Path) -> Self {
        Self { checkout: checkout.to_owned(), ..self }
    }

    /// Builds a call of it in `folder`: no user configuration, Koda's checkout on the runtime path.
    pub fn command(&self, place: &Place, folder: &Path) -> Command {
        let mut command = place.command(&self.executable, folder);
        command.args(self.arguments());
        command
    }

    /// Returns the executable.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Returns the arguments that every call begins with.
    pub fn arguments(&self) -> Vec<String> {
        let root = self.checkout.display().to_string();
        let runtime = format!("set runtimepath^={}", root.replace(' ', "\\ "));
        // Neovim would look for the machine's Python when it opens a Python file, which takes a second and more.
        let no_python = "let g:loaded_python3_provider = 0";
        ["--clean", "--cmd", &runtime, "--cmd", no_python].map(str::to_owned).to_vec()
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}
