//! Koda against a real, small model on llama.cpp's server, in each form that the server speaks. Run by
//! `make test-real`, which fetches both (`scripts/get-llama`) and hands their folder over as `KODA_TEST_LLAMA`.
//!
//! The model has no sense to speak of: the server's template (`tests/real/chat-template.jinja`) shows it worked
//! examples of the request's own tools, so that `Call NAME with PARAM=VALUE` makes it do that.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use koda_tests::{Exit, Finished, Headless, Opening, Place, Process, root};
use serde_json::{Value, json};

/// The forms, by the adapters of the settings.
const FORMS: [&str; 3] = ["openai", "openai_resp", "anthropic"];
/// Two busy cores read a few hundred tokens a second at best.
const PATIENCE: Duration = Duration::from_secs(180);

/// A running server. Ended when dropped.
struct Llama {
    _process: Process,
    log: Receiver<String>,
    address: String,
}

impl Llama {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let folder = std::env::var_os("KODA_TEST_LLAMA").map(PathBuf::from);
        let folder =
            folder.expect("KODA_TEST_LLAMA names the folder of scripts/get-llama: run make test-real");
        let mut command = place.command(folder.join("llama-server"), &place.path());
        command.arg("--model").arg(folder.join("model.gguf"));
        command.arg("--chat-template-file").arg(root().join("tests/real/chat-template.jinja"));
        // Waiting threads that spin take the processors from the test; without a temperature a run repeats.
        command.args(["--alias", "small", "--host", "127.0.0.1", "--port", "0", "--offline", "--no-ui"]);
        command.args(["-np", "1", "-t", "2", "--poll", "0", "--temp", "0"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let (process, pipe) = Process::start(command, |child| child.stderr.take());
        let (sender, log) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(pipe.expect("the pipe was asked for")).lines();
            lines.map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let mut llama = Self { _process: process, log, address: String::new() };
        let listening = llama.wait_log("listening on http://");
        let (_, address) = listening.split_once("listening on ").expect("it stands there");
        llama.address = address.trim().to_owned();
        llama
    }

    /// Waits for a line of the log with this text. The lines before it are gone then.
    fn wait_log(&self, text: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.log.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(problem) => panic!("no {text:?} ({problem}) in the server's log:\n{}", seen.join("\n")),
            }
        }
    }

    fn settings(&self, form: &str, more: &Value) -> Value {
        let provider = json!({
            "endpoint": format!("{}/v1", self.address),
            "adapter": form,
            "key_command": "echo the-right-key",
        });
        let mut settings =
            json!({ "model": "real::small", "trust": "auto", "providers": { "real": provider } });
        for (name, value) in more.as_object().expect("settings are an object") {
            settings[name] = value.clone();
        }
        settings
    }

    fn run(&self, form: &str, more: &Value, prompt: &str) -> Finished {
        let place = Place::new();
        let project = place.project(&[("notes.txt", "12 passed; 0 failed\n")]);
        let settings = self.settings(form, more);
        let run =
            Headless::with_settings(&place, &project, &settings, &[&format!("+Koda run --json -- {prompt}")]);
        let run = run.finish_within(PATIENCE);
        assert!(!run.output.contains("-right-key") && !place.logs().contains("-right-key"), "the key leaks");
        run
    }
}

/// Joins the texts of events of a type.
fn texts(run: &Finished, kind: &str) -> String {
    run.events_of(kind).iter().filter_map(|event| event["text"].as_str()).collect()
}

fn error(run: &Finished) -> Value {
    let errors = run.events_of("error");
    errors.last().unwrap_or_else(|| panic!("no error in:\n{}", run.output))["error"].clone()
}

#[test]
#[ignore = "needs llama.cpp's server: make test-real"]
fn a_call_goes_out_and_its_result_comes_back_in_each_form() {
    let place = Place::new();
    let llama = Llama::start(&place, &["-c", "8192", "-n", "200"]);
    for form in FORMS {
        let run = llama.run(form, &json!({}), "Call Read with path=notes.txt");
        assert_eq!(run.exit, Exit::Code(0), "{form}: {}\n{}", run.output, run.problem);
        let calls = run.events_of("tool_call");
        assert_eq!(calls.len(), 1, "{form}: {calls:?}");
        assert_eq!((&calls[0]["tool"], &calls[0]["args"]), (&json!("Read"), &json!({ "path": "notes.txt" })));
        let forming = run.events_of("call_forming");
        assert!(forming.len() > 1, "{form}: the call forms piece by piece: {forming:?}");
        assert!(
            forming.iter().all(|event| event["id"] == calls[0]["id"] && event["tool"] == "Read"),
            "{form}"
        );
        assert_eq!(run.events_of("tool_result")[0]["ok"], true, "{form}");
        assert_eq!(texts(&run, "text_delta"), "12 passed; 0 failed", "{form}");
        let usage = &run.events_of("turn_end")[0]["usage"];
        assert!(
            usage["input"].as_u64() > Some(300) && usage["output"].as_u64() > Some(20),
            "{form}: {usage}"
        );
        assert!(
            usage["cached"].as_u64() > Some(200),
            "{form}: the second step reads the first from cache: {usage}"
        );
    }
}

#[test]
#[ignore = "needs llama.cpp's server: make test-real"]
fn reasoning_streams_before_the_call_in_each_form() {
    let place = Place::new();
    let llama =
        Llama::start(&place, &["-c", "8192", "-n", "200", "--chat-template-kwargs", "{\"think\":true}"]);
    for form in FORMS {
        // A second step would be a thought about a thought, which this model can't.
        let run = llama.run(form, &json!({ "max_steps": 1 }), "Call Read with path=notes.txt");
        let thought = texts(&run, "reasoning_delta");
        assert!(thought.contains("notes.txt"), "{form}: {thought:?} in:\n{}", run.output);
        assert!(run.events_of("reasoning_delta").len() > 1, "{form}: it streams:\n{}", run.output);
        let calls = run.events_of("tool_call");
        assert_eq!(calls[0]["args"], json!({ "path": "notes.txt" }), "{form}");
        assert!(!texts(&run, "text_delta").contains("think>"), "{form}:\n{}", run.output);
    }
}

#[test]
#[ignore = "needs llama.cpp's server: make test-real"]
fn a_wrong_key_is_refused_and_named_in_each_form() {
    let place = Place::new();
    let llama = Llama::start(&place, &["-c", "512", "--api-key", "another-key"]);
    for form in FORMS {
        let run = llama.run(form, &json!({}), "Hello");
        assert_eq!(run.exit, Exit::Code(1), "{form}: {}\n{}", run.output, run.problem);
        let error = error(&run);
        assert_eq!(error["code"], "model_auth", "{form}: {error}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("echo")), "{form}: {error}");
        assert_eq!(run.events_of("retry").len(), 0, "{form}");
    }
}

#[test]
#[ignore = "needs llama.cpp's server: make test-real"]
fn a_prompt_over_the_context_says_so_in_each_form() {
    let place = Place::new();
    let llama = Llama::start(&place, &["-c", "512", "-n", "50"]);
    // The template keeps 400 characters, each of which is several tokens to this model.
    let prompt = "ቋንቋ".repeat(150);
    for form in FORMS {
        let run = llama.run(form, &json!({}), &prompt);
        assert_eq!(run.exit, Exit::Code(1), "{form}: {}\n{}", run.output, run.problem);
        let error = error(&run);
        assert_eq!(error["code"], "model_too_long", "{form}: {error}");
    }
}

#[test]
#[ignore = "needs llama.cpp's server: make test-real"]
fn a_stop_ends_the_generation_on_the_server_in_each_form() {
    let server_place = Place::new();
    let llama = Llama::start(&server_place, &["-c", "8192", "--ignore-eos"]);
    for form in FORMS {
        let place = Place::new();
        let project = place.project(&[]);
        let editor = Opening::new(&place, &project).open();
        editor.setup(&llama.settings(form, &json!({})));
        editor.lua(
            "seen = {}
            handle = require('koda').run({ prompt = 'Hello', on_event = function(event) seen[event.type] = event end })",
            &[],
        );
        editor.until("return seen.text_delta ~= nil", &[]);
        editor.lua("handle:cancel()", &[]);
        llama.wait_log("cancel task");
        editor.until("return seen.turn_end ~= nil", &[]);
        assert_eq!(editor.lua("return seen.turn_end.outcome", &[]), "cancelled", "{form}");
    }
}
