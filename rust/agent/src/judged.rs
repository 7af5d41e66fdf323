//! What the model is told when the user judges a change that was made already.

use koda_protocol::{HunkState, Judged, JudgedHunk};
use koda_text::cut::{self, Limits};

/// How much of a side that was put back or taken out is repeated: it can be read in the file.
const SIDE: Limits = Limits { lines: 40, bytes: 4 * 1024 };

/// Says what stands, what was taken back and what the user said; none if there is nothing to tell.
pub fn told(judged: &Judged) -> Option<String> {
    let is_told = |hunk: &JudgedHunk| {
        hunk.said.is_some() || matches!(hunk.state, HunkState::TakenBack | HunkState::Overtaken)
    };
    if !judged.hunks.iter().any(is_told) {
        return None;
    }
    let Judged { tool, shown, .. } = judged;
    let mut lines = vec![format!("The user reviewed your {tool} of {shown}, which was made already.")];
    for hunk in &judged.hunks {
        let name = format!("hunk {} (line {})", hunk.number, hunk.line);
        lines.push(match hunk.state {
            HunkState::Waits => format!("Not judged yet, so it stands: {name}."),
            HunkState::Stands => format!("Stands: {name}."),
            HunkState::TakenBack => format!("Taken back: {name}. {}", undone(hunk)),
            HunkState::Overtaken => format!(
                "Rejected: {name}. It was not taken back, since the text there has changed meanwhile and stays as it is now."
            ),
        });
        lines.extend(hunk.said.iter().map(|said| format!("The user said of {name}: {said}")));
    }
    if judged.hunks.iter().any(|hunk| hunk.state == HunkState::TakenBack) {
        lines.push("Don't make again what was taken back, unless the user asks for it. Read the file before you edit it again.".to_owned());
    }
    Some(lines.join("\n"))
}

/// Says what is in the file again, and what is not in it any more.
fn undone(hunk: &JudgedHunk) -> String {
    let side = |text: &str| format!("\n{}", cut::head(text.trim_end_matches('\n'), SIDE).text);
    match (hunk.old.is_empty(), hunk.new.is_empty()) {
        (true, _) => format!("These lines are not in it any more:{}", side(&hunk.new)),
        (_, true) => format!("These lines are in it again:{}", side(&hunk.old)),
        _ => format!("These lines:{}\nare replaced again by:{}", side(&hunk.new), side(&hunk.old)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(number: usize, state: HunkState, old: &str, new: &str) -> JudgedHunk {
        JudgedHunk { number, line: number * 10, state, old: old.to_owned(), new: new.to_owned(), said: None }
    }

    fn judged(hunks: Vec<JudgedHunk>) -> Judged {
        Judged { call: "c".into(), tool: "Edit".to_owned(), shown: "src/a.rs".to_owned(), hunks }
    }

    #[test]
    fn what_stands_and_what_was_taken_back_is_told_with_what_the_user_said() {
        let mut hunks = vec![
            hunk(1, HunkState::Stands, "a\n", "b\n"),
            hunk(2, HunkState::TakenBack, "old line\n", "new line\n"),
            hunk(3, HunkState::Waits, "", "x\n"),
            hunk(4, HunkState::Overtaken, "", "y\n"),
        ];
        hunks[1].said = Some("keep the old name".to_owned());
        let right = [
            "The user reviewed your Edit of src/a.rs, which was made already.",
            "Stands: hunk 1 (line 10).",
            "Taken back: hunk 2 (line 20). These lines:",
            "new line",
            "are replaced again by:",
            "old line",
            "The user said of hunk 2 (line 20): keep the old name",
            "Not judged yet, so it stands: hunk 3 (line 30).",
            "Rejected: hunk 4 (line 40). It was not taken back, since the text there has changed meanwhile and stays as it is now.",
            "Don't make again what was taken back, unless the user asks for it. Read the file before you edit it again.",
        ];
        assert_eq!(told(&judged(hunks)).unwrap(), right.join("\n"));
    }

    #[test]
    fn insertions_and_deletions_say_which_way() {
        let hunks =
            vec![hunk(1, HunkState::TakenBack, "", "came\n"), hunk(2, HunkState::TakenBack, "went\n", "")];
        let text = told(&judged(hunks)).unwrap();
        assert!(text.contains("not in it any more:\ncame\n"), "{text}");
        assert!(text.contains("in it again:\nwent\n"), "{text}");
    }

    #[test]
    fn what_only_stands_is_nothing_to_tell() {
        assert_eq!(told(&judged(vec![hunk(1, HunkState::Stands, "a\n", "b\n")])), None);
    }
}
