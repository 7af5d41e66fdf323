//! What Koda is before its first use, and what Neovim's own doors to a plugin show: completion, health, help.

use std::fs;

use koda_tests::{Exit, Headless, Opening, Place};
use serde_json::json;

const LOADED: &str =
    "return vim.tbl_filter(function(name) return name:find('^koda') end, vim.tbl_keys(package.loaded))";

#[test]
fn a_start_loads_nothing_of_koda() {
    let place = Place::new();
    let project = place.project(&[]);
    let times = place.path().join("times.txt");
    let run =
        Headless::start(&place, &project, &["--startuptime", &times.display().to_string(), "+qa"]).finish();
    assert_eq!(run.exit, Exit::Code(0), "{}", run.problem);
    let times = fs::read_to_string(times).unwrap();
    assert!(times.contains("plugin/koda.lua"), "the plugin file is not sourced:\n{times}");
    let required: Vec<_> = times.lines().filter(|line| line.contains("require('koda")).collect();
    assert_eq!(required, Vec::<&str>::new());
}

#[test]
fn setup_alone_loads_no_library() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    assert_eq!(editor.lua(LOADED, &[]), json!([]));
    editor.setup(&json!({ "trust": "safe" }));
    let maps = editor
        .lua("return #vim.fn.glob('/proc/self/map_files') >= 0 and vim.fn.readfile('/proc/self/maps')", &[]);
    let mapped = maps.as_array().into_iter().flatten().filter_map(|line| line.as_str());
    let library: Vec<_> = mapped.filter(|line| line.contains("koda") && line.ends_with(".so")).collect();
    assert_eq!(library, Vec::<&str>::new());
}

#[test]
fn the_command_completes_its_subcommands() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let completed = editor.lua("return vim.fn.getcompletion('Koda ', 'cmdline')", &[]);
    for name in ["chat", "run", "stop", "mode", "trust", "model", "log", "health", "build", "help"] {
        assert!(completed.as_array().unwrap().contains(&json!(name)), "no {name} in {completed}");
    }
    let trusts = editor.lua("return vim.fn.getcompletion('Koda trust ', 'cmdline')", &[]);
    assert_eq!(trusts.as_array().map(|trusts| trusts.len()), Some(3), "{trusts}");
}

#[test]
fn health_says_what_to_do_and_finds_nothing_broken() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    editor.command("checkhealth koda");
    let report = editor.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')", &[]);
    let report = report.as_str().unwrap();
    assert!(report.contains("koda"), "{report}");
    assert!(!report.contains("ERROR"), "{report}");
}

#[test]
fn help_is_there() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let doc = koda_tests::root().join("doc");
    let tags = place.path().join("doc");
    fs::create_dir_all(&tags).unwrap();
    fs::copy(doc.join("koda.txt"), tags.join("koda.txt")).unwrap();
    editor.lua("vim.opt.runtimepath:prepend(...)", &[json!(place.path())]);
    editor.command(&format!("helptags {}", tags.display()));
    editor.command("help koda");
    for tag in [":Koda", "koda.setup()", "koda-headless"] {
        editor.lua("vim.cmd.help(...)", &[json!(tag)]);
    }
}

/// Every function that the face is typed against is in the library, and the other way round.
#[test]
fn the_library_and_its_types_agree() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let meta = fs::read_to_string(koda_tests::root().join("lua/koda/_meta/native.lua")).unwrap();
    let declared = regex::Regex::new(r"(?m)^function \w+[.:](\w+)").unwrap();
    let mut declared: Vec<String> = declared.captures_iter(&meta).map(|found| found[1].to_owned()).collect();
    declared.sort();
    let offered = editor.lua(
        "local native = require('koda.native')
        local names = vim.tbl_keys(native.load())
        table.sort(names)
        return names",
        &[],
    );
    assert_eq!(offered, json!(declared));
}
