//! What a file becomes when changes are taken back from it. Touches no file.

use koda_protocol::TextFormat;
use koda_protocol::checkpoint::{Change, Checkpoints, FileState, OnDisk};
use koda_protocol::port::StoreError;
use koda_text::merge::{Merged, carry_line, three_way};

/// What is to become of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What is to stand there.
    pub target: FileState,
    /// Whether changes of the user stand besides.
    pub merged: bool,
    /// Lines of the target, from 1, where the user has changed what was to be taken back.
    pub conflicts: Vec<u64>,
}

/// Why a file stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The user has changed it in a way that leaves no room.
    Conflict(String),
    /// It could not be found out.
    Failed(String),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Takes `changes` of one file back, the newest first, from what stands there `now`.
pub fn back(changes: &[&Change], now: &FileState, kept: &dyn Checkpoints) -> Result<Plan, Refusal> {
    let mut plan = Plan { target: now.clone(), merged: false, conflicts: Vec::new() };
    for change in changes {
        step(change, &mut plan, kept)?;
    }
    Ok(plan)
}

fn step(change: &Change, plan: &mut Plan, kept: &dyn Checkpoints) -> Result<(), Refusal> {
    let now = &plan.target;
    let Some(after) = &change.after else {
        return Err(Refusal::Conflict(
            "its change was broken off, so that nobody knows what was whose".to_owned(),
        ));
    };
    if *now == change.before {
        return Ok(());
    }
    if now == after {
        plan.target = change.before.clone();
        return Ok(());
    }
    if let Some(target) = by_content(&change.before, after, now) {
        plan.target = target;
        plan.merged = true;
        return Ok(());
    }
    let texts = (text(&change.before, kept)?, text(after, kept)?, text(now, kept)?);
    let (Some((before, form)), Some((after_text, after_form)), Some((now_text, now_form))) = texts else {
        return Err(Refusal::Conflict(differs(&change.before, after, now).to_owned()));
    };
    if form != after_form && now_form != after_form {
        return Err(Refusal::Conflict("its line ends or encoding have changed since".to_owned()));
    }
    let Merged { text: merged, conflicts } = three_way(&after_text, &now_text, &before);
    let carried = plan.conflicts.iter().map(|line| carried(&now_text, &merged, *line));
    let new = conflicts.iter().map(|place| place.start as u64);
    let mut lines: Vec<u64> = carried.chain(new).collect();
    lines.sort_unstable();
    lines.dedup();
    let form = if now_form == after_form { form } else { now_form };
    let target = with_text(&change.before, after, now, &merged, &form, kept)?;
    *plan = Plan { target, merged: true, conflicts: lines };
    Ok(())
}

fn carried(old: &str, new: &str, line: u64) -> u64 {
    usize::try_from(line).map_or(line, |line| carry_line(old, new, line) as u64)
}

/// The permissions after taking back: the user's own change of them stands.
fn mode(before: u32, after: u32, now: u32) -> u32 {
    if now == after { before } else { now }
}

/// Takes back where content or permissions are as the change left them.
fn by_content(before: &FileState, after: &FileState, now: &FileState) -> Option<FileState> {
    if now.unsaved.is_some() || before.unsaved.is_some() || after.unsaved.is_some() {
        return None;
    }
    let (
        OnDisk::File { content: old, mode: a },
        OnDisk::File { content: made, mode: b },
        OnDisk::File { content: seen, mode: c },
    ) = (&before.disk, &after.disk, &now.disk)
    else {
        return None;
    };
    // The change did nothing to the bytes, or the user did nothing, or they took it back themselves.
    let content = match () {
        () if seen == made || seen == old => old,
        () if old == made => seen,
        () => return None,
    };
    Some(OnDisk::File { content: content.clone(), mode: mode(*a, *b, *c) }.into())
}

/// The text that the user sees; none if it is none.
fn text(state: &FileState, kept: &dyn Checkpoints) -> Result<Option<(String, TextFormat)>, StoreError> {
    let on_disk = match &state.disk {
        OnDisk::File { content, .. } => koda_text::decode(&kept.content(content)?).ok(),
        _ => None,
    };
    let Some(unsaved) = &state.unsaved else { return Ok(on_disk) };
    let format = on_disk.map(|(_, format)| format).unwrap_or_default();
    Ok(String::from_utf8(kept.content(unsaved)?).ok().map(|text| (text, format)))
}

/// Puts a text where the text of `now` is: in the file, or in the buffer that has not been saved.
fn with_text(
    before: &FileState,
    after: &FileState,
    now: &FileState,
    text: &str,
    form: &TextFormat,
    kept: &dyn Checkpoints,
) -> Result<FileState, Refusal> {
    if now.unsaved.is_some() {
        return Ok(FileState { disk: now.disk.clone(), unsaved: Some(kept.keep(text.as_bytes())?) });
    }
    let bytes = koda_text::encode(text, form)
        .map_err(|error| Refusal::Conflict(format!("it can't be written in its encoding: {error}")))?;
    let content = kept.keep(&bytes)?;
    let mode = match (&before.disk, &after.disk, &now.disk) {
        (OnDisk::File { mode: a, .. }, OnDisk::File { mode: b, .. }, OnDisk::File { mode: c, .. }) => {
            mode(*a, *b, *c)
        }
        (_, _, OnDisk::File { mode, .. }) => *mode,
        _ => return Err(Refusal::Conflict(differs(before, after, now).to_owned())),
    };
    Ok(OnDisk::File { content, mode }.into())
}

/// Says what the user did that leaves no room.
fn differs(before: &FileState, after: &FileState, now: &FileState) -> &'static str {
    match (&before.disk, &after.disk, &now.disk) {
        (OnDisk::Absent, _, OnDisk::File { .. }) => "it was made, and you have changed it since",
        (_, OnDisk::Absent, _) => "it was deleted, and you have made another since",
        (_, _, OnDisk::Absent) => "you have deleted it since",
        (_, _, OnDisk::Unkept { .. }) | (OnDisk::Unkept { .. }, ..) => "it is too big to be compared",
        _ => "you have changed it since",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use koda_protocol::checkpoint::ChangeId;
    use koda_protocol::double::MemoryCheckpoints;

    use super::*;

    fn file(kept: &MemoryCheckpoints, bytes: &[u8]) -> FileState {
        OnDisk::File { content: kept.keep(bytes).unwrap(), mode: 0o644 }.into()
    }

    fn change(before: &FileState, after: &FileState) -> Change {
        let path = Path::new("/p/a").to_owned();
        Change { id: ChangeId(1), path, before: before.clone(), after: Some(after.clone()) }
    }

    fn bytes(kept: &MemoryCheckpoints, state: &FileState) -> Vec<u8> {
        let OnDisk::File { content, .. } = &state.disk else { panic!("no file: {state:?}") };
        kept.content(content).unwrap()
    }

    #[test]
    fn what_nobody_touched_comes_back_as_it_was() {
        let kept = MemoryCheckpoints::default();
        let states = [file(&kept, b"\xff\x00"), OnDisk::Absent.into(), OnDisk::Folder { mode: 0o755 }.into()];
        for before in &states {
            for after in states.iter().filter(|after| *after != before) {
                let plan = back(&[&change(before, after)], after, &kept).unwrap();
                assert_eq!(plan, Plan { target: before.clone(), merged: false, conflicts: vec![] });
                // It is there already.
                assert_eq!(back(&[&change(before, after)], before, &kept).unwrap(), plan);
            }
        }
    }

    #[test]
    fn several_changes_go_back_one_by_one_around_what_the_user_did_in_between() {
        let kept = MemoryCheckpoints::default();
        let states = [
            &b"one\r\ntwo\r\nthree\r\n"[..],
            b"ONE\r\ntwo\r\nthree\r\n",
            b"ONE\r\ntwo\r\nthree\r\nuser\r\n",
            b"ONE\r\nTWO\r\nthree\r\nuser\r\n",
        ]
        .map(|bytes| file(&kept, bytes));
        let (first, second) = (change(&states[0], &states[1]), change(&states[2], &states[3]));
        let plan = back(&[&second, &first], &states[3], &kept).unwrap();
        assert_eq!(bytes(&kept, &plan.target), b"one\r\ntwo\r\nthree\r\nuser\r\n");
        assert!(plan.merged && plan.conflicts.is_empty());
    }

    #[test]
    fn a_conflict_is_told_by_the_line_where_it_ends_up() {
        let kept = MemoryCheckpoints::default();
        let states =
            [&b"a\nb\nc\nd\n"[..], b"new\na\nb\nc\nd\n", b"new\na\nb\nC\nd\n", b"new\na\nb\nmine\nd\n"]
                .map(|bytes| file(&kept, bytes));
        let changes = [change(&states[0], &states[1]), change(&states[1], &states[2])];
        let plan = back(&[&changes[1], &changes[0]], &states[3], &kept).unwrap();
        assert_eq!(bytes(&kept, &plan.target), b"a\nb\nmine\nd\n");
        assert_eq!(plan.conflicts, [3]);
    }

    #[test]
    fn the_users_own_permissions_stand() {
        let kept = MemoryCheckpoints::default();
        let [before, after] = [&b"a"[..], b"b"].map(|bytes| kept.keep(bytes).unwrap());
        let state =
            |content: &_, mode| FileState::from(OnDisk::File { content: Clone::clone(content), mode });
        let change = change(&state(&before, 0o644), &state(&after, 0o644));
        let plan = back(&[&change], &state(&after, 0o600), &kept).unwrap();
        assert_eq!(plan.target, state(&before, 0o600));
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let kept = MemoryCheckpoints::default();
        let (old, made, mine) = (file(&kept, b"\x00a"), file(&kept, b"\x00b"), file(&kept, b"\x00c"));
        let absent = FileState::from(OnDisk::Absent);
        let refused = |before: &FileState, after: &FileState, now: &FileState| {
            matches!(back(&[&change(before, after)], now, &kept), Err(Refusal::Conflict(_)))
        };
        assert!(refused(&old, &made, &mine));
        assert!(refused(&absent, &made, &mine));
        assert!(refused(&old, &absent, &mine));
        assert!(refused(&old, &made, &absent));
        let broken = Change { after: None, ..change(&old, &made) };
        assert!(matches!(back(&[&broken], &mine, &kept), Err(Refusal::Conflict(_))));
    }

    #[test]
    fn a_text_that_is_not_saved_is_changed_where_it_is() {
        let kept = MemoryCheckpoints::default();
        let disk = file(&kept, b"disk\n").disk;
        let unsaved = |text: &[u8]| FileState { disk: disk.clone(), unsaved: Some(kept.keep(text).unwrap()) };
        let change = change(&unsaved(b"mine\n"), &unsaved(b"mine\nagent\n"));
        let plan = back(&[&change], &unsaved(b"mine more\nagent\n"), &kept).unwrap();
        assert_eq!(plan.target, unsaved(b"mine more\n"));
        // Saved meanwhile: the file has it.
        let plan = back(&[&change], &file(&kept, b"mine\nagent\n"), &kept).unwrap();
        assert_eq!(bytes(&kept, &plan.target), b"mine\n");
    }
}
