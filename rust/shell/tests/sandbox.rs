//! Commands that really try to get out of the sandbox. Where the kernel has none, they say so and do nothing.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it is skipped"
)]

mod lasting;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use koda_protocol::port::{Command, CommandOutcome, Confinement, Terminals};
use koda_shell::sandbox::{self, Network, Profile, Sandbox};
use koda_shell::{Pool, PoolOptions, Status, View};
use tokio_util::sync::CancellationToken;

struct Blind;

impl View for Blind {
    fn opened(&self, _: u32, _: &str) {}
    fn output(&self, _: u32, _: &[u8]) {}
    fn status(&self, _: u32, _: &Status) {}
}

struct Rig {
    _dir: tempfile::TempDir,
    root: PathBuf,
    home: PathBuf,
    outside: PathBuf,
}

/// None where there is nothing to test, which is said.
fn rig() -> Option<Rig> {
    if sandbox::support().is_none() {
        eprintln!("skipped: this kernel has no Landlock, or does not let us use it");
        return None;
    }
    let dir = lasting::folder();
    let base = dir.path().canonicalize().unwrap();
    let (root, home, outside) = (base.join("project"), base.join("home"), base.join("outside"));
    for folder in [&root.join("src"), &root.join(".git"), &home.join(".cache"), &home.join(".ssh"), &outside]
    {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(outside.join("old"), "kept").unwrap();
    Some(Rig { _dir: dir, root, home, outside })
}

impl Rig {
    async fn run(&self, profile: Profile, network: Network, confined: bool, text: &str) -> CommandOutcome {
        let env = vec![
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), self.home.display().to_string()),
            ("OUT".to_owned(), self.outside.display().to_string()),
            ("ROOT".to_owned(), self.root.display().to_string()),
        ];
        let sandbox = Sandbox { profile, network, home: Some(self.home.clone()), env: env.clone() };
        let options =
            PoolOptions { shell: Some("/bin/sh".into()), sandbox: Some(sandbox), ..PoolOptions::new(env) };
        let pool = Pool::new(options, Arc::new(Blind));
        let command = Command {
            text: text.to_owned(),
            cwd: self.root.clone(),
            session: "s".into(),
            call: "c".into(),
            confined,
            background: false,
            timeout: None,
            foreground_timeout: None,
            cancel: CancellationToken::new(),
            on_output: None,
            on_end: None,
        };
        pool.run(command).await.unwrap()
    }

    async fn project(&self, text: &str) -> CommandOutcome {
        self.run(Profile::Project, Network::On, true, text).await
    }
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_project_temporary_files_and_caches_can_be_written() {
    let Some(rig) = rig() else { return };
    let name = rig.root.ancestors().nth(1).unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let text = format!(
        "echo a > a && mkdir -p src/b && mv a src/b/a && rm src/b/a && echo x > ~/.cache/x && echo x > /tmp/{name} && rm /tmp/{name} && echo x > /dev/null && echo x > /dev/tty && (cd src && ln -s b c)"
    );
    let outcome = rig.project(&text).await;
    assert_eq!(outcome.exit_code, Some(0), "{}", outcome.output);
    // Reading stays as it was.
    let read = rig.project("cat \"$OUT/old\"").await;
    assert!(read.output.contains("kept"), "{}", read.output);
}

#[tokio::test]
async fn nothing_outside_can_be_written_by_any_way() {
    let Some(rig) = rig() else { return };
    let ways = [
        "echo x > \"$OUT/new\"",
        "echo x >> \"$OUT/old\"",
        ": > \"$OUT/old\"",
        "rm -f \"$OUT/old\"",
        "mv \"$OUT/old\" .",
        "cp /dev/null \"$OUT/old\"",
        "mkdir \"$OUT/d\"",
        "ln -s x \"$OUT/l\"",
        "ln \"$OUT/old\" hard && echo x > hard",
        "mkfifo \"$OUT/p\"",
        "truncate -s 0 \"$OUT/old\"",
        // Through a link within the project, also one that is swapped while it runs.
        "ln -s \"$OUT\" link && echo x > link/new",
        "ln -s \"$OUT/old\" link2 && echo x > link2",
        "mkdir s && (for i in 1 2 3 4 5 6 7 8 9; do rm -rf s; ln -s \"$OUT\" s; rm s; mkdir s; done) & for i in 1 2 3 4 5 6 7 8 9; do echo x > s/new; done; wait",
        // Through another root of the file system, and through the shell that started it.
        "echo x > /proc/self/root\"$OUT\"/new",
        "echo x > /proc/$PPID/root\"$OUT\"/new",
        "cd /proc/$PPID/cwd && echo x > \"$OUT/new\"",
        // Children, also those that outlive the shell.
        "sh -c 'sh -c \"echo x > $OUT/new\"'",
        "(sleep 0.1; echo x > \"$OUT/new\") & wait",
        "nohup setsid sh -c 'echo x > \"$OUT/new\"' > /dev/null 2>&1; sleep 0.2",
        "unshare -Ur sh -c 'echo x > \"$OUT/new\"'",
        "unshare -Urm sh -c 'mount --bind \"$OUT\" src && echo x > src/new'",
        "echo x > ~/.ssh/authorized_keys",
        "echo x >> ~/.bashrc",
    ];
    for way in ways {
        rig.project(way).await;
        assert_eq!(names(&rig.outside), ["old"], "{way}");
        assert_eq!(fs::read_to_string(rig.outside.join("old")).unwrap(), "kept", "{way}");
        assert!(names(&rig.home.join(".ssh")).is_empty(), "{way}");
        assert!(!rig.home.join(".bashrc").exists(), "{way}");
    }
}

#[tokio::test]
async fn a_profile_that_only_reads_leaves_the_project_alone() {
    let Some(rig) = rig() else { return };
    let outcome =
        rig.run(Profile::ReadOnly, Network::On, true, "echo x > a; ls; echo x > /tmp/$$ && rm /tmp/$$").await;
    assert_eq!(outcome.exit_code, Some(0), "{}", outcome.output);
    assert!(!rig.root.join("a").exists());
}

#[tokio::test]
async fn what_the_user_was_asked_about_runs_free_and_so_does_everything_when_it_is_off() {
    let Some(rig) = rig() else { return };
    rig.run(Profile::Project, Network::On, false, "echo x > \"$OUT/asked\"").await;
    rig.run(Profile::Off, Network::On, true, "echo x > \"$OUT/off\"").await;
    assert_eq!(names(&rig.outside), ["asked", "off", "old"]);
    // The thread that started them was bound, this process is not.
    rig.project("true").await;
    fs::write(rig.outside.join("mine"), "x").unwrap();
}

#[tokio::test]
async fn without_network_no_connection_is_made() {
    let Some(rig) = rig() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let text = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let text = format!("bash -c '{text}'");
    let outcome = rig.run(Profile::Project, Network::Off, true, &text).await;
    assert_ne!(outcome.exit_code, Some(0), "{}", outcome.output);
    assert!(listener.accept().is_err());
    let outcome = rig.project(&text).await;
    assert_eq!(outcome.exit_code, Some(0), "{}", outcome.output);
    assert!(listener.accept().is_ok());
}

#[tokio::test]
async fn a_worktree_can_write_the_repository_it_belongs_to() {
    let Some(rig) = rig() else { return };
    fs::remove_dir(rig.root.join(".git")).unwrap();
    let repository = rig.outside.join(".git/worktrees/w");
    fs::create_dir_all(&repository).unwrap();
    fs::write(rig.root.join(".git"), format!("gitdir: {}\n", repository.display())).unwrap();
    let outcome = rig.project("echo x > \"$OUT/.git/HEAD\" && echo x > a && ! echo x > \"$OUT/new\"").await;
    assert_eq!(outcome.exit_code, Some(0), "{}", outcome.output);
}

#[test]
fn a_pool_tells_what_confines_its_commands() {
    let pool = |profile| {
        let sandbox = Sandbox { profile, network: Network::On, home: None, env: Vec::new() };
        Pool::new(PoolOptions { sandbox: Some(sandbox), ..PoolOptions::new(Vec::new()) }, Arc::new(Blind))
    };
    let there = if sandbox::support().is_some() { Confinement::Sandbox } else { Confinement::Missing };
    assert_eq!(pool(Profile::Project).confinement(), there);
    assert_eq!(pool(Profile::Off).confinement(), Confinement::Off);
}
