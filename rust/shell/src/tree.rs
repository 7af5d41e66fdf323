//! Everything that a command started, also what left its process group, and the end of it.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How often to look whether ended processes are gone.
const POLL: Duration = Duration::from_millis(20);

/// How often to look for processes that were started while others were ended.
const ROUNDS: usize = 5;

/// A process, told apart from a later one with the same id by when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    pid: i32,
    began: u64,
}

/// A process as the system lists it.
struct Listed {
    member: Member,
    parent: i32,
    session: i32,
    gone: bool,
}

/// The processes of a command: of the session that its shell leads, and all that descend from it.
struct Tree {
    leader: i32,
    known: BTreeSet<Member>,
}

impl Tree {
    /// Looks which processes there are; those found before are remembered, as their parents may be gone.
    fn look(&mut self) -> Vec<Member> {
        let all: Vec<Listed> = list().into_iter().filter(|listed| !listed.gone).collect();
        let mut members: BTreeSet<i32> = BTreeSet::from([self.leader]);
        let known = |listed: &&Listed| listed.session == self.leader || self.known.contains(&listed.member);
        members.extend(all.iter().filter(known).map(|listed| listed.member.pid));
        loop {
            let children = all.iter().filter(|listed| members.contains(&listed.parent));
            let more: Vec<i32> =
                children.map(|listed| listed.member.pid).filter(|pid| !members.contains(pid)).collect();
            if more.is_empty() {
                break;
            }
            members.extend(more);
        }
        let alive = all.iter().map(|listed| listed.member).filter(|member| members.contains(&member.pid));
        let alive: Vec<Member> = alive.collect();
        self.known.extend(&alive);
        alive
    }
}

/// Ends what a shell started and the shell: TERM, then after `grace` KILL. Returns when all is gone or killed.
pub async fn end(pid: Option<u32>, grace: Duration) {
    let Some(leader) = pid.and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 1) else { return };
    let mut tree = Tree { leader, known: BTreeSet::new() };
    let first = tree.look();
    signal(leader, &first, Signal::TERM);
    // Programs that were stopped would not see TERM.
    signal(leader, &first, Signal::CONT);
    let deadline = tokio::time::Instant::now() + grace;
    while tokio::time::Instant::now() < deadline {
        tokio::time::sleep(POLL).await;
        if tree.look().is_empty() {
            return;
        }
    }
    for _ in 0..ROUNDS {
        let left = tree.look();
        if left.is_empty() {
            return;
        }
        signal(leader, &left, Signal::KILL);
        tokio::time::sleep(POLL).await;
    }
}

/// Sends a signal to the shell's process group and to each member. What is gone already is as wanted.
fn signal(leader: i32, members: &[Member], signal: Signal) {
    if let Some(group) = Pid::from_raw(leader).filter(|_| !members.is_empty()) {
        let _ = kill_process_group(group, signal);
    }
    for pid in members.iter().filter_map(|member| Pid::from_raw(member.pid)) {
        let _ = kill_process(pid, signal);
    }
}

/// Lists the processes of the system.
#[cfg(target_os = "linux")]
fn list() -> Vec<Listed> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let stat = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        // The name, in parentheses, may hold anything.
        let text = std::fs::read(entry.path().join("stat")).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i32>().ok());
        Some(Listed {
            member: Member { pid, began: fields.get(19)?.parse().ok()? },
            parent: number(1)?,
            session: number(3)?,
            gone: matches!(*fields.first()?, "Z" | "X"),
        })
    };
    entries.flatten().filter_map(stat).collect()
}

/// Lists the processes of the system.
#[cfg(not(target_os = "linux"))]
fn list() -> Vec<Listed> {
    let listed = std::process::Command::new("ps").args(["-A", "-o", "pid=,ppid=,pgid=,stat="]).output();
    let Ok(listed) = listed else { return Vec::new() };
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i32>().ok());
        Some(Listed {
            member: Member { pid: number(0)?, began: 0 },
            parent: number(1)?,
            session: number(2)?,
            gone: fields.get(3)?.starts_with('Z'),
        })
    };
    String::from_utf8_lossy(&listed.stdout).lines().filter_map(line).collect()
}
