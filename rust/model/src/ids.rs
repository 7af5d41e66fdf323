//! Call ids in the form that a provider takes, the same on the call and on its result.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use genai::adapter::AdapterKind;

/// What is accepted by OpenAI, which is the narrowest of those that take any length.
const LONGEST: usize = 40;
/// What Mistral wants exactly.
const MISTRAL: usize = 9;

/// Rewrites ids within one request.
///
/// The same history gives the same ids, so that a provider's cache of the prefix holds.
pub(crate) struct Ids {
    mistral: bool,
    given: HashMap<String, String>,
    used: HashSet<String>,
}

impl Ids {
    pub(crate) fn new(kind: AdapterKind) -> Self {
        Self { mistral: kind == AdapterKind::Mistral, given: HashMap::new(), used: HashSet::new() }
    }

    /// Returns the id to send for `id`.
    pub(crate) fn sent(&mut self, id: &str) -> String {
        if let Some(sent) = self.given.get(id) {
            return sent.clone();
        }
        let mut sent = if self.fits(id) { id.to_owned() } else { self.made(id, 0) };
        let mut salt = 1;
        while self.used.contains(&sent) {
            sent = self.made(id, salt);
            salt += 1;
        }
        self.used.insert(sent.clone());
        self.given.insert(id.to_owned(), sent.clone());
        sent
    }

    fn fits(&self, id: &str) -> bool {
        if self.mistral {
            return id.len() == MISTRAL && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        !id.is_empty() && id.len() <= LONGEST && id.bytes().all(plain)
    }

    fn made(&self, id: &str, salt: u32) -> String {
        let mut hasher = DefaultHasher::new();
        (id, salt).hash(&mut hasher);
        let hash = format!("{:016x}", hasher.finish());
        if self.mistral { hash.chars().take(MISTRAL).collect() } else { format!("call_{hash}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_rewritten_alike_unique_and_only_where_they_must() {
        let long = "x".repeat(90);
        let longer = format!("{long}y");
        for kind in [AdapterKind::OpenAI, AdapterKind::Mistral] {
            let mut ids = Ids::new(kind);
            let all = ["toolu_01AbC", "call:1", "", &long, &longer, "abcdefghi", "ä"];
            let sent: Vec<String> = all.iter().map(|id| ids.sent(id)).collect();
            let again: Vec<String> = all.iter().map(|id| ids.sent(id)).collect();
            assert_eq!(sent, again);
            assert_eq!(sent.iter().collect::<HashSet<_>>().len(), all.len());
            assert!(sent.iter().all(|id| ids.fits(id)), "{sent:?}");
            assert_eq!(sent[5], "abcdefghi");
        }
        assert_eq!(Ids::new(AdapterKind::Anthropic).sent("toolu_01AbC"), "toolu_01AbC");
    }
}
