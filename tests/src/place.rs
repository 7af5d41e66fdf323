//! Where a test lives: folders of its own, and an environment in which nothing of the machine's user shows.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The variable that marks every process that a test starts, with the place's folder as value.
const MARK: &str = "KODA_TEST_PLACE";

/// A scratch folder with a HOME, XDG folders and a git configuration. Removed when dropped.
pub struct Place {
    folder: TempDir,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// Makes one.
    ///
    /// # Panics
    /// If the system's temporary folder can't be written.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("koda-").tempdir().expect("a temporary folder");
        let place = Self { folder };
        for name in ["home", "config", "data", "state", "cache", "run"] {
            fs::create_dir_all(place.path().join(name)).expect("folders of the test");
        }
        place.write(
            "home/.gitconfig",
            "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n",
        );
        place
    }

    /// Returns the folder, with symlinks resolved.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the test's folder stays")
    }

    /// Writes a file below the folder, making its parents, and returns its absolute path.
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("parents of a file");
        fs::write(&path, text).unwrap_or_else(|problem| panic!("write {}: {problem}", path.display()));
        path
    }

    /// Lays out the folder `project` with these files, and returns its absolute path.
    pub fn project(&self, files: &[(&str, &str)]) -> PathBuf {
        let root = self.path().join("project");
        fs::create_dir_all(&root).expect("the project's folder");
        for (path, text) in files {
            self.write(Path::new("project").join(path), text);
        }
        root
    }

    /// Copies a folder of the checkout to a folder of this place, and returns that folder's absolute path.
    pub fn copy(&self, from: &str, to: &str) -> PathBuf {
        let target = self.path().join(to);
        copy_folder(&crate::root().join(from), &target);
        target
    }

    /// Returns the environment of everything that runs here: fixed language, time zone and colours, no network keys.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = self.path();
        let mut set: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), path.join("home").into()),
            ("XDG_CONFIG_HOME".into(), path.join("config").into()),
            ("XDG_DATA_HOME".into(), path.join("data").into()),
            ("XDG_STATE_HOME".into(), path.join("state").into()),
            ("XDG_CACHE_HOME".into(), path.join("cache").into()),
            ("XDG_RUNTIME_DIR".into(), path.join("run").into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("TZ".into(), "UTC".into()),
            ("TERM".into(), "xterm-256color".into()),
            ("COLORTERM".into(), "truecolor".into()),
            ("SHELL".into(), "/bin/bash".into()),
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            (MARK.into(), path.into()),
        ];
        // The library's own build is found through the checkout, programs through PATH; nothing else comes in.
        set.extend(std::env::var_os("PATH").map(|value| ("PATH".into(), value)));
        set
    }

    /// Builds a command that runs here, in `folder`, and sees only this place's environment.
    pub fn command(&self, program: impl AsRef<Path>, folder: &Path) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(self.environment()).current_dir(folder);
        command
    }

    /// Runs `git` in `folder` and returns what it prints.
    ///
    /// # Panics
    /// If git fails.
    pub fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.command("git", folder).args(arguments).output().expect("git runs");
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {problem}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the processes that this test started, directly or not, and that still live after `grace`, as `PID NAME`.
    ///
    /// Returns as soon as there are none. Reads `/proc`; where there is none it returns nothing.
    pub fn survivors(&self, grace: Duration) -> Vec<String> {
        let deadline = Instant::now() + grace;
        loop {
            let alive = self.alive();
            if alive.is_empty() || Instant::now() > deadline {
                return alive;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn alive(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.path().display());
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let marked = |folder: PathBuf| {
            let environment = fs::read(folder.join("environ")).ok()?;
            let has_mark = environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
            let name = fs::read_to_string(folder.join("comm")).ok()?;
            let pid = folder.file_name()?.to_string_lossy().into_owned();
            has_mark.then(|| format!("{pid} {}", name.trim_end()))
        };
        processes.flatten().filter_map(|entry| marked(entry.path())).collect()
    }

    /// Returns the ends of all logs below the folder, for the message of a test that fails.
    pub fn logs(&self) -> String {
        let mut found = Vec::new();
        collect_logs(&self.path(), &mut found);
        let tail = |path: &PathBuf| {
            let text = String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            let shown =
                lines.iter().skip(lines.len().saturating_sub(40)).copied().collect::<Vec<_>>().join("\n");
            format!("--- {}\n{shown}", path.display())
        };
        found.iter().map(tail).collect::<Vec<_>>().join("\n")
    }
}

fn collect_logs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_logs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "log") {
            found.push(path);
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder of the project");
    for entry in fs::read_dir(from).unwrap_or_else(|problem| panic!("{}: {problem}", from.display())) {
        let entry = entry.expect("an entry of the template");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its type").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file of the template");
        }
    }
}
