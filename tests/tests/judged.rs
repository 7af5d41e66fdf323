//! What Koda sends, judged by the providers' own Python libraries. `KODA_TEST_JUDGES` names a Python that has them
//! (`scripts/get-judges`); `make test` looks for one.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use futures::StreamExt;
use koda_model::testing::{Reply, Server, Turn, anthropic, gemini, histories, openai, responses};
use koda_model::{ModelSettings, Models, ProviderSettings};
use koda_protocol::Mode;
use koda_protocol::port::{Model, ModelRequest};
use koda_tests::{Place, root};
use koda_tools::Registry;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Wires by the names that `judge.py` knows, with their adapter and an answer.
type Wire = (&'static str, &'static str, fn(&Turn) -> Vec<u8>);
const WIRES: [Wire; 4] = [
    ("OpenAi", "openai", openai::stream),
    ("Responses", "openai_resp", responses::stream),
    ("Anthropic", "anthropic", anthropic::stream),
    ("Gemini", "gemini", gemini::stream),
];

/// Sends generated conversations with all options there are, and returns what was sent, a request a line.
async fn sent(wire: Wire, count: u64) -> String {
    let (name, adapter, stream) = wire;
    let answer = stream(&Turn::new().text("fine"));
    let server = Server::answering(move |_, _| Reply::sse(answer.clone()));
    let mut settings = ModelSettings::new(|_| None);
    let provider = ProviderSettings {
        endpoint: Some(server.address()),
        adapter: Some(adapter.to_owned()),
        ..ProviderSettings::default()
    };
    settings.providers.insert("judged".to_owned(), provider);
    for effort in ["none", "minimal", "low", "medium", "high", "max"] {
        let options = json!({ "effort": effort, "max_tokens": 1000 });
        settings.options.insert(format!("judged::{effort}"), serde_json::from_value(options).unwrap());
    }
    let models = Models::new(settings);
    let names = ["plain", "none", "minimal", "low", "medium", "high", "max"];
    for seed in 0..count {
        let at = usize::try_from(seed).unwrap();
        let request = ModelRequest {
            model: format!("judged::{}", names[at % names.len()]),
            system: "You are judged.".to_owned(),
            messages: histories::history(seed),
            tools: if seed % 5 == 0 { Vec::new() } else { Registry::standard().specs(Mode::Agent) },
            cancel: CancellationToken::new(),
        };
        let events: Vec<_> = models.stream(request).await.expect("it is sent").collect().await;
        assert!(events.iter().all(Result::is_ok), "{name} {seed}: {events:?}");
    }
    let mut lines = String::new();
    for received in server.requests() {
        writeln!(lines, "{}", json!({ "wire": name, "body": received.json() })).unwrap();
    }
    lines
}

#[tokio::test]
#[ignore = "needs the providers' Python libraries: scripts/get-judges"]
async fn the_providers_own_types_accept_whatever_is_sent() {
    let python = std::env::var_os("KODA_TEST_JUDGES").map(PathBuf::from);
    let python = python.expect("KODA_TEST_JUDGES names the Python of scripts/get-judges");
    let place = Place::new();
    let mut lines = String::new();
    for wire in WIRES {
        lines.push_str(&sent(wire, 300).await);
    }
    let file = place.write("sent.jsonl", lines);
    let output = Command::new(python).arg(root().join("tests/judge/judge.py")).arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{problem}");
}
