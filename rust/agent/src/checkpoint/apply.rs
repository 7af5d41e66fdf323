//! Giving files back: through their buffers where there are any, else on disk.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use koda_protocol::checkpoint::{Change, ChangeSet, FileState, OnDisk, TakenBack, TakenHow};
use koda_protocol::port::{EditorError, StoreError};
use koda_text::diff;

use super::keeper::Keeper;
use super::plan::{self, Plan, Refusal};

/// What became of one file.
struct Done {
    path: PathBuf,
    how: TakenHow,
    lines: Vec<u64>,
    reason: Option<String>,
}

/// A file that is to become another.
struct Task {
    path: PathBuf,
    now: FileState,
    plan: Plan,
}

impl Keeper {
    /// Takes the changes of `sets` back, the newest set first, and notes what that does as the set `undo`.
    /// `shown` says paths as people read them.
    ///
    /// # Errors
    ///
    /// If the changes can't be read. What goes wrong with single files is told of them.
    pub async fn take_back(
        &self,
        sets: &[ChangeSet],
        undo: Option<ChangeSet>,
        shown: impl Fn(&Path) -> String,
    ) -> Result<Vec<TakenBack>, StoreError> {
        let changes = self.changes(sets.to_vec()).await?;
        let paths: Vec<PathBuf> = changes.keys().cloned().collect();
        let states = self.states(paths.clone()).await?;
        let kept = self.kept.clone();
        let planned = self.blocking(move |_| {
            let one = |(path, now): (PathBuf, FileState)| {
                let of: Vec<&Change> = changes.get(&path).into_iter().flatten().collect();
                let plan = plan::back(&of, &now, kept.as_ref());
                (path, now, plan)
            };
            Ok(states.into_iter().map(one).collect::<Vec<_>>())
        });
        let (mut tasks, mut done) = (Vec::new(), Vec::new());
        for (path, now, plan) in planned.await? {
            match plan {
                Ok(plan) if plan.target == now && plan.conflicts.is_empty() => {}
                Ok(plan) => tasks.push(Task { path, now, plan }),
                Err(Refusal::Conflict(why)) => done.push(left(path, TakenHow::Conflict, why)),
                Err(Refusal::Failed(why)) => done.push(left(path, TakenHow::Failed, why)),
            }
        }
        let opened = match undo {
            Some(set) => Some(self.begin_known(set, &tasks).await?),
            None => None,
        };
        done.extend(self.perform(tasks).await);
        if let Some(opened) = opened {
            self.end(opened).await?;
        }
        done.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(done.into_iter().map(|one| told(one, &shown)).collect())
    }

    /// The changes of each file, the newest first.
    async fn changes(&self, sets: Vec<ChangeSet>) -> Result<BTreeMap<PathBuf, Vec<Change>>, StoreError> {
        let session = self.session.clone();
        self.blocking(move |kept| {
            let mut by_file: BTreeMap<PathBuf, Vec<Change>> = BTreeMap::new();
            for set in sets {
                for change in kept.changes(&session, set)?.into_iter().rev() {
                    by_file.entry(change.path.clone()).or_default().push(change);
                }
            }
            Ok(by_file)
        })
        .await
    }

    async fn begin_known(&self, set: ChangeSet, tasks: &[Task]) -> Result<super::Opened, StoreError> {
        self.begin(set, tasks.iter().map(|task| task.path.clone()).collect()).await
    }

    /// What goes, goes from the inside out; what comes, from the outside in.
    async fn perform(&self, tasks: Vec<Task>) -> Vec<Done> {
        let loaded = self.loaded().await;
        let (mut going, coming): (Vec<_>, Vec<_>) =
            tasks.into_iter().partition(|task| task.plan.target.disk == OnDisk::Absent);
        going.reverse();
        let mut done = Vec::new();
        for task in going.into_iter().chain(coming) {
            let outcome = self.one(&task, &loaded).await;
            done.extend(told_of(task, outcome));
        }
        done
    }

    async fn loaded(&self) -> HashSet<PathBuf> {
        let names = self.editor.loaded().await.unwrap_or_default();
        names.into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect()
    }

    async fn one(&self, task: &Task, loaded: &HashSet<PathBuf>) -> Result<(), String> {
        let Task { path, now, plan } = task;
        let mut in_buffer = false;
        if loaded.contains(path)
            && let (Some(text), Some(target)) = (self.text(now).await, self.text(&plan.target).await)
        {
            self.in_buffer(path, &text, &target).await?;
            if now.unsaved.is_some() || plan.target.unsaved.is_some() {
                return Ok(());
            }
            in_buffer = true;
        }
        let wanted = (path.clone(), now.disk.clone(), plan.target.disk.clone());
        let replace = self.blocking(move |kept| {
            let (path, was, to) = wanted;
            // What saving the buffer made of it: a formatter may have been at work, or other line ends are due.
            let stands = if in_buffer { kept.capture(&path)? } else { was };
            if stands == to { Ok(()) } else { kept.replace(&path, &stands, &to) }
        });
        replace.await.map_err(|error| error.reason)?;
        self.editor.reload(path).await.map_err(|error| error.to_string())
    }

    /// The text of a state; none if it is none.
    async fn text(&self, state: &FileState) -> Option<String> {
        let state = state.clone();
        let read = self.blocking(move |kept| {
            Ok(match (&state.unsaved, &state.disk) {
                (Some(id), _) => String::from_utf8(kept.content(id)?).ok(),
                (None, OnDisk::File { content, .. }) => {
                    koda_text::decode(&kept.content(content)?).ok().map(|(text, _)| text)
                }
                _ => None,
            })
        });
        read.await.ok().flatten()
    }

    /// Changes a buffer as an edit does: one step of its undo.
    async fn in_buffer(&self, path: &Path, text: &str, target: &str) -> Result<(), String> {
        let failed = |error: EditorError| error.to_string();
        let document = self.editor.read(path).await.map_err(failed)?;
        if *document.text != *text {
            return Err("it has changed meanwhile".to_owned());
        }
        let edits = diff::minimal(text, target);
        if edits.is_empty() {
            return Ok(());
        }
        self.editor.edit(path, &document.revision, &edits).await.map(drop).map_err(failed)
    }
}

fn left(path: PathBuf, how: TakenHow, why: String) -> Done {
    Done { path, how, lines: Vec::new(), reason: Some(why) }
}

/// Says what became of a file; nothing of a folder that stays because something else is in it.
fn told_of(task: Task, outcome: Result<(), String>) -> Option<Done> {
    let Task { path, now, plan } = task;
    let folder =
        matches!(now.disk, OnDisk::Folder { .. }) || matches!(plan.target.disk, OnDisk::Folder { .. });
    match outcome {
        Err(_) if folder && plan.target.disk == OnDisk::Absent => None,
        Err(why) => Some(left(path, TakenHow::Failed, why)),
        Ok(()) => {
            let how = match (&plan.target.disk, plan.conflicts.is_empty(), plan.merged) {
                (_, false, _) => TakenHow::Conflict,
                (OnDisk::Absent, ..) => TakenHow::Removed,
                (_, _, true) => TakenHow::Merged,
                _ => TakenHow::Restored,
            };
            let reason =
                (!plan.conflicts.is_empty()).then(|| "you have changed the same lines since".to_owned());
            Some(Done { path, how, lines: plan.conflicts, reason })
        }
    }
}

fn told(done: Done, shown: &impl Fn(&Path) -> String) -> TakenBack {
    TakenBack { path: shown(&done.path), how: done.how, lines: done.lines, reason: done.reason }
}
