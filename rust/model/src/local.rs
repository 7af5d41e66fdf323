//! Servers on this machine: who answers at the usual ports, and with which models.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::models::Inner;
use crate::provider::LLAMA_CPP;

/// A local server answers at once or is not there.
const PATIENCE: Duration = Duration::from_millis(500);

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocalServer {
    /// What stands before `::` in its models' names.
    pub provider: String,
    /// Its base address.
    pub endpoint: String,
    /// Its models, `provider::model`.
    pub models: Vec<String>,
}

/// Asks both servers at once.
pub(crate) async fn servers(inner: &Inner) -> Vec<LocalServer> {
    let set = &inner.settings.local;
    let ollama = ask(inner, "ollama", &set.ollama, "/api/tags", |body| names(body, "/models", "name"));
    let llama = ask(inner, LLAMA_CPP, &set.llama_cpp, "/v1/models", |body| names(body, "/data", "id"));
    let (ollama, llama) = tokio::join!(ollama, llama);
    [ollama, llama].into_iter().flatten().collect()
}

async fn ask(
    inner: &Inner,
    provider: &str,
    endpoint: &str,
    path: &str,
    models: impl Fn(&Value) -> Option<Vec<String>>,
) -> Option<LocalServer> {
    let endpoint = endpoint.trim_end_matches('/');
    let client = inner.http.client(endpoint).ok()?;
    let asked = async {
        let reply = client.get(format!("{endpoint}{path}")).send().await.ok()?;
        reply.error_for_status().ok()?.json::<Value>().await.ok()
    };
    // Something else may listen there; only the right shape counts.
    let body = tokio::time::timeout(PATIENCE, asked).await.ok()??;
    let models = models(&body)?.into_iter().map(|model| format!("{provider}::{model}")).collect();
    Some(LocalServer { provider: provider.to_owned(), endpoint: endpoint.to_owned(), models })
}

fn names(body: &Value, list: &str, field: &str) -> Option<Vec<String>> {
    let list = body.pointer(list)?.as_array()?;
    list.iter().map(|item| item.get(field)?.as_str().map(str::to_owned)).collect()
}
