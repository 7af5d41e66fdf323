//! The harness itself, in a plain Neovim: what it shows must be what Neovim does.

use std::time::Duration;

use koda_tests::{Exit, Opening, Place, Terminal};
use serde_json::json;

#[test]
fn shows_text_and_highlight_names() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "alpha\nbeta\n")]);
    let editor = Opening::without_library(&place, &project).arguments(&["a.txt"]).open();
    editor.command("highlight KodaTest guifg=#ff0000 | call matchadd('KodaTest', 'beta')");
    let grid = editor.expect("beta in red", |grid| grid.highlight(1, 0) == "KodaTest");
    assert_eq!(grid.row(0), "alpha");
    assert_eq!(grid.find("beta"), Some((1, 0)));
    assert!(editor.snapshot().contains("\n1: 0-3 KodaTest\n"), "{}", editor.snapshot());
}

#[test]
fn values_come_back_as_they_went() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::without_library(&place, &project).open();
    let value = json!({ "text": "é", "list": [1, 2.5, true], "empty": "" });
    assert_eq!(editor.lua("return ...", std::slice::from_ref(&value)), value);
}

#[test]
fn notifications_arrive() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::without_library(&place, &project).open();
    editor.lua("vim.defer_fn(function() vim.rpcnotify(1, 'told', 7) end, 1)", &[]);
    assert_eq!(editor.notified("told"), [json!(7)]);
}

#[test]
fn nothing_of_the_machine_comes_in() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::without_library(&place, &project).open();
    let home = editor.lua("return vim.env.HOME", &[]);
    assert_eq!(home, json!(place.path().join("home")));
    let keys = editor.lua(
        "return vim.tbl_filter(function(name) return name:find('KEY') end, vim.tbl_keys(vim.fn.environ()))",
        &[],
    );
    assert_eq!(keys, json!([]));
}

#[test]
fn an_exit_is_seen_and_leaves_nobody() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::without_library(&place, &project).open();
    editor.lua("vim.fn.jobstart({ 'sleep', '1000' })", &[]);
    let alive = place.survivors(Duration::ZERO);
    assert!(alive.iter().any(|process| process.ends_with("sleep")), "{alive:?}");
    editor.type_command("qa!");
    assert_eq!(editor.exit(Duration::from_secs(10)), Some(Exit::Code(0)));
    assert_eq!(place.survivors(Duration::from_secs(5)), Vec::<String>::new());
}

#[test]
fn a_real_terminal_shows_neovim() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "alpha\n")]);
    let mut terminal = Terminal::open(&place, &project, &["a.txt"]);
    terminal.expect_text("alpha");
    terminal.input("ohello");
    terminal.expect_text("-- INSERT --");
    terminal.expect_text("hello");
    terminal.escape();
    terminal.input(":q!\r");
    assert_eq!(terminal.exit(Duration::from_secs(10)), Some(0));
}
