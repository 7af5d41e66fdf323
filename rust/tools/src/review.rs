//! What the user said to a proposal, and what then stands of a change.

use koda_protocol::{Hunk, HunkText, Proposal};
use koda_text::hunk;
use koda_trust::ResolvedPath;
use serde_json::{Value, json};

/// Texts longer than this, in bytes, are not kept for the history; the diff is.
const MOST_KEPT: usize = 256 * 1024;

/// What the user said when a call was asked for.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// What they saw, if it could be told.
    pub proposal: Option<Proposal>,
    /// The numbers of the hunks that stand; all without it.
    pub hunks: Option<Vec<usize>>,
    /// Hunks that they wrote anew.
    pub edited: Vec<HunkText>,
    /// What they said of single hunks.
    pub said: Vec<HunkText>,
    /// What they said of the whole.
    pub note: Option<String>,
}

/// What stands of a change after a review.
#[derive(Debug, PartialEq, Eq)]
pub struct Standing {
    /// The text after.
    pub text: String,
    /// The hunks that stand, by position.
    pub hunks: Vec<Hunk>,
    /// What the model is told, a line each; empty if everything stands and nothing was said.
    pub report: String,
    /// Whether something was left out or written anew.
    pub partly: bool,
}

impl Standing {
    /// Tells whether a change at `line` of the text that was planned, from 1, stands.
    pub fn keeps(&self, line: usize) -> bool {
        let covers = |hunk: &Hunk| {
            let lines = hunk.new.split_inclusive('\n').count().max(1);
            (hunk.new_line..hunk.new_line + lines).contains(&line)
        };
        !self.partly || self.hunks.iter().any(covers)
    }
}

fn text_for(texts: &[HunkText], number: usize) -> Option<&str> {
    texts.iter().find(|one| one.hunk == number).map(|one| one.text.as_str())
}

/// Says where a hunk is, for the model.
fn name(hunk: &Hunk) -> String {
    format!("hunk {} (line {})", hunk.number, hunk.line)
}

/// Decides what stands of the change from `old` to `new`, the document as it is now.
///
/// The hunks that the user judged are found again by what goes and comes. One that is not there any more
/// is left out: what stands now in its place was not seen.
pub fn settle(review: Option<&Review>, old: &str, new: &str) -> Standing {
    let now = hunk::hunks(old, new);
    let Some(review) = review else {
        return Standing { text: new.to_owned(), hunks: now, report: String::new(), partly: false };
    };
    let seen = review.proposal.as_ref().map(|proposal| proposal.hunks.as_slice()).unwrap_or_default();
    let is_whole = review.hunks.is_none() && review.edited.is_empty();
    let (hunks, mut lines) = if is_whole { (now, Vec::new()) } else { judged(review, seen, now) };
    for said in &review.said {
        let of = seen.iter().find(|hunk| hunk.number == said.hunk).map(name);
        lines.push(format!("The user said of {}: {}", of.unwrap_or_default(), said.text));
    }
    lines.extend(review.note.iter().map(|note| format!("The user said: {note}")));
    // These are hunks of `old`, so that they can be applied.
    let text = hunk::apply(old, &hunks).unwrap_or_else(|| old.to_owned());
    Standing { text, hunks, report: lines.join("\n"), partly: !is_whole }
}

/// Sorts out the hunks one by one: those that stand, and a line on each that does not or was changed.
fn judged(review: &Review, seen: &[Hunk], now: Vec<Hunk>) -> (Vec<Hunk>, Vec<String>) {
    let mut places = vec![None; now.len()];
    let mut lines = Vec::new();
    let kept = |number: usize| review.hunks.as_ref().is_none_or(|kept| kept.contains(&number));
    for (hunk, place) in seen.iter().zip(hunk::find(seen, &now)) {
        match place.and_then(|at| places.get_mut(at)) {
            _ if !kept(hunk.number) => lines.push(format!("The user rejected {}.", name(hunk))),
            Some(slot) => *slot = Some(hunk),
            None => {
                lines.push(format!("{} was not applied: the text there has changed meanwhile.", name(hunk)))
            }
        }
    }
    let mut standing = Vec::new();
    for (mut hunk, seen) in now.into_iter().zip(places) {
        let Some(seen) = seen else { continue };
        if let Some(text) = text_for(&review.edited, seen.number) {
            hunk.new = ended(text, &hunk);
            lines.push(format!("The user wrote {} anew:\n{}", name(seen), hunk.new.trim_end_matches('\n')));
        } else {
            lines.push(format!("{} stands.", capital(&name(seen))));
        }
        standing.push(hunk);
    }
    (standing, lines)
}

/// Gives a text of the user's the line end that the hunk's own had.
fn ended(text: &str, hunk: &Hunk) -> String {
    let has_end = hunk.new.ends_with('\n') || (hunk.new.is_empty() && hunk.old.ends_with('\n'));
    let end = if has_end && !text.is_empty() && !text.ends_with('\n') { "\n" } else { "" };
    format!("{text}{end}")
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Makes the proposal of a change, by what the file has (none if it would be new).
pub fn proposal(path: &ResolvedPath, old: Option<&str>, new: &str) -> Proposal {
    Proposal {
        path: path.as_path().to_string_lossy().into_owned(),
        shown: path.shown().to_owned(),
        created: old.is_none(),
        hunks: hunk::hunks(old.unwrap_or_default(), new),
    }
}

/// The fields of a result that let a change be looked at and judged later: `file`, `hunks`, `before`, `after`,
/// `reviewed` (whether the user was asked). Without texts and hunks where they are very long.
pub fn history(path: &ResolvedPath, old: &str, new: &str, reviewed: bool) -> Value {
    let mut fields = json!({ "file": path.as_path().to_string_lossy(), "reviewed": reviewed });
    if old.len().max(new.len()) <= MOST_KEPT
        && let Value::Object(fields) = &mut fields
    {
        fields.insert("before".to_owned(), json!(old));
        fields.insert("after".to_owned(), json!(new));
        fields.insert("hunks".to_owned(), json!(hunk::hunks(old, new)));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "a\nb\nc\nd\ne\n";
    const NEW: &str = "A\nb\nC\nd\nE\n";

    fn review(old: &str, hunks: Option<&[usize]>) -> Review {
        let hunks_seen = hunk::hunks(old, NEW);
        let proposal =
            Proposal { path: "/p/f".to_owned(), shown: "f".to_owned(), created: false, hunks: hunks_seen };
        Review { proposal: Some(proposal), hunks: hunks.map(<[usize]>::to_vec), ..Review::default() }
    }

    #[test]
    fn only_what_was_accepted_stands_and_the_rest_is_told() {
        let standing = settle(Some(&review(OLD, Some(&[1, 3]))), OLD, NEW);
        assert_eq!(standing.text, "A\nb\nc\nd\nE\n");
        assert!(standing.report.contains("rejected hunk 2 (line 3)"), "{}", standing.report);
        assert!(standing.keeps(1) && !standing.keeps(3) && standing.keeps(5));
        let none = settle(Some(&review(OLD, Some(&[]))), OLD, NEW);
        assert_eq!(none.text, OLD);
        assert!(none.hunks.is_empty());
    }

    #[test]
    fn hunks_are_found_again_where_the_user_typed_meanwhile() {
        let review = review(OLD, Some(&[2]));
        let standing = settle(Some(&review), "new\na\nb\nc\nd\ne\n", "new\nA\nb\nC\nd\nE\n");
        assert_eq!(standing.text, "new\na\nb\nC\nd\ne\n");
    }

    #[test]
    fn a_hunk_that_is_not_as_it_was_seen_is_left_out() {
        let standing = settle(Some(&review(OLD, Some(&[1, 2]))), "a\nb\nc!\nd\ne\n", "A\nb\nC!\nd\nE\n");
        assert_eq!(standing.text, "A\nb\nc!\nd\ne\n");
        assert!(standing.report.contains("hunk 2 (line 3) was not applied"), "{}", standing.report);
    }

    #[test]
    fn what_the_user_wrote_and_said_is_taken_and_told() {
        let mut review = review(OLD, None);
        review.edited.push(HunkText { hunk: 2, text: "mine".to_owned() });
        review.said.push(HunkText { hunk: 1, text: "good".to_owned() });
        let standing = settle(Some(&review), OLD, NEW);
        assert_eq!(standing.text, "A\nb\nmine\nd\nE\n");
        assert!(
            standing.report.contains("anew:\nmine") && standing.report.contains("of hunk 1 (line 1): good")
        );
    }
}
