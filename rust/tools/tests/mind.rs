//! What the agent keeps in mind: notes, plans, skills, past sessions. Over real folders.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use koda_protocol::double::{MemoryStore, ScriptedApprover, ScriptedTerminals};
use koda_protocol::port::{Diagnostic, Editor, EditorError, OpenFile, Store, Written};
use koda_protocol::{
    Document, Envelope, Event, Mode, Revision, TextEdit, TextFormat, ToolCall, ToolResult, Trust, UnixMillis,
};
use koda_tools::{Ports, Registry, SessionState, ToolContext, Workplace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// An editor without buffers.
struct Disk;

fn failed(path: &Path, error: &std::io::Error) -> EditorError {
    let path = path.to_owned();
    match error.kind() {
        std::io::ErrorKind::NotFound => EditorError::NotFound(path),
        std::io::ErrorKind::AlreadyExists => EditorError::Exists(path),
        _ => EditorError::Io { path, reason: error.to_string() },
    }
}

#[async_trait]
impl Editor for Disk {
    async fn read(&self, path: &Path) -> Result<Document, EditorError> {
        let text = fs::read_to_string(path).map_err(|error| failed(path, &error))?;
        let (revision, path) = (Revision(text.clone()), path.to_owned());
        Ok(Document { path, text: text.into(), format: TextFormat::default(), unsaved: false, revision })
    }

    async fn edit(&self, path: &Path, at: &Revision, edits: &[TextEdit]) -> Result<Written, EditorError> {
        let mut text = self.read(path).await?.text.to_string();
        if text != at.0 {
            return Err(EditorError::Stale(path.to_owned()));
        }
        for edit in edits.iter().rev() {
            text.replace_range(edit.range.clone(), &edit.new);
        }
        fs::write(path, &text).map_err(|error| failed(path, &error))?;
        Ok(Written { revision: Revision(text), saved: true, reformatted: None })
    }

    async fn create(&self, path: &Path, text: &str) -> Result<Written, EditorError> {
        fs::create_dir_all(path.parent().unwrap()).map_err(|error| failed(path, &error))?;
        if path.exists() {
            return Err(EditorError::Exists(path.to_owned()));
        }
        fs::write(path, text).map_err(|error| failed(path, &error))?;
        Ok(Written { revision: Revision(text.to_owned()), saved: true, reformatted: None })
    }

    async fn delete(&self, path: &Path) -> Result<(), EditorError> {
        fs::remove_file(path).map_err(|error| failed(path, &error))
    }

    async fn unsaved(&self) -> Result<Vec<(PathBuf, Arc<str>)>, EditorError> {
        Ok(Vec::new())
    }

    async fn open_files(&self) -> Result<Vec<OpenFile>, EditorError> {
        Ok(Vec::new())
    }

    async fn diagnostics(&self, _: &[PathBuf]) -> Result<Vec<Diagnostic>, EditorError> {
        Ok(Vec::new())
    }
}

struct Rig {
    dir: tempfile::TempDir,
    registry: Registry,
    store: Arc<MemoryStore>,
    state: Arc<SessionState>,
    events: Arc<Mutex<Vec<Event>>>,
}

fn rig() -> Rig {
    let dir = tempfile::tempdir().unwrap();
    for name in ["project", "home", "config"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let (registry, store) = (Registry::standard(), Arc::default());
    Rig { dir, registry, store, state: Arc::default(), events: Arc::default() }
}

impl Rig {
    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn place(&self) -> Workplace {
        Workplace::new(&self.at("project"), Some(self.at("home"))).with_config(Some(self.at("config")))
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }

    async fn call(&self, tool: &str, args: Value) -> ToolResult {
        self.call_in(Mode::Agent, tool, args).await
    }

    async fn call_in(&self, mode: Mode, tool: &str, args: Value) -> ToolResult {
        let call = ToolCall { id: "c".into(), tool: tool.to_owned(), args, signature: None };
        let workplace = self.place();
        let prepared = match self.registry.prepare(&call, mode, &workplace) {
            Ok(prepared) => prepared,
            Err(result) => return result,
        };
        let events = self.events.clone();
        let context = ToolContext {
            call: call.id,
            session: "s".into(),
            mode,
            workplace,
            ports: Ports {
                editor: Arc::new(Disk),
                terminals: Arc::new(ScriptedTerminals::default()),
                store: self.store.clone(),
                approver: Arc::new(ScriptedApprover::default()),
            },
            state: self.state.clone(),
            review: None,
            cancel: CancellationToken::new(),
            emit: Arc::new(move |event| events.lock().unwrap().push(event)),
            note: Arc::new(|_| {}),
        };
        prepared.run(context).await
    }
}

const NOTES: &str = "project/.koda/memories/memory.md";

#[tokio::test]
async fn a_fact_is_kept_as_a_bullet_once() {
    let rig = rig();
    let noted =
        rig.call("MemoryWrite", json!({ "content": "Tests run by `make test`\nin ten minutes." })).await;
    assert!(noted.ok, "{}", noted.text);
    assert_eq!(rig.text(NOTES).unwrap(), "- Tests run by `make test`\n  in ten minutes.\n");
    // What the user wrote by hand stays.
    rig.file(NOTES, "# Ours\n\n- by hand");
    rig.call("memory", json!({ "fact": "second", "scope": "workspace" })).await;
    let again = rig.call("MemoryWrite", json!({ "content": "- second" })).await;
    assert!(again.ok && again.text.contains("already"), "{}", again.text);
    assert_eq!(rig.text(NOTES).unwrap(), "# Ours\n\n- by hand\n- second\n");
}

#[tokio::test]
async fn each_scope_has_its_place_and_all_are_read() {
    let rig = rig();
    for (scope, fact) in [("project", "of the project"), ("global", "of the user"), ("session", "of now")] {
        let args = json!({ "content": fact, "scope": scope, "path": "facts" });
        assert!(rig.call("MemoryWrite", args).await.ok, "{scope}");
    }
    assert_eq!(rig.text("project/.koda/memories/facts.md").unwrap(), "- of the project\n");
    assert_eq!(rig.text("config/memories/facts.md").unwrap(), "- of the user\n");
    let all = rig.call("MemoryRead", json!({})).await.text;
    for part in ["facts.md (global)\n- of the user", "(project)\n- of the project", "(session)\n- of now"] {
        assert!(all.contains(part), "{all}");
    }
    let one = rig.call("MemoryRead", json!({ "scope": "session" })).await.text;
    assert_eq!(one, "## facts.md (session)\n- of now");
}

#[tokio::test]
async fn a_fact_or_a_file_is_deleted() {
    let rig = rig();
    rig.file(NOTES, "- one\n- two\n  more of two\n- three\n");
    let wrong = rig.call("MemoryWrite", json!({ "content": "two", "delete": "true" })).await;
    assert!(wrong.text.contains("nothing was deleted"), "half a note is none: {}", wrong.text);
    rig.call("MemoryWrite", json!({ "content": "two\nmore of two", "delete": true })).await;
    assert_eq!(rig.text(NOTES).unwrap(), "- one\n- three\n");
    let gone = rig.call("MemoryWrite", json!({ "path": "memory", "delete": true })).await;
    assert!(gone.ok && rig.text(NOTES).is_none(), "{}", gone.text);
}

#[tokio::test]
async fn wrong_names_secrets_and_too_much_are_refused() {
    let rig = rig();
    for args in [
        json!({ "content": "x", "path": "../x" }),
        json!({ "content": "x", "path": "/etc/x" }),
        json!({ "content": "token ghp_0123456789abcdefghij0123" }),
        json!({ "content": " " }),
        json!({ "content": "x", "scope": "moon" }),
        json!({ "content": "a".repeat(17 * 1024) }),
    ] {
        let refused = rig.call("MemoryWrite", args.clone()).await;
        assert!(!refused.ok, "{args} {}", refused.text);
    }
    assert!(!rig.at("project/.koda").exists());
    (0..50).for_each(|n| rig.file(&format!("project/.koda/memories/{n}.md"), "- x\n"));
    let many = rig.call("MemoryWrite", json!({ "content": "x", "path": "one more" })).await;
    assert!(!many.ok && many.text.contains("50 files"), "{}", many.text);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_leads_no_note_out_of_the_project() {
    let rig = rig();
    fs::create_dir_all(rig.at("project/.koda")).unwrap();
    std::os::unix::fs::symlink(rig.at("home"), rig.at("project/.koda/memories")).unwrap();
    let refused = rig.call("MemoryWrite", json!({ "content": "x" })).await;
    assert!(!refused.ok && refused.text.contains("leads out"), "{}", refused.text);
    rig.file("home/secret.md", "- told nobody");
    assert!(!rig.call("MemoryRead", json!({})).await.text.contains("told nobody"));
}

fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\nHow {name} is done.\n")
}

#[tokio::test]
async fn skills_of_project_and_home_are_listed_and_read_whole_when_activated() {
    let rig = rig();
    rig.file("project/.koda/skills/deploy/SKILL.md", &skill("deploy", "Use when: it goes live"));
    rig.file("project/.koda/skills/deploy/steps/one.md", "first");
    rig.file("project/.agents/skills/test/SKILL.md", &skill("test", "Runs tests"));
    rig.file("home/.claude/skills/review/SKILL.md", &skill("review", "Reviews changes"));
    rig.file("home/.koda/skills/test/SKILL.md", &skill("test", "The user's own"));
    let all = rig.call("ListSkills", json!({})).await.text;
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines[0], "- deploy (project): Use when: it goes live");
    assert_eq!(lines[1], "- review (user): Reviews changes");
    assert_eq!(lines[2], "- test (project): Runs tests", "the project's wins");
    assert!(lines[3].contains("home/.koda/skills/test") && lines[3].contains("comes first"), "{all}");
    let found = rig.call("ListSkills", json!({ "query": "TESTS" })).await.text;
    assert!(found.starts_with("- test") && !found.contains("deploy"), "{found}");
    let deploy = rig.call("read_skill", json!({ "skillName": "deploy" })).await;
    assert!(
        deploy.text.contains("How deploy is done.") && deploy.text.contains("steps/one.md"),
        "{}",
        deploy.text
    );
    assert!(!deploy.text.contains("description:"));
}

#[tokio::test]
async fn skills_that_can_t_be_used_say_why() {
    let rig = rig();
    rig.file("project/.koda/skills/plain/SKILL.md", "# no front matter");
    rig.file("project/.koda/skills/silent/SKILL.md", "---\nname: silent\n---\nx");
    rig.file("project/.koda/skills/odd/SKILL.md", &skill("Odd Name", "x"));
    rig.file(
        "project/.koda/skills/hidden/SKILL.md",
        "---\ndescription: x\ndisable-model-invocation: true\n---\nx",
    );
    fs::create_dir_all(rig.at("project/.koda/skills/empty")).unwrap();
    let all = rig.call("ListSkills", json!({})).await;
    for part in [
        "plain/SKILL.md: it begins with no front",
        "no `description`",
        "\"Odd Name\"",
        "empty/SKILL.md: it can't be read",
    ] {
        assert!(all.text.contains(part), "{part} {}", all.text);
    }
    assert!(!all.text.contains("hidden"), "{}", all.text);
    let broken = rig.call("ActivateSkill", json!({ "name": "silent" })).await;
    assert!(!broken.ok && broken.text.contains("no `description`"), "{}", broken.text);
    assert!(!rig.call("ActivateSkill", json!({ "name": "hidden" })).await.ok);
    rig.file("project/.claude/skills/testing/SKILL.md", &skill("testing", "x"));
    let near = rig.call("ActivateSkill", json!({ "name": "test" })).await.text;
    assert!(near.contains("Did you mean testing?"), "{near}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_project_s_skill_from_outside_of_it_is_none() {
    let rig = rig();
    rig.file("elsewhere/away/SKILL.md", &skill("away", "x"));
    fs::create_dir_all(rig.at("project/.koda/skills")).unwrap();
    std::os::unix::fs::symlink(rig.at("elsewhere/away"), rig.at("project/.koda/skills/away")).unwrap();
    assert!(rig.call("ListSkills", json!({})).await.text.contains("leads out of the project"));
    // The user's own may lie where they like.
    fs::create_dir_all(rig.at("home/.agents/skills")).unwrap();
    std::os::unix::fs::symlink(rig.at("elsewhere/away"), rig.at("home/.agents/skills/away")).unwrap();
    assert!(rig.call("ActivateSkill", json!({ "name": "away" })).await.ok);
}

impl Rig {
    /// Stores that a session of the project had these texts of the user.
    fn session(&self, id: &str, texts: &[&str]) {
        let append = |event| {
            let (time, session) = (UnixMillis(1_709_164_800_000), id.into());
            self.store.append(&Envelope { time, session, event }).unwrap();
        };
        let cwd = self.at("project").to_string_lossy().into_owned();
        let (model, mode, trust) = ("m::m".to_owned(), Mode::Agent, Trust::Safe);
        append(Event::SessionStart { version: 1, cwd, model, mode, trust });
        for text in texts {
            append(Event::UserMessage { text: (*text).to_owned(), context: String::new() });
            let (id, tool, text) =
                (format!("call {text}").as_str().into(), "Bash".to_owned(), format!("ran {text}"));
            append(Event::ToolResult { id, tool, ok: true, text, data: Value::Null });
        }
    }
}

#[tokio::test]
async fn what_was_said_is_searched_by_pages_and_read_whole() {
    let rig = rig();
    rig.session("old", &["the cache is stale", "other"]);
    rig.session("s", &["first apple", "second apple"]);
    let hits = rig.call("RecallContext", json!({ "query": "Cache stale" })).await;
    assert_eq!(hits.data["matches"], 2);
    assert!(
        hits.text.contains("old#1 (2024-02-29") && hits.text.contains("user): the cache is stale"),
        "{}",
        hits.text
    );
    let whole = rig.call("RecallContext", json!({ "id": "old#2" })).await;
    assert_eq!((whole.text.as_str(), &whole.data["who"]), ("ran the cache is stale", &json!("Bash")));
    assert_eq!(
        rig.call("RecallContext", json!({ "id": "call second apple" })).await.text,
        "ran second apple"
    );
    let turn = rig.call("RecallContext", json!({ "turn": 2 })).await.text;
    assert!(turn.contains("second apple") && !turn.contains("first apple"), "{turn}");
    let own = rig.call("RecallContext", json!({ "query": "cache", "session": "this" })).await;
    assert_eq!(own.data["matches"], 0);
    for wrong in [json!({}), json!({ "id": "nope" }), json!({ "id": "old#99" }), json!({ "turn": 3 })] {
        assert!(!rig.call("RecallContext", wrong.clone()).await.ok, "{wrong}");
    }
    rig.session("many", &["plum"; 12]);
    let first = rig.call("RecallContext", json!({ "query": "plum" })).await.text;
    assert!(first.ends_with("[14 more: page 2]"), "{first}");
    let last = rig.call("RecallContext", json!({ "query": "plum", "page": 3 })).await.text;
    assert_eq!(last.lines().count(), 4, "{last}");
}

#[tokio::test]
async fn a_plan_is_published_once_a_change() {
    let rig = rig();
    let plan = json!({ "explanation": "Why.", "steps": ["one", { "text": "two", "status": "in_progress" }], "risks": ["slow"] });
    let published = rig.call("update_plan", plan.clone()).await;
    assert!(published.ok && published.text.contains("0 of 2"), "{}", published.text);
    let same = rig.call("UpdatePlan", plan).await;
    assert!(same.text.contains("as it was"), "{}", same.text);
    let events = rig.events.lock().unwrap();
    let [Event::Plan { text, review, .. }] = events.as_slice() else { panic!("{events:?}") };
    assert!(text.contains("Why.\n\n- [ ] one\n- [~] two\n\n## Risks\n\n- slow") && !review, "{text}");
}

#[tokio::test]
async fn in_mode_plan_a_plan_ends_the_turn_for_its_review() {
    let rig = rig();
    let plan = json!({ "steps": [{ "title": "one" }] });
    let published = rig.call_in(Mode::Plan, "generate_plan", plan).await;
    assert_eq!(published.data["ends_turn"], true, "{}", published.text);
    assert!(matches!(&rig.events.lock().unwrap()[0], Event::Plan { review: true, .. }));
    for wrong in [
        json!({ "steps": [] }),
        json!({ "steps": [""] }),
        json!({ "steps": [{ "text": "a", "status": "in_progress" }, { "text": "b", "status": "in_progress" }] }),
    ] {
        assert!(!rig.call("UpdatePlan", wrong.clone()).await.ok, "{wrong}");
    }
}

#[tokio::test]
async fn each_mode_offers_its_tools_and_refuses_the_others() {
    let rig = rig();
    let names =
        |mode| -> Vec<String> { rig.registry.specs(mode).into_iter().map(|spec| spec.name).collect() };
    let has = |mode, tool: &str| names(mode).iter().any(|name| name == tool);
    for mode in [Mode::Plan, Mode::Ask, Mode::Educator] {
        for tool in ["Write", "Edit", "Delete", "Bash", "TaskOutput", "TodoWrite"] {
            assert!(!has(mode, tool), "{mode:?} {tool}");
        }
        for tool in [
            "Read",
            "Grep",
            "Glob",
            "MemoryRead",
            "MemoryWrite",
            "AskUser",
            "ActivateSkill",
            "RecallContext",
            "Think",
        ] {
            assert!(has(mode, tool), "{mode:?} {tool}");
        }
    }
    assert_eq!(names(Mode::Agent), names(Mode::Debug));
    assert!(has(Mode::Agent, "UpdatePlan") && has(Mode::Plan, "UpdatePlan") && !has(Mode::Ask, "UpdatePlan"));
    let refused = rig.call_in(Mode::Ask, "Bash", json!({ "command": "touch x" })).await;
    assert!(!refused.ok && refused.text.contains("not offered in mode ask"), "{}", refused.text);
}
