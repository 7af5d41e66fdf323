//! The tools through the registry, over the ports' doubles and real folders.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use koda_protocol::double::{MemoryEditor, MemoryStore, ScriptedApprover, ScriptedTerminals};
use koda_protocol::port::{Diagnostic, Severity};
use koda_protocol::{Mode, ToolCall, ToolResult};
use koda_tools::{Ports, Registry, SessionState, ToolContext, Workplace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

struct Rig {
    dir: tempfile::TempDir,
    registry: Registry,
    editor: Arc<MemoryEditor>,
    store: Arc<MemoryStore>,
    state: Arc<SessionState>,
}

fn rig() -> Rig {
    Rig {
        dir: tempfile::tempdir().unwrap(),
        registry: Registry::standard(),
        editor: Arc::default(),
        store: Arc::default(),
        state: Arc::default(),
    }
}

impl Rig {
    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// Puts a file on disk and into the editor's double.
    fn file(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.editor.put(path, text);
    }

    async fn call(&self, tool: &str, args: Value) -> ToolResult {
        let call = ToolCall { id: "c".into(), tool: tool.to_owned(), args, signature: None };
        let workplace = Workplace::new(&self.root(), None);
        let prepared = match self.registry.prepare(&call, Mode::Agent, &workplace) {
            Ok(prepared) => prepared,
            Err(result) => return result,
        };
        let terminals = ScriptedTerminals::default().on("make", "built\n", 0).on("bad", "no\n", 2);
        let context = ToolContext {
            call: call.id,
            session: "s".into(),
            mode: Mode::Agent,
            workplace,
            ports: Ports {
                editor: self.editor.clone(),
                terminals: Arc::new(terminals),
                store: self.store.clone(),
                approver: Arc::new(ScriptedApprover::default()),
            },
            state: self.state.clone(),
            review: None,
            cancel: CancellationToken::new(),
            emit: Arc::new(|_| {}),
            note: Arc::new(|_| {}),
        };
        prepared.run(context).await
    }
}

#[tokio::test]
async fn reading_numbers_lines_and_ranges_reach_the_rest() {
    let rig = rig();
    rig.file("a.txt", "one\ntwo\nthree\n");
    assert_eq!(rig.call("Read", json!({ "path": "a.txt" })).await.text, "1\tone\n2\ttwo\n3\tthree\n");
    let ranges = json!({ "path": "a.txt", "ranges": [{ "start_line": 2, "end_line": 2 }] });
    assert_eq!(rig.call("Read", ranges).await.text, "2\ttwo\n");
    let sibling = json!({ "target_file": "a.txt", "start_line": 3, "num_lines": 5 });
    assert_eq!(rig.call("read_file", sibling).await.text, "3\tthree\n");
    assert!(!rig.call("Read", json!({ "path": "a.txt", "start_line": 9 })).await.ok);
}

#[tokio::test]
async fn a_line_of_400_kb_is_cut_and_reached_by_skipping() {
    let rig = rig();
    let line = "ä".repeat(200 * 1024);
    rig.file("long.txt", &format!("{line}\nend\n"));
    let first = rig.call("Read", json!({ "path": "long.txt" })).await;
    assert!(first.text.contains("goes on for") && first.text.contains("2\tend"), "{}", first.text.len());
    let mut seen = 0;
    while seen < line.len() {
        let range = json!({ "start_line": 1, "end_line": 1, "skip_bytes": seen });
        let part = rig.call("Read", json!({ "path": "long.txt", "ranges": [range] })).await;
        let got = part.text.lines().next().unwrap().trim_start_matches("1\t").len();
        assert!(got > 1000, "no progress at {seen}");
        seen += got;
    }
    assert_eq!(seen, line.len());
}

#[tokio::test]
async fn a_long_file_is_cut_with_the_place_to_go_on() {
    let rig = rig();
    let text: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    rig.file("long.txt", &text);
    let result = rig.call("Read", json!({ "path": "long.txt" })).await;
    assert!(result.text.contains("go on with a range from start_line 1901"), "{}", result.text.len());
    // What was not read whole can't be replaced whole.
    let write = rig.call("Write", json!({ "path": "long.txt", "content": "x", "overwrite": true })).await;
    assert!(!write.ok && write.text.contains("Read all"));
}

#[tokio::test]
async fn writing_replaces_only_what_was_seen() {
    let rig = rig();
    rig.file("a.txt", "one\ntwo\n");
    let write = |overwrite: bool| json!({ "path": "a.txt", "content": "one\n2\n", "overwrite": overwrite });
    assert!(rig.call("Write", write(false)).await.text.contains("exists"));
    assert!(!rig.call("Write", write(true)).await.ok);
    rig.call("Read", json!({ "path": "a.txt" })).await;
    let result = rig.call("Write", write(true)).await;
    assert!(result.ok && result.data["diff"].as_str().unwrap().contains("+2"), "{result:?}");
    assert_eq!(rig.editor.text(rig.root().join("a.txt")).as_deref(), Some("one\n2\n"));
    assert!(rig.call("create_file", json!({ "path": "new/b.txt", "content": "" })).await.ok);
}

#[tokio::test]
async fn edits_take_the_siblings_shapes_and_tell_what_they_did() {
    let rig = rig();
    rig.file("a.txt", "alpha beta\n");
    let sibling = json!({ "file_path": "a.txt", "old_string": "alpha", "new_string": "ALPHA" });
    let result = rig.call("edit_file", sibling).await;
    assert!(result.ok, "{}", result.text);
    assert_eq!(
        (&result.data["applied"], &result.data["rung"], &result.data["lines"]),
        (&json!([1]), &json!("exact"), &json!([1]))
    );
    let partly = json!([{ "old": "beta", "new": "BETA" }, { "old": "gamma", "new": "x" }]);
    let result = rig.call("Edit", json!({ "path": "a.txt", "edits": partly })).await;
    assert!(result.ok && result.text.contains("edit 2:"));
    assert_eq!(rig.editor.text(rig.root().join("a.txt")).as_deref(), Some("ALPHA BETA\n"));
    assert!(!rig.call("Edit", json!({ "path": "a.txt", "edits": [{ "old": "zzz", "new": "x" }] })).await.ok);
}

#[tokio::test]
async fn a_search_sees_what_the_user_sees() {
    let rig = rig();
    rig.file("src/a.rs", "fn needle() {}\nother\n");
    rig.file("src/b.txt", "needle in text\n");
    rig.file("ignored.log", "needle\n");
    rig.file("secret/key", "needle\n");
    rig.file(".gitignore", "*.log\n");
    rig.file(".kodaignore", "secret\r\n");
    rig.editor.put_unsaved(rig.root().join("src/a.rs"), "nothing here\n");
    rig.editor.put_unsaved(rig.root().join("src/new.rs"), "needle, unsaved\n");
    let found = rig.call("Grep", json!({ "pattern": "needle" })).await;
    assert_eq!(found.data["files"], 2, "{}", found.text);
    assert!(
        found.text.contains("src/b.txt\n1:needle in text")
            && found.text.contains("src/new.rs\n1:needle, unsaved")
    );
    let only = rig
        .call("grep_search", json!({ "query": "NEEDLE", "-i": true, "glob": "*.txt", "output": "files" }))
        .await;
    assert_eq!(only.data["files"], 1, "{}", only.text);
    assert!(!rig.call("Grep", json!({ "pattern": "(" })).await.ok);
    assert!(rig.call("rg", json!({ "pattern": "(", "literal": true })).await.ok);
}

#[tokio::test]
async fn anchors_are_those_of_a_line() {
    let rig = rig();
    rig.file("unix.txt", "one\nfn two();\n  fn three();\n");
    rig.file("dos.txt", "one\r\nfn two();\r\n");
    let starts = rig.call("Grep", json!({ "pattern": "^fn" })).await;
    assert_eq!(starts.data["matches"], 2, "{}", starts.text);
    let ends = rig.call("Grep", json!({ "pattern": ";$" })).await;
    assert_eq!(ends.data["matches"], 3, "{}", ends.text);
}

#[tokio::test]
async fn a_buffer_that_is_not_on_disk_is_searched_unless_ignored() {
    let rig = rig();
    rig.file(".kodaignore", "private\n");
    rig.editor.put_unsaved(rig.root().join("new.rs"), "needle\n");
    rig.editor.put_unsaved(rig.root().join("private/new.rs"), "needle\n");
    let found = rig.call("Grep", json!({ "pattern": "needle" })).await;
    assert_eq!((&found.data["files"], found.text.contains("private")), (&json!(1), false), "{}", found.text);
}

#[tokio::test]
async fn what_is_missing_is_answered_with_what_is_near() {
    let rig = rig();
    rig.file("src/deep/settings.rs", "x\n");
    let elsewhere = rig.call("Read", json!({ "path": "src/settings.rs" })).await;
    assert!(!elsewhere.ok && elsewhere.text.contains("src/deep/settings.rs"), "{}", elsewhere.text);
    let misspelt = rig.call("Read", json!({ "path": "src/deep/setings.rs" })).await;
    assert_eq!(misspelt.data["near"], json!(["src/deep/settings.rs"]));
    let tool = rig.call("Reed", json!({})).await;
    assert!(!tool.ok && tool.text.contains("Did you mean Read?"), "{}", tool.text);
}

#[tokio::test]
async fn a_loose_match_is_told_and_a_miss_shows_lines() {
    let rig = rig();
    rig.file("a.py", "def f():  \n    return 1\n");
    let edit = |old: &str, new: &str| json!({ "path": "a.py", "edits": [{ "old": old, "new": new }] });
    let result = rig.call("Edit", edit("def f():\n    return 1", "def f():\n    return 2")).await;
    assert!(result.ok && result.text.contains("matched loosely (trailing blanks)"), "{}", result.text);
    assert_eq!(result.data["rung"], "trailing_blanks");
    assert_eq!(rig.editor.text(rig.root().join("a.py")).as_deref(), Some("def f():  \n    return 2\n"));
    let miss = rig.call("Edit", edit("    retrun 2", "x")).await;
    assert_eq!((miss.ok, &miss.data["rejected"][0]["position"]), (false, &json!(1)));
    assert!(miss.text.contains("2\t    return 2"), "{}", miss.text);
    let lazy = rig.call("Edit", edit("    return 2", "    # ... rest of the code ...")).await;
    assert_eq!(lazy.data["rejected"][0]["code"], "placeholder");
}

#[tokio::test]
async fn only_diagnostics_that_are_new_are_told() {
    let rig = rig();
    rig.file("a.py", "one\ntwo\n");
    let found = |line: u64| Diagnostic {
        path: rig.root().join("a.py"),
        line,
        column: 1,
        severity: Severity::Error,
        message: "bad".to_owned(),
        source: None,
    };
    rig.editor.put_diagnostics(vec![found(2)]);
    let edit = json!({ "path": "a.py", "old_string": "one", "new_string": "zero\none more" });
    let result = rig.call("Edit", edit).await;
    assert!(result.ok && result.data["diagnostics"] == json!([]), "{}", result.text);
}

#[tokio::test]
async fn searches_are_capped() {
    let rig = rig();
    rig.file("many.txt", &"needle\n".repeat(100_000));
    let found = rig.call("Grep", json!({ "pattern": "needle", "limit": 10 })).await;
    assert_eq!((&found.data["matches"], &found.data["capped"]), (&json!(10), &json!(true)));
}

#[tokio::test]
async fn globs_and_listings_leave_ignored_files_out() {
    let rig = rig();
    rig.file("src/a.rs", "");
    rig.file("src/deep/b.rs", "");
    rig.file("target/c.rs", "");
    rig.file(".gitignore", "target/\n");
    let paths = |result: &ToolResult| result.text.lines().map(str::to_owned).collect::<Vec<_>>();
    let found = rig.call("Glob", json!({ "pattern": "*.rs" })).await;
    assert_eq!(paths(&found), ["src/a.rs", "src/deep/b.rs", "[2 files]"]);
    let found = rig.call("Glob", json!({ "pattern": "src/*.rs" })).await;
    assert_eq!(paths(&found), ["src/a.rs", "[1 files]"]);
    let listed = rig.call("ls", json!({})).await;
    assert_eq!(paths(&listed), [".: 2 entries", "src/", ".gitignore"]);
}

#[tokio::test]
async fn commands_tell_their_exit_code() {
    let rig = rig();
    let good = rig.call("run_terminal_command", json!({ "cmd": "make" })).await;
    assert!(good.ok && good.text == "built\n[exit code 0]", "{}", good.text);
    let bad = rig.call("Bash", json!({ "command": "bad" })).await;
    assert_eq!((bad.ok, &bad.data["exit_code"], &bad.data["state"]), (true, &json!(2), &json!("done")));
    assert!(rig.call("Bash", json!({ "command": "make", "timeout": -1 })).await.text.contains("`timeout`"));
}

#[tokio::test]
async fn the_task_list_has_one_thing_in_hand() {
    let rig = rig();
    let item = |status: &str| json!({ "content": "x", "status": status });
    let two = json!({ "todos": [item("in_progress"), item("in_progress")] });
    assert!(rig.call("TodoWrite", two).await.text.contains("at most one"));
    let wrong = rig.call("TodoWrite", json!({ "todos": [{ "content": "x", "status": "started" }] })).await;
    assert!(!wrong.ok && wrong.text.contains("todos[0].status"), "{}", wrong.text);
    let list = json!({ "todos": [item("in_progress"), item("completed")] });
    assert!(rig.call("TodoWrite", list.clone()).await.text.starts_with("1 of 2 done"));
    assert!(rig.call("todo_write", list).await.text.contains("as it was"));
}

#[tokio::test]
async fn every_tool_names_the_field_that_is_missing() {
    let rig = rig();
    for spec in rig.registry.specs(Mode::Agent) {
        // Without a task it lists them all.
        if spec.name == "TaskOutput" {
            continue;
        }
        let required = spec.schema["required"].as_array().cloned().unwrap_or_default();
        if let Some(first) = required.first() {
            let result = rig.call(&spec.name, json!({})).await;
            assert!(
                !result.ok && result.text.contains(first.as_str().unwrap()),
                "{}: {}",
                spec.name,
                result.text
            );
        }
        assert!(spec.schema["properties"].is_object() && spec.schema["type"] == "object", "{}", spec.name);
    }
}
