//! The verdict on a call: the strictest of trust, tool policy, path and command class.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use koda_protocol::rule::{Grant, Rule};
use koda_protocol::{CommandClass, Decision, Effect, ToolPolicy, Trust, Verdict};

use crate::command::{self, Classified};
use crate::grant;
use crate::ignored::IGNORE_FILES;
use crate::path::ResolvedPath;

/// Folders and files that hold credentials; reading one outside the project asks.
const CREDENTIALS: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".password-store",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    ".terraform.d",
    ".docker/config.json",
    ".config/gh",
    ".config/gcloud",
    ".config/op",
    ".config/doppler",
    ".config/heroku",
    ".config/netlify",
    ".config/stripe",
    ".config/vercel",
    ".config/fly",
    ".config/helm",
    ".config/rclone",
    ".config/sops",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".android",
    ".local/share/keyrings",
    "Library/Keychains",
    ".mozilla",
    ".config/google-chrome",
    "etc/shadow",
    "etc/gshadow",
    "etc/sudoers",
    "etc/ssh",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];

/// What the names of files with keys in them end in.
const KEY_FILES: &[&str] = &["pem", "key", "p12", "pfx", "kdbx", "jks", "keystore", "gpg", "ppk"];

/// Where everybody may write; commands use them as they like.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/private/var/folders"];

/// A path that a call reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Where, as it will be opened.
    pub path: ResolvedPath,
    /// Whether it is written, created or deleted there.
    pub write: bool,
}

/// What a call wants to do.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Canonical name of the tool.
    pub tool: &'a str,
    /// What the tool does to the world.
    pub effect: Effect,
    /// The command, of tools that run one.
    pub command: Option<&'a str>,
    /// The paths that it touches.
    pub touches: &'a [Touch],
}

/// Who may do what, in one session.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Who approves.
    pub trust: Trust,
    /// The user's setting for single tools, by canonical name.
    pub tools: BTreeMap<String, ToolPolicy>,
    /// What the user accepted for longer than once.
    pub granted: Vec<Grant>,
    /// The rules that last and hold in the project.
    pub rules: Vec<Rule>,
    /// Why the rules that last are not known, if so: then one may deny what else would be allowed.
    pub rules_unknown: Option<String>,
    /// Whether this is a sub-agent, which has nobody to ask.
    pub sub_agent: bool,
    /// Whether the system has nothing that confines commands: then changes by commands are asked for.
    pub no_sandbox: bool,
}

impl Policy {
    /// Returns the rule that would allow a call.
    fn allowing(&self, question: &Question<'_>, classified: Option<&Classified>) -> Option<&Rule> {
        let allows = |rule: &&Rule| !rule.deny && grant::covers(&rule.what, question, classified);
        self.rules.iter().find(allows)
    }
}

/// Judges a call.
pub fn judge(policy: &Policy, question: &Question<'_>) -> Verdict {
    let classified = question.command.map(command::classify);
    let mut verdict = by_trust(policy.trust, question, classified.as_ref());
    if policy.no_sandbox
        && question.effect == Effect::Command
        && kind(question, classified.as_ref()) == Kind::Mutating
    {
        raise(&mut verdict, Decision::Ask, "nothing confines commands on this system".to_owned());
    }
    by_path(&mut verdict, policy.trust, question);
    by_policy(&mut verdict, policy, question);
    by_denial(&mut verdict, policy, question, classified.as_ref());
    by_grant(&mut verdict, policy, question, classified.as_ref());
    if verdict.decision == Decision::Ask {
        verdict.always = grant::like(question).map(|grant| grant.shown());
    }
    if policy.sub_agent {
        without_a_human(&mut verdict, question);
    }
    if let Some(classified) = classified {
        verdict.class = Some(classified.class);
        verdict.parts = classified.parts;
    }
    verdict
}

/// The kinds of call that the matrix knows.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Free,
    Question,
    Mutating,
    Destructive,
}

fn kind(question: &Question<'_>, classified: Option<&Classified>) -> Kind {
    match question.effect {
        Effect::Read | Effect::Network | Effect::Internal | Effect::Agent => Kind::Free,
        Effect::Interactive => Kind::Question,
        Effect::Mutate => Kind::Mutating,
        Effect::Destroy => Kind::Destructive,
        Effect::Command => match classified.map(|classified| classified.class) {
            Some(CommandClass::Safe) => Kind::Free,
            Some(CommandClass::Mutating) => Kind::Mutating,
            // A command that is not there can't be judged.
            Some(CommandClass::Destructive) | None => Kind::Destructive,
        },
    }
}

fn verdict(decision: Decision, reason: impl Into<String>) -> Verdict {
    Verdict {
        decision,
        class: None,
        reasons: vec![reason.into()],
        parts: Vec::new(),
        rule: None,
        always: None,
    }
}

/// The matrix of trust by kind of call.
fn by_trust(trust: Trust, question: &Question<'_>, classified: Option<&Classified>) -> Verdict {
    let tool = question.tool;
    match (kind(question, classified), trust) {
        (Kind::Free, _) => verdict(Decision::Allow, format!("{tool} changes nothing")),
        (Kind::Question, _) => verdict(Decision::Ask, "it is a question to you"),
        (_, Trust::Plan) => verdict(Decision::Deny, format!("trust is plan: {tool} would change something")),
        (Kind::Mutating, Trust::Safe) => verdict(Decision::Ask, "trust is safe: changes are asked for"),
        (Kind::Mutating, Trust::Auto) => verdict(Decision::Allow, "trust is auto: changes in the project go"),
        (Kind::Destructive, Trust::Safe | Trust::Auto) => {
            verdict(Decision::Ask, format!("{tool} may destroy what does not come back"))
        }
    }
}

/// Raises a verdict; the reason goes first.
fn raise(verdict: &mut Verdict, decision: Decision, reason: String) {
    if decision > verdict.decision {
        verdict.decision = decision;
        verdict.reasons.insert(0, reason);
    } else {
        verdict.reasons.push(reason);
    }
}

fn by_path(verdict: &mut Verdict, trust: Trust, question: &Question<'_>) {
    for touch in question.touches {
        let shown = touch.path.shown();
        if let Some(file) = touch.path.hidden_by() {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            raise(verdict, Decision::Deny, format!("{shown} is hidden by {file}"));
        } else if let Some(why) = concern(question, touch) {
            let denied = touch.write && trust == Trust::Plan;
            raise(verdict, if denied { Decision::Deny } else { Decision::Ask }, format!("{shown} {why}"));
        }
    }
}

/// Why a path must be asked for whatever the trust, if it must.
fn concern(question: &Question<'_>, touch: &Touch) -> Option<&'static str> {
    let path = touch.path.as_path();
    if !touch.write {
        if question.command.is_some() && IGNORE_FILES.iter().any(|name| path.ends_with(name)) {
            return Some("says what is hidden, and the command may read some of that");
        }
        return (!touch.path.inside() && holds_credentials(path)).then_some("holds credentials");
    }
    if !touch.path.inside() {
        let temporary = question.command.is_some() && TEMPORARY.iter().any(|folder| path.starts_with(folder));
        return (!temporary).then_some("is outside the project");
    }
    let has = |names: &[&str]| names.iter().any(|name| contains(path, name));
    // Notes tell what is so, not what Koda may do; other tools may not write them unasked.
    if question.tool == "MemoryWrite" && has(&[".koda/memories"]) {
        return None;
    }
    if has(&IGNORE_FILES) || has(&[".koda", "koda/rules.json"]) {
        return Some("says what Koda may do");
    }
    has(&[".git"]).then_some("is Git's own: what is in it may run programs")
}

/// Whether a path outside the project is one of those that hold credentials.
pub fn holds_credentials(path: &Path) -> bool {
    let kind = path.extension().filter(|kind| KEY_FILES.iter().any(|known| kind.eq_ignore_ascii_case(known)));
    let system = ["/usr", "/etc/ssl/certs", "/opt", "/nix"];
    let public = system.iter().any(|folder| path.starts_with(folder));
    (kind.is_some() && !public) || CREDENTIALS.iter().any(|name| contains(path, name))
}

/// Returns where below the user's home credentials usually lie.
pub fn credentials(home: &Path) -> Vec<PathBuf> {
    CREDENTIALS.iter().map(|name| home.join(name)).collect()
}

/// Whether a path has these names in it, one after another, in any case: some file systems know none.
fn contains(path: &Path, names: &str) -> bool {
    let names: Vec<&str> = names.split('/').collect();
    let parts: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
    let same =
        |parts: &[&OsStr]| parts.iter().zip(&names).all(|(part, name)| part.eq_ignore_ascii_case(name));
    parts.windows(names.len()).any(same)
}

/// Whether something about its paths must be asked for.
pub(crate) fn concerns(question: &Question<'_>) -> bool {
    question.touches.iter().any(|touch| concern(question, touch).is_some())
}

fn by_policy(verdict: &mut Verdict, policy: &Policy, question: &Question<'_>) {
    match policy.tools.get(question.tool) {
        Some(ToolPolicy::Off) => {
            raise(verdict, Decision::Deny, format!("{} is switched off", question.tool));
            verdict.rule = Some(format!("tools.{} = off", question.tool));
        }
        Some(ToolPolicy::Ask) => {
            raise(verdict, Decision::Ask, format!("{} always asks", question.tool));
            verdict.rule = Some(format!("tools.{} = ask", question.tool));
        }
        Some(ToolPolicy::Auto) | None => {}
    }
}

/// A grant turns an ask into an allow, unless a setting of the user demands the ask.
fn by_grant(
    verdict: &mut Verdict,
    policy: &Policy,
    question: &Question<'_>,
    classified: Option<&Classified>,
) {
    if verdict.decision != Decision::Ask || verdict.rule.is_some() {
        return;
    }
    if let Some(grant) = policy.granted.iter().find(|grant| grant::covers(grant, question, classified)) {
        let shown = format!("accepted for the session: {}", grant.shown());
        verdict.decision = Decision::Allow;
        verdict.reasons.insert(0, shown.clone());
        verdict.rule = Some(shown);
    } else if let Some(rule) = policy.allowing(question, classified) {
        verdict.decision = Decision::Allow;
        verdict.reasons.insert(0, rule.shown());
        verdict.rule = Some(rule.shown());
    }
}

/// A rule that denies beats everything else.
fn by_denial(
    verdict: &mut Verdict,
    policy: &Policy,
    question: &Question<'_>,
    classified: Option<&Classified>,
) {
    let denies = |rule: &&Rule| match (&rule.what, classified) {
        (Grant::Command { heads }, Some(classified)) => {
            classified.parts.iter().any(|part| heads.iter().any(|head| begins_with(&part.text, head)))
        }
        (Grant::Tool { tool }, _) => tool == question.tool,
        _ => false,
    };
    if let Some(rule) = policy.rules.iter().filter(|rule| rule.deny).find(denies) {
        raise(verdict, Decision::Deny, rule.shown());
        verdict.rule = Some(rule.shown());
    }
    let reaches_out = !matches!(question.effect, Effect::Internal | Effect::Interactive);
    if let Some(why) = policy.rules_unknown.as_ref().filter(|_| reaches_out) {
        raise(verdict, Decision::Ask, format!("the rules that last can't be read ({why})"));
    }
}

/// Whether a command begins with these words.
fn begins_with(text: &str, head: &str) -> bool {
    let mut words = text.split_whitespace();
    head.split_whitespace().all(|word| words.next() == Some(word))
}

/// What would ask is allowed if it only changes the project, else refused.
fn without_a_human(verdict: &mut Verdict, question: &Question<'_>) {
    if verdict.decision != Decision::Ask {
        return;
    }
    let mutating = matches!(question.effect, Effect::Mutate)
        || question.command.is_some_and(|text| command::classify(text).class == CommandClass::Mutating);
    if mutating && !concerns(question) && verdict.rule.is_none() {
        verdict.decision = Decision::Allow;
    } else {
        raise(verdict, Decision::Deny, "a sub-agent has nobody to ask".to_owned());
    }
}

#[cfg(test)]
mod tests;
