//! Background tasks through the registry, with real commands.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::Arc;

use koda_protocol::double::{MemoryEditor, MemoryStore, ScriptedApprover};
use koda_protocol::{Mode, ToolCall, ToolResult};
use koda_shell::{Pool, PoolOptions, Status, View};
use koda_tools::{Ports, Registry, SessionState, ToolContext, Workplace};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

struct Blind;

impl View for Blind {
    fn opened(&self, _: u32, _: &str) {}
    fn output(&self, _: u32, _: &[u8]) {}
    fn status(&self, _: u32, _: &Status) {}
}

struct Rig {
    dir: tempfile::TempDir,
    pool: Pool,
    notes: mpsc::UnboundedReceiver<String>,
    tell: mpsc::UnboundedSender<String>,
}

fn rig() -> Rig {
    let env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    let options = PoolOptions { shell: Some("/bin/sh".to_owned()), ..PoolOptions::new(env) };
    let (tell, notes) = mpsc::unbounded_channel();
    Rig { dir: tempfile::tempdir().unwrap(), pool: Pool::new(options, Arc::new(Blind)), notes, tell }
}

impl Rig {
    async fn call_as(&self, session: &str, tool: &str, args: Value) -> ToolResult {
        let call = ToolCall { id: "c".into(), tool: tool.to_owned(), args, signature: None };
        let root: PathBuf = self.dir.path().canonicalize().unwrap();
        let workplace = Workplace::new(&root, None);
        let prepared = match Registry::standard().prepare(&call, Mode::Agent, &workplace) {
            Ok(prepared) => prepared,
            Err(result) => return result,
        };
        let tell = self.tell.clone();
        let context = ToolContext {
            call: call.id,
            session: session.into(),
            mode: Mode::Agent,
            workplace,
            ports: Ports {
                editor: Arc::new(MemoryEditor::default()),
                terminals: Arc::new(self.pool.clone()),
                store: Arc::new(MemoryStore::default()),
                approver: Arc::new(ScriptedApprover::default()),
            },
            state: Arc::new(SessionState::default()),
            review: None,
            cancel: CancellationToken::new(),
            emit: Arc::new(|_| {}),
            note: Arc::new(move |text| tell.send(text).unwrap()),
        };
        prepared.run(context).await
    }

    async fn call(&self, tool: &str, args: Value) -> ToolResult {
        self.call_as("s", tool, args).await
    }

    /// Begins a command in the background and returns its id.
    async fn begin(&self, command: &str) -> String {
        let result = self.call("Bash", json!({ "command": command, "background": true })).await;
        assert!(result.ok, "{}", result.text);
        result.data["task_id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_gathers_tasks_each_with_its_own_fate() {
    let rig = rig();
    let good = rig.begin("echo fine").await;
    let bad = rig.begin("echo worse; exit 2").await;
    let ended = rig.begin("sleep 600").await;
    let foreign = rig.call_as("other", "Bash", json!({ "command": "sleep 600", "background": true })).await;
    let foreign = foreign.data["task_id"].as_str().unwrap().to_owned();
    let cancelled = rig.call("kill_terminal", json!({ "terminal_id": ended })).await;
    assert!(cancelled.ok && cancelled.data["state"] == "cancelled", "{}", cancelled.text);
    let ids = json!({ "task_ids": [good, bad, ended, foreign, "agent:9", format!(" {good} ")] });
    let result = rig.call("WaitTask", ids).await;
    let of = |id: &str| {
        let tasks = result.data["tasks"].as_array().unwrap();
        tasks.iter().find(|task| task["task_id"] == id).unwrap_or_else(|| panic!("{id}")).clone()
    };
    assert_eq!((&of(&good)["status"], &of(&good)["result"]["exit_code"]), (&json!("success"), &json!(0)));
    assert_eq!(of(&bad)["status"], "failed");
    assert!(of(&bad)["error"].as_str().unwrap().starts_with("exit code 2"));
    assert_eq!(of(&ended), json!({ "task_id": ended, "status": "cancelled" }));
    assert_eq!(
        (&of(&foreign)["status"], &of("agent:9")["status"]),
        (&json!("forbidden"), &json!("not_found"))
    );
    let summary = json!({
        "total": 5, "success": 1, "failed": 1, "timeout": 0, "cancelled": 1, "forbidden": 1, "not_found": 1
    });
    assert_eq!(result.data["summary"], summary);
    assert_eq!(serde_json::from_str::<Value>(&result.text).unwrap(), result.data);
    koda_protocol::port::Terminals::shutdown(&rig.pool, std::time::Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_told_once_and_the_end_comes_by_itself() {
    let mut rig = rig();
    let args = json!({ "command": "echo up; read line; echo down", "background": true });
    let begun = rig.call("Bash", args).await;
    let id = begun.data["task_id"].as_str().unwrap().to_owned();
    // What came before the call returned is in its result, and told once as well.
    let mut text = begun.text;
    while !text.contains("up") {
        text = rig.call("TaskOutput", json!({ "task_id": id })).await.text;
    }
    let again = rig.call("get_terminal_output", json!({ "terminal_id": id })).await;
    assert!(again.ok && again.text.starts_with(&format!("[{id}: running; 0 new bytes")), "{}", again.text);
    let list = rig.call("ListBackgroundTasks", json!({})).await;
    assert_eq!(
        (&list.data["tasks"][0]["task_id"], &list.data["tasks"][0]["state"]),
        (&json!(id), &json!("running"))
    );
    rig.pool.input(1, b"\n");
    let note = rig.notes.recv().await.unwrap();
    assert!(note.contains(&format!("{id} ended: exit code 0")) && note.contains("down"), "{note}");
    assert!(!note.contains("up\n"), "{note}");
    let done = rig.call("TaskOutput", json!({ "task_id": id })).await;
    assert_eq!((&done.data["state"], &done.data["exit_code"]), (&json!("done"), &json!(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_and_foreign_tasks_are_refused() {
    let rig = rig();
    let id = rig.begin("sleep 600").await;
    for tool in ["TaskOutput", "CancelTask"] {
        let foreign = rig.call_as("other", tool, json!({ "task_id": id })).await;
        assert!(!foreign.ok && foreign.text.contains("another conversation"), "{}", foreign.text);
        let unknown = rig.call(tool, json!({ "task_id": 99 })).await;
        assert!(!unknown.ok && unknown.text.contains("sh:99"), "{}", unknown.text);
    }
    assert!(rig.call("WaitTask", json!({ "task_ids": [] })).await.text.contains("`task_ids`"));
    let list = rig.call_as("other", "ListBackgroundTasks", json!({})).await;
    assert_eq!(list.data["tasks"], json!([]));
    assert!(rig.call("CancelTask", json!({ "task_id": id })).await.ok);
}
