//! What providers offer: asked over a real connection, kept in a file.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use koda_model::testing::{Reply, Server};
use koda_model::{Listing, Models, PriceSettings};
use koda_protocol::port::ModelErrorKind;
use serde_json::json;

fn openai_list() -> Reply {
    let pricing = json!({ "prompt": "0.000002", "completion": "0.00001", "input_cache_read": "0.0000005" });
    Reply::json(
        200,
        &json!({ "object": "list", "data": [
        { "id": "coder-large", "context_length": 131072, "pricing": pricing },
        { "id": "coder-small", "meta": { "n_ctx": 4096 } },
        { "id": "auto", "pricing": { "prompt": "-1", "completion": "-1" } },
    ] }),
    )
}

fn of<'a>(listings: &'a [Listing], provider: &str) -> &'a Listing {
    listings.iter().find(|listing| listing.provider == provider).expect("it was asked")
}

#[tokio::test]
async fn names_sizes_and_prices_are_read_in_each_form() {
    let server = Server::answering(|_, received| {
        assert_eq!(received.method, "GET");
        match (received.header("authorization"), received.header("x-api-key")) {
            (Some(bearer), None) => {
                assert_eq!(
                    (received.path.as_str(), bearer),
                    ("/v1/models", format!("Bearer {KEY}").as_str())
                );
                openai_list()
            }
            (None, Some(key)) => {
                assert_eq!((received.path.as_str(), key), ("/v1/models?limit=1000", KEY));
                assert!(received.header("anthropic-version").is_some());
                Reply::json(
                    200,
                    &json!({ "data": [{ "type": "model", "id": "scripted", "max_input_tokens": 1000 }] }),
                )
            }
            other => panic!("{other:?}"),
        }
    });
    let mut settings = settings(&server.address());
    let own = PriceSettings { context: Some(9), ..PriceSettings::default() };
    settings.prices.insert("chat::coder-small".to_owned(), own);
    let listings = Models::new(settings).listings(true).await;
    let chat = of(&listings, "chat");
    let names: Vec<&str> = chat.models.iter().map(|offered| offered.model.as_str()).collect();
    assert_eq!(names, ["chat::auto", "chat::coder-large", "chat::coder-small"]);
    let rates = chat.models[1].facts.price.unwrap().rates;
    assert!((rates.input - 2.0).abs() < 1e-9 && (rates.output - 10.0).abs() < 1e-9);
    assert!((rates.cached.unwrap() - 0.5).abs() < 1e-9);
    let sizes: Vec<Option<u64>> = chat.models.iter().map(|offered| offered.facts.context).collect();
    assert_eq!(sizes, [None, Some(131_072), Some(9)], "the user's own number comes first");
    assert_eq!(chat.models[0].facts.price, None);
    assert_eq!(of(&listings, "claude").models[0].facts.context, Some(1000));
}

#[tokio::test]
async fn lists_are_kept_for_other_neovims_and_nobody_is_asked_again() {
    let server = Server::answering(|_, _| openai_list());
    let folder = tempfile::tempdir().unwrap();
    let build = || {
        let mut settings = settings(&server.address());
        settings.providers.retain(|name, _| name == "chat");
        settings.cache_dir = Some(folder.path().join("koda"));
        Models::new(settings)
    };
    assert_eq!(build().listings(false).await[0].models, [], "nobody was asked yet");
    assert_eq!(server.requests().len(), 0);
    let first = build().listings(true).await;
    assert_eq!(build().listings(true).await, first);
    assert_eq!(build().listings(false).await, first);
    assert_eq!(server.requests().len(), 1);
    let text = std::fs::read_to_string(folder.path().join("koda/models.json")).unwrap();
    assert!(text.contains("coder-large") && !text.contains(KEY));

    std::fs::write(folder.path().join("koda/models.json"), "{ torn").unwrap();
    assert_eq!(build().listings(true).await, first);
}

#[tokio::test]
async fn a_provider_that_can_not_be_asked_says_why() {
    let server =
        Server::answering(|_, _| Reply::json(401, &json!({ "error": { "message": format!("bad {KEY}") } })));
    let listings = Models::new(settings(&server.address())).listings(true).await;
    for listing in &listings {
        let problem = listing.problem.as_ref().unwrap();
        assert!(problem.contains("401") && !problem.contains(KEY), "{problem}");
    }
    let page = Server::answering(|_, _| Reply::new(200, "text/html", "<html>login</html>"));
    let listings = Models::new(settings(&page.address())).listings(true).await;
    assert!(of(&listings, "chat").problem.is_some());
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told_with_the_nearest_names() {
    let server = Server::answering(|_, received| match received.method.as_str() {
        "GET" => openai_list(),
        _ => Reply::json(404, &json!({ "error": { "message": "no such model" } })),
    });
    let (_, error) = collect(&models(&server.address()), hello("chat::coder-lage")).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::UnknownModel);
    assert!(error.hint.as_ref().unwrap().contains("coder-large, coder-small"), "{error:?}");
}
