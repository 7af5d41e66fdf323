//! What a merge keeps and what it takes back.

#![allow(clippy::single_range_in_vec_init, reason = "one place is a list of one range")]

use proptest::prelude::*;

use super::*;

fn merged(base: &str, ours: &str, theirs: &str) -> (String, Vec<Range<usize>>) {
    let Merged { text, conflicts } = three_way(base, ours, theirs);
    (text, conflicts)
}

#[test]
fn changes_in_different_places_both_stand() {
    let base = "one\ntwo\nthree\nfour\n";
    assert_eq!(
        merged(base, "ONE\ntwo\nthree\nfour\n", "one\ntwo\nthree\n"),
        ("ONE\ntwo\nthree\n".to_owned(), vec![])
    );
    // Neighbouring lines don't touch, and an insertion beside a removal doesn't either.
    assert_eq!(
        merged(base, "one\nTWO\nthree\nfour\n", "one\ntwo\nTHREE\nfour\n"),
        ("one\nTWO\nTHREE\nfour\n".to_owned(), vec![])
    );
    assert_eq!(
        merged(base, "one\ntwo\nthree\nmine\nfour\n", "one\nfour\n"),
        ("one\nmine\nfour\n".to_owned(), vec![])
    );
}

#[test]
fn where_both_changed_a_line_ours_stands_and_is_told() {
    let base = "one\ntwo\nthree\n";
    assert_eq!(
        merged(base, "zero\none\nmine\nthree\n", "one\ntheirs\nthree\n"),
        ("zero\none\nmine\nthree\n".to_owned(), vec![3..4])
    );
    assert_eq!(merged("a\n", "a\nmine\n", "a\nother\n"), ("a\nmine\n".to_owned(), vec![2..3]));
    // What both did alike is no conflict.
    assert_eq!(
        merged(base, "one\nTWO\nthree\n", "one\nTWO\nthree\n"),
        ("one\nTWO\nthree\n".to_owned(), vec![])
    );
}

#[test]
fn a_last_line_without_an_end_stays_apart() {
    assert_eq!(merged("a", "a\nmine", "b"), ("a\nmine".to_owned(), vec![1..3]));
    assert_eq!(merged("a\nb", "zero\na\nb", "a\nc"), ("zero\na\nc".to_owned(), vec![]));
}

#[test]
fn lines_are_found_again_after_a_change() {
    let (old, new) = ("a\nb\nc\nd\n", "x\ny\na\nc\nD\n");
    assert_eq!([1, 2, 3, 4].map(|line| carry_line(old, new, line)), [3, 4, 4, 5]);
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]", "agent[0-9]", "ä\r?"]
}

/// A text of lines that the user has, with runs that the agent put between them, and what the user added
/// after. Every line of the user has its own number, so that none is taken for another.
fn story() -> impl Strategy<Value = (String, String, String)> {
    let part = (0..4_usize, proptest::option::of(line()), 0..3_usize);
    proptest::collection::vec(part, 1..12).prop_map(|parts| {
        let (mut before, mut after, mut now) = (String::new(), String::new(), String::new());
        for (number, (kept, agent, added)) in parts.into_iter().enumerate() {
            for row in 0..=kept {
                let line = format!("user {number} {row}\n");
                [&mut before, &mut after, &mut now].into_iter().for_each(|text| text.push_str(&line));
            }
            if let Some(agent) = agent {
                let line = format!("AGENT {number} {agent}\n");
                [&mut after, &mut now].into_iter().for_each(|text| text.push_str(&line));
            }
            let fence = format!("fence {number}\n");
            [&mut before, &mut after, &mut now].into_iter().for_each(|text| text.push_str(&fence));
            for row in 0..added {
                now.push_str(&format!("later {number} {row}\n"));
            }
        }
        (before, after, now)
    })
}

proptest! {
    #[test]
    fn taking_back_keeps_every_line_of_the_user_and_none_of_the_agent((before, after, now) in story()) {
        let Merged { text, conflicts } = three_way(&after, &now, &before);
        prop_assert_eq!(conflicts, vec![]);
        let users: String = now.split_inclusive('\n').filter(|line| !line.starts_with("AGENT")).collect();
        prop_assert_eq!(text, users);
    }

    #[test]
    fn without_changes_of_ours_it_is_theirs(base in "[ab\n]{0,40}", theirs in "[ab\n]{0,40}") {
        prop_assert_eq!(merged(&base, &base, &theirs), (theirs, vec![]));
    }

    #[test]
    fn every_line_of_ours_that_differs_from_the_base_stands(
        base in "[ab\n]{0,40}",
        ours in "[abc\n]{0,40}",
        theirs in "[abd\n]{0,40}",
    ) {
        let Merged { text, conflicts } = three_way(&base, &ours, &theirs);
        let count = |text: &str, line: &str| text.lines().filter(|other| *other == line).count();
        for line in ours.lines().filter(|line| line.contains('c')) {
            prop_assert!(count(&text, line) >= count(&ours, line), "{:?} is gone from {:?}", line, text);
        }
        let lines = text.split_inclusive('\n').count();
        prop_assert!(conflicts.iter().all(|place| place.start >= 1 && place.end <= lines + 1));
    }
}
