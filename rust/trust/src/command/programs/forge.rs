//! Requests to servers: `gh api`, `curl`, and the tools of clouds.

use koda_protocol::CommandClass::{Destructive, Mutating, Safe};

use crate::command::rules::Found;
use crate::command::words::Arg;

/// Returns the method of a request, upper case, if it is given; none inside if it is not known.
fn method(args: &[Arg], long: &str) -> Option<Option<String>> {
    let mut rest = args.iter();
    let mut method = None;
    while let Some(arg) = rest.next() {
        let value = if arg.is("-X") || arg.is(long) {
            rest.next().cloned()
        } else if let Some(value) = arg.text.strip_prefix(long).filter(|value| value.starts_with('=')) {
            Some(arg.after(arg.text.len() - value.len() + 1))
        } else if let Some(at) = cluster_end(&arg.text, 'X') {
            if at < arg.text.len() { Some(arg.after(at)) } else { rest.next().cloned() }
        } else {
            None
        };
        if let Some(value) = value {
            method = Some(value.fixed().then(|| value.text.to_uppercase()));
        }
    }
    method
}

/// Where the value of a short option begins in a word of short options without values before it.
fn cluster_end(word: &str, option: char) -> Option<usize> {
    let letters = word.strip_prefix('-')?;
    let at = letters.find(option)?;
    let before = letters.get(..at)?;
    before.chars().all(|c| "isSfgklLvVnN0146#jOR".contains(c)).then_some(at + 2)
}

/// `gh api` reads unless its method or fields say otherwise.
pub fn gh(args: &[Arg], found: &mut Found) {
    if !found.head.starts_with("gh api") {
        return;
    }
    match method(args, "--method") {
        Some(Some(method)) if method == "GET" || method == "HEAD" => {
            // With the method given, fields are only its query.
            found.class = Safe;
            found.reason = "gh api only reads".to_owned();
        }
        Some(Some(method)) if method != "DELETE" => {
            found.raise(Mutating, format!("{method} changes something"))
        }
        Some(_) => found.raise(Destructive, "deletes something"),
        None => {}
    }
}

/// `curl -X DELETE` is more than a download.
pub fn curl(args: &[Arg], found: &mut Found) {
    match method(args, "--request") {
        Some(Some(method)) if method != "DELETE" => {}
        Some(_) => found.raise(Destructive, "deletes something"),
        None => {}
    }
}

/// Tools of clouds say with a verb what they do.
pub fn cloud(args: &[Arg], found: &mut Found) {
    let destroys = [
        "delete",
        "terminate",
        "remove",
        "destroy",
        "purge",
        "rm",
        "rb",
        "stop",
        "deregister",
        "revoke",
        "release",
        "schedule-key-deletion",
        "detach",
        "reset",
        "disable",
        "wipe",
        "abandon",
        "drop",
        "del",
        "empty",
    ];
    let is = |verbs: &[&str], word: &str| {
        let word = word.strip_prefix("batch-").unwrap_or(word);
        verbs
            .iter()
            .any(|verb| word == *verb || word.strip_prefix(verb).is_some_and(|rest| rest.starts_with('-')))
    };
    let words: Vec<&str> = found.operands.iter().map(|arg| arg.text.as_str()).collect();
    let fixed = found.operands.iter().all(Arg::fixed);
    // `heroku pg:reset`
    let named = words.iter().flat_map(|word| word.split(':')).chain(found.head.split([' ', ':']));
    let mut named = named.chain(args.iter().map(|arg| arg.text.trim_start_matches("--")));
    if named.any(|word| is(&destroys, word)) {
        found.raise(Destructive, "deletes or stops something");
    } else if fixed
        && matches!(
            words.as_slice(),
            ["s3", "ls", ..] | ["account", "list" | "show"] | ["sts", "get-caller-identity"]
        )
    {
        found.class = Safe;
        found.reason = format!("{} only reads", found.head);
    }
}
