//! What an acceptance for longer than once covers. Never what is destructive, nor what concerns more than the project.

use koda_protocol::rule::Grant;
use koda_protocol::{CommandClass, Effect};

use crate::command::{self, Classified};
use crate::verdict::{Question, concerns};

/// Makes the grant that covers calls like this one; none where nothing may be granted.
pub fn like(question: &Question<'_>) -> Option<Grant> {
    if let Some(text) = question.command {
        let classified = command::classify(text);
        let fine = classified.class < CommandClass::Destructive && !classified.heads.is_empty();
        return (fine && !concerns(question)).then_some(Grant::Command { heads: classified.heads });
    }
    (question.effect == Effect::Mutate && !concerns(question))
        .then(|| Grant::Tool { tool: question.tool.to_owned() })
}

/// Whether a grant covers a call; `classified` is its command, if it has one.
pub(crate) fn covers(grant: &Grant, question: &Question<'_>, classified: Option<&Classified>) -> bool {
    if concerns(question) {
        return false;
    }
    match (grant, classified) {
        (Grant::Command { heads }, Some(classified)) => {
            classified.class < CommandClass::Destructive
                && !classified.heads.is_empty()
                && classified.heads.iter().all(|head| heads.contains(head))
        }
        (Grant::Tool { tool }, None) => *tool == question.tool && question.effect == Effect::Mutate,
        _ => false,
    }
}
