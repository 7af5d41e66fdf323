//! Hunks by example and by property.

use proptest::prelude::*;

use super::*;

fn sides(hunks: &[Hunk]) -> Vec<(usize, usize, &str, &str)> {
    hunks.iter().map(|hunk| (hunk.line, hunk.new_line, hunk.old.as_str(), hunk.new.as_str())).collect()
}

#[test]
fn insertions_stand_before_the_line_that_they_name() {
    assert_eq!(sides(&hunks("a\nb\n", "a\nx\nb\n")), [(2, 2, "", "x\n")]);
    assert_eq!(sides(&hunks("a\n", "x\na\n")), [(1, 1, "", "x\n")]);
    assert_eq!(sides(&hunks("a\n", "a\nx\n")), [(2, 2, "", "x\n")]);
    assert_eq!(sides(&hunks("", "x\n")), [(1, 1, "", "x\n")]);
}

#[test]
fn a_line_end_at_the_very_end_is_a_change_of_its_line() {
    assert_eq!(sides(&hunks("a", "a\n")), [(1, 1, "a", "a\n")]);
    assert_eq!(sides(&hunks("a", "a\nb")), [(1, 1, "a", "a\nb")]);
    assert_eq!(sides(&hunks("a\n", "")), [(1, 1, "a\n", "")]);
}

#[test]
fn neighbouring_lines_are_one_hunk_and_others_apart() {
    let found = hunks("a\nb\nc\nd\n", "A\nB\nc\n");
    assert_eq!(sides(&found), [(1, 1, "a\nb\n", "A\nB\n"), (4, 4, "d\n", "")]);
    assert_eq!(found.iter().map(|hunk| hunk.number).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn words_that_differ_are_marked_by_bytes() {
    let found = hunks("let \u{e4} = f(1);\n", "let \u{e4} = f(22);\n");
    assert_eq!(found[0].old_words, [WordMark { row: 0, start: 11, end: 12 }]);
    assert_eq!(found[0].new_words, [WordMark { row: 0, start: 11, end: 13 }]);
    // Nothing in common: the whole line says it.
    assert!(hunks("alpha\n", "one two three\n")[0].new_words.is_empty());
}

#[test]
fn a_hunk_of_another_text_is_refused() {
    let found = hunks("a\nb\n", "a\nB\n");
    assert_eq!(apply("a\nc\n", &found), None);
    assert_eq!(apply("a", &found), None);
    assert_eq!(apply("\u{e4}\u{e4}\u{e4}", &hunks("a", "b")), None);
}

#[test]
fn hunks_are_found_again_after_lines_moved() {
    let earlier = hunks("a\nb\nc\n", "a\nB\nc\nd\n");
    let later = hunks("new\nc\nb\nc\n", "new\nc\nB\nc\nd\n");
    assert_eq!(find(&earlier, &later), [Some(0), Some(1)]);
    assert_eq!(find(&earlier, &later[..1]), [Some(0), None]);
}

/// Texts of few different lines, with and without an end of the last.
fn text() -> impl Strategy<Value = String> {
    "([ab\u{e9}]{0,2}(\n|\r\n)){0,12}[ab]{0,2}"
}

proptest! {
    #[test]
    fn all_hunks_give_the_new_text_and_none_the_old(old in text(), new in text()) {
        let found = hunks(&old, &new);
        prop_assert_eq!(apply(&old, &found), Some(new.clone()));
        prop_assert_eq!(apply(&old, []), Some(old.clone()));
        for hunk in &found {
            let lines = Lines::new(&new);
            let start = lines.range(hunk.new_line).start;
            prop_assert_eq!(new.get(start..start + hunk.new.len()), Some(hunk.new.as_str()));
        }
    }

    #[test]
    fn any_subset_in_any_order_is_that_subset(
        old in text(),
        new in text(),
        order in Just((0..16).collect::<Vec<usize>>()).prop_shuffle(),
        taken in prop::collection::vec(any::<bool>(), 16),
    ) {
        let found = hunks(&old, &new);
        let kept: Vec<&Hunk> = found.iter().filter(|hunk| taken[hunk.number % 16]).collect();
        let at_once = apply(&old, kept.iter().copied()).unwrap();
        // One after the other, each moved by those that were applied above it.
        let starts: Vec<usize> = edits(&old, &found).unwrap().iter().map(|edit| edit.range.start).collect();
        let mut text = old.clone();
        let mut done: Vec<usize> = Vec::new();
        for index in order.into_iter().filter(|&index| index < found.len() && taken[(index + 1) % 16]) {
            let above = done.iter().filter(|&&other| other < index).map(|&other| &found[other]);
            let (come, gone) = above.fold((0, 0), |sum, h| (sum.0 + h.new.len(), sum.1 + h.old.len()));
            let start = starts[index] + come - gone;
            text.replace_range(start..start + found[index].old.len(), &found[index].new);
            done.push(index);
        }
        if found.len() <= 16 {
            prop_assert_eq!(text, at_once);
        }
    }

    #[test]
    fn what_no_kept_hunk_covers_stays_byte_for_byte(old in text(), new in text(), taken in any::<u16>()) {
        let found = hunks(&old, &new);
        let kept: Vec<&Hunk> = found.iter().filter(|hunk| taken >> (hunk.number % 16) & 1 == 1).collect();
        let edits = edits(&old, kept.iter().copied()).unwrap();
        let after = apply(&old, kept.iter().copied()).unwrap();
        let (mut from, mut to) = (0, 0);
        for edit in &edits {
            let between = old.get(from..edit.range.start).unwrap();
            prop_assert_eq!(after.get(to..to + between.len()), Some(between));
            to += between.len() + edit.new.len();
            from = edit.range.end;
        }
        prop_assert_eq!(after.get(to..), old.get(from..));
    }

    #[test]
    fn marks_lie_on_character_borders(old in "[ab\u{e9}\u{1f600} (\n]{0,40}", new in "[ab\u{e9}\u{1f600} (\n]{0,40}") {
        for hunk in hunks(&old, &new) {
            for (side, marks) in [(&hunk.old, &hunk.old_words), (&hunk.new, &hunk.new_words)] {
                let lines: Vec<&str> = side.split('\n').collect();
                for mark in marks {
                    prop_assert!(lines[mark.row].get(mark.start..mark.end).is_some_and(|word| !word.is_empty()));
                }
            }
        }
    }
}
