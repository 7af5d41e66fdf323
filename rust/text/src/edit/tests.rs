//! The plan of a call's edits, through its one door.

use koda_protocol::{LineEnd, TextFormat};

use super::*;

fn one(old: &str, new: &str) -> Replacement {
    Replacement { old: old.into(), new: new.into(), all: false }
}

fn all(old: &str, new: &str) -> Replacement {
    Replacement { all: true, ..one(old, new) }
}

fn result(text: &str, plan: &Plan) -> String {
    let mut result = text.to_owned();
    for edit in plan.edits.iter().rev() {
        result.replace_range(edit.range.clone(), &edit.new);
    }
    result
}

/// The text after one replacement, and its rung.
#[track_caller]
fn done(text: &str, old: &str, new: &str) -> (String, Rung) {
    let plan = plan(text, &[one(old, new)]);
    assert_eq!(plan.rejected, [], "{text:?}");
    (result(text, &plan), plan.applied[0].rung)
}

/// The reason why one replacement was refused.
#[track_caller]
fn refused(text: &str, old: &str, new: &str) -> Reason {
    let plan = plan(text, &[one(old, new)]);
    assert_eq!((plan.edits.len(), plan.applied.len()), (0, 0));
    plan.rejected[0].reason.clone()
}

#[test]
fn an_exact_match_changes_only_its_span() {
    let text = "fn a() {}\nfn b() {}\n";
    let plan = plan(text, &[one("fn b() {}", "fn b() { 1 }")]);
    assert_eq!(plan.edits, [TextEdit { range: 18..18, new: " 1 ".into() }]);
    assert_eq!(plan.applied[0].lines, [2]);
    assert_eq!(result(text, &plan), "fn a() {}\nfn b() { 1 }\n");
}

#[test]
fn part_of_a_line_the_last_line_and_a_deletion() {
    assert_eq!(done("let x = 1;", "x = 1", "y = 2").0, "let y = 2;");
    assert_eq!(done("a\nlast", "last", "end").0, "a\nend");
    assert_eq!(done("a\nb\nc\n", "b\n", "").0, "a\nc\n");
}

#[test]
fn replacements_are_located_in_the_same_text() {
    let text = "one\ntwo\nthree\n";
    let plan = plan(text, &[one("one", "two and\nmore"), one("missing", "x"), one("three", "3")]);
    assert_eq!(result(text, &plan), "two and\nmore\ntwo\n3\n");
    assert_eq!(plan.applied.iter().map(|one| one.position).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(plan.applied[1].lines, [4]);
    assert_eq!(plan.rejected[0].position, 2);
}

#[test]
fn overlaps_are_rejected_by_position() {
    let plan = plan("abcdef", &[one("cde", "X"), one("abc", "Y"), one("f", "Z")]);
    assert_eq!(result("abcdef", &plan), "abXZ");
    assert_eq!(plan.rejected, [Rejected { position: 2, reason: Reason::Overlap { with: 1 } }]);
}

#[test]
fn all_replaces_every_exact_match() {
    let plan = plan("a b a\na", &[all("a", "aa")]);
    assert_eq!(result("a b a\na", &plan), "aa b aa\naa");
    assert_eq!((plan.applied[0].count, plan.applied[0].lines.len()), (3, 3));
}

#[test]
fn an_ambiguous_match_lists_its_lines() {
    let reason = refused("x\ny\nx\n", "x", "z");
    assert_eq!(reason, Reason::Ambiguous { rung: Rung::Exact, count: 2, lines: vec![1, 3] });
    assert!(reason.to_string().contains("in 2 places, at lines 1, 3: read them again"), "{reason}");
    // Overlapping places are two places.
    assert_eq!(refused("aaa", "aa", "b").code(), "ambiguous");
}

#[test]
fn far_too_many_places_leave_the_whole_text_untouched() {
    let text = format!("first\n{}", "x\n".repeat(30));
    let plan = plan(&text, &[one("first", "1"), one("x", "y")]);
    assert_eq!(plan.edits, []);
    assert_eq!(plan.rejected[0].reason, Reason::Spoiled { by: 2 });
    assert!(plan.rejected[1].reason.to_string().contains("more than 10 places"));
}

#[test]
fn what_asks_for_nothing_or_for_too_much_is_refused() {
    assert_eq!(refused("a", "", "b"), Reason::EmptyOld);
    assert_eq!(refused("a", "a", "a"), Reason::SameText);
    assert_eq!(refused("a\nb\n", "a\nb\n", "c\n# ... rest of code ...\n").code(), "placeholder");
}

#[test]
fn a_miss_shows_the_nearest_lines_and_what_was_tried() {
    let text = refused("a\nlet total = items.count();\n", "let totals = item.len();", "x").to_string();
    assert!(text.contains("tried: exact, line ends"), "{text}");
    assert!(text.contains("2\tlet total = items.count();"), "{text}");
}

#[test]
fn what_is_done_already_is_told() {
    assert_eq!(refused("let count = 2;\n", "count = 1", "count = 2"), Reason::AlreadyApplied { line: 1 });
    // An insertion that was made before is not made twice.
    let made = "x\nimport a\nimport b\n";
    assert_eq!(refused(made, "import b", "import a\nimport b"), Reason::AlreadyApplied { line: 2 });
    assert_eq!(done("x\nimport b\n", "import b", "import a\nimport b").0, "x\nimport a\nimport b\n");
}

#[test]
fn what_stands_elsewhere_is_no_sign_that_it_is_done() {
    let text = "def a():\n    return f(1)\n\ndef b():\n    return f(2)  \n";
    let (text, rung) = done(text, "    return f(2)\n", "    return f(1)\n");
    assert_eq!((text.matches("f(1)").count(), rung), (2, Rung::TrailingBlanks));
    // Loose matches are not made twice either.
    assert_eq!(done("x  \n", "x\n", "x\ny = 1\n").0, "x  \ny = 1\n");
    assert_eq!(refused("x  \ny = 1\n", "x\n", "x\ny = 1\n"), Reason::AlreadyApplied { line: 1 });
}

#[test]
fn line_ends_are_those_of_the_file() {
    let mixed = "a\r\nb\r\nc\n";
    assert_eq!(done(mixed, "a\nb\n", "a\nB\nnew\n"), ("a\r\nB\r\nnew\r\nc\n".into(), Rung::LineEnds));
    assert_eq!(done("a\nb\n", "a\r\nb", "a\r\nB"), ("a\nB\n".into(), Rung::LineEnds));
    let format = TextFormat { line_end: LineEnd::CrLf, ..TextFormat::default() };
    let sent = one("a\r\nb", "a\r\nB\r\n").for_format(&format);
    assert_eq!((sent.old.as_str(), sent.new.as_str()), ("a\nb", "a\nB\n"));
}

#[test]
fn trailing_blanks_of_unchanged_lines_stay() {
    let text = "def f():  \n    pass\t\nend\n";
    assert_eq!(
        done(text, "def f():\n    pass\n", "def f():\n    return 1\n"),
        ("def f():  \n    return 1\nend\n".into(), Rung::TrailingBlanks)
    );
    // Blanks at the end of `old` stand for the end of a line, not for any place within one.
    assert_eq!(done("x = 10\nx = 1\n", "x = 1  ", "x = 2").0, "x = 10\nx = 2\n");
}

#[test]
fn line_numbers_of_a_listing_are_taken_off() {
    let text = "fn f() {\n\tone();\n\ttwo();\n}\n";
    assert_eq!(
        done(text, "2\t\tone();\n3\t\ttwo();", "2\t\tone();\n3\t\tthree();"),
        ("fn f() {\n\tone();\n\tthree();\n}\n".into(), Rung::LineNumbers)
    );
    assert_eq!(done(text, "     3\t\ttwo();", "\tthree();").0, "fn f() {\n\tone();\n\tthree();\n}\n");
}

#[test]
fn a_shift_of_indentation_holds_for_the_new_text_as_well() {
    let text = "class A:\n    def f():\n        return 1\n";
    assert_eq!(
        done(text, "def f():\n    return 1\n", "def f():\n    x = 2\n\n    return x\n"),
        ("class A:\n    def f():\n        x = 2\n\n        return x\n".into(), Rung::Indentation)
    );
    // The separator after a line number is not indentation.
    assert_eq!(done("\tfoo()\n\tbar()\n", "\t\tfoo()\n\t\tbar()\n", "\t\tbaz()\n").0, "\tbaz()\n");
    assert_eq!(
        done("\tif a:\n\t\tb\n", "    if a:\n        b\n", "    if a:\n        c\n").0,
        "\tif a:\n\t\tc\n"
    );
}

#[test]
fn an_uneven_shift_is_refused() {
    assert_eq!(refused("  a()\n      b()\n", "a()\nb()\n", "c()\n").code(), "not_found");
    // The new text could not be shifted as the old was.
    assert_eq!(refused("a()\nb()\n", "    a()\n    b()\n", "  c()\n").code(), "not_found");
    // Two places that are equally good.
    assert_eq!(refused(" a()\n b()\n\n  a()\n  b()\n", "a()\nb()\n", "c()\n").code(), "ambiguous");
}

#[test]
fn typographic_signs_are_matched_and_kept() {
    let text = "He said \u{201c}it\u{2019}s fine\u{201d} \u{2013} twice.\n";
    assert_eq!(
        done(text, "\"it's fine\" - twice", "\"it's fine\" - thrice"),
        ("He said \u{201c}it\u{2019}s fine\u{201d} \u{2013} thrice.\n".into(), Rung::Typographic)
    );
}

#[test]
fn a_change_of_signs_or_blanks_alone_is_a_change() {
    assert_eq!(done("it's", "it's", "it\u{2019}s").0, "it\u{2019}s");
    assert_eq!(done("  a\n", "  a", "\ta").0, "\ta\n");
    assert_eq!(done("say \\# it", "say \\#", "say \\n\"'").0, "say \\n\"' it");
    assert_eq!(done("x\u{2019}y \n", "x'y", "x\"y").0, "x\"y \n");
}

#[test]
fn a_loose_match_never_spans_much_more_than_was_sent() {
    let text = format!("{{\n{}\n}}\n", " ".repeat(5_000));
    assert_eq!(refused(&text, "{\n\n}", "{}").code(), "not_found");
    let gap = format!("{{\n{}}}\n", "line\n".repeat(400));
    assert_eq!(refused(&gap, "{\nother\n}", "{}").code(), "not_found");
}

#[test]
fn many_edits_in_a_long_text_take_no_time_to_speak_of() {
    let text = "    if x == 1 { return \u{201c}y\u{201d}; }  \n".repeat(250_000);
    let edits: Vec<_> = (0..50).map(|n| one(&format!("if x == {n} {{\nmissing"), "new text")).collect();
    let started = std::time::Instant::now();
    let plan = plan(&text, &edits);
    assert_eq!(plan.rejected.len(), 50);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_plan_never_breaks_a_text(
            text in "[ab\t \u{e9}\u{2019}'\r\n]{0,60}",
            old in "[ab\t \u{e9}'\r\n]{0,8}",
            new in "[ab\t \u{e9}'\r\n]{0,8}",
            all: bool,
        ) {
            let plan = plan(&text, &[Replacement { old, new, all }]);
            prop_assert!(plan.edits.is_sorted_by(|a, b| a.range.end <= b.range.start));
            prop_assert!(plan.edits.iter().all(|edit| text.get(edit.range.clone()).is_some()));
            prop_assert_eq!(plan.applied.is_empty(), plan.edits.is_empty());
        }

        #[test]
        fn a_unique_part_is_replaced_and_nothing_else(
            before in "[a-c\n]{0,20}", after in "[a-c\n]{0,20}", new in "[d-f\n]{0,9}",
        ) {
            let text = format!("{before}UNIQUE{after}");
            let plan = plan(&text, &[one("UNIQUE", &new)]);
            prop_assert_eq!(result(&text, &plan), format!("{}{}{}", before, new, after));
        }
    }
}
