//! The verdict: the matrix, and who wins over whom.

use super::*;
use crate::path::Resolver;

fn decide(trust: Trust, effect: Effect, command: Option<&str>, path: Option<&str>) -> Decision {
    let policy = Policy { trust, ..Policy::default() };
    judge(&policy, &question(effect, command, &touches(path))).decision
}

fn touches(path: Option<&str>) -> Vec<Touch> {
    let root = Path::new("/project");
    let resolve = |path| Resolver::new(root).resolve(path, root).unwrap();
    path.into_iter().map(|path| Touch { path: resolve(path), write: true }).collect()
}

fn question<'a>(effect: Effect, command: Option<&'a str>, touches: &'a [Touch]) -> Question<'a> {
    Question { tool: "Tool", effect, command, touches }
}

#[test]
fn the_matrix_holds() {
    use Decision::{Allow, Ask, Deny};
    let rows = [
        (Effect::Read, None, None, [Allow, Allow, Allow]),
        (Effect::Internal, None, None, [Allow, Allow, Allow]),
        (Effect::Agent, None, None, [Allow, Allow, Allow]),
        (Effect::Command, Some("ls"), None, [Allow, Allow, Allow]),
        (Effect::Interactive, None, None, [Ask, Ask, Ask]),
        (Effect::Mutate, None, Some("a"), [Deny, Ask, Allow]),
        (Effect::Command, Some("touch a"), None, [Deny, Ask, Allow]),
        (Effect::Destroy, None, Some("a"), [Deny, Ask, Ask]),
        (Effect::Command, Some("rm a"), None, [Deny, Ask, Ask]),
        (Effect::Mutate, None, Some("/other/a"), [Deny, Ask, Ask]),
    ];
    for (effect, command, path, right) in rows {
        let trusts = [Trust::Plan, Trust::Safe, Trust::Auto];
        let got = trusts.map(|trust| decide(trust, effect, command, path));
        assert_eq!(got, right, "{effect:?} {command:?} {path:?}");
    }
}

#[test]
fn a_setting_beats_trust_and_grants() {
    let tools = BTreeMap::from([("Tool".to_owned(), ToolPolicy::Off)]);
    let off = Policy { trust: Trust::Auto, tools, ..Policy::default() };
    assert_eq!(judge(&off, &question(Effect::Read, None, &[])).decision, Decision::Deny);

    let inside = touches(Some("a"));
    let edit = question(Effect::Mutate, None, &inside);
    let granted = vec![grant::like(&edit).unwrap()];
    let mut policy = Policy { granted, ..Policy::default() };
    assert_eq!(judge(&policy, &edit).decision, Decision::Allow);
    policy.tools.insert("Tool".to_owned(), ToolPolicy::Ask);
    assert_eq!(judge(&policy, &edit).decision, Decision::Ask);
}

#[test]
fn a_grant_covers_every_part_or_nothing() {
    let fmt = question(Effect::Command, Some("cargo fmt"), &[]);
    let policy = Policy { granted: vec![grant::like(&fmt).unwrap()], ..Policy::default() };
    let decide = |text| judge(&policy, &question(Effect::Command, Some(text), &[])).decision;
    assert_eq!(decide("cargo fmt -p x"), Decision::Allow);
    assert_eq!(decide("cargo fmt && touch x"), Decision::Ask);
    assert_eq!(decide("cargo fmt; rm x"), Decision::Ask);
    assert_eq!(decide("cargo fmt > x"), Decision::Ask);
    assert!(grant::like(&question(Effect::Command, Some("rm x"), &[])).is_none());
}

#[test]
fn what_a_rule_might_deny_is_asked_for_while_the_rules_are_unknown() {
    let policy = Policy { trust: Trust::Auto, rules_unknown: Some("broken".to_owned()), ..Policy::default() };
    let ask = judge(&policy, &question(Effect::Command, Some("ls"), &[]));
    assert_eq!(ask.decision, Decision::Ask);
    assert!(ask.reasons[0].contains("broken"), "{:?}", ask.reasons);
    assert_eq!(judge(&policy, &question(Effect::Internal, None, &[])).decision, Decision::Allow);
}

#[test]
fn notes_are_a_change_like_any_other_for_the_tool_that_writes_them() {
    let inside = touches(Some(".koda/memories/memory.md"));
    let decide = |tool, trust| {
        let question = Question { tool, ..question(Effect::Mutate, None, &inside) };
        judge(&Policy { trust, ..Policy::default() }, &question).decision
    };
    assert_eq!(decide("MemoryWrite", Trust::Auto), Decision::Allow);
    assert_eq!(decide("MemoryWrite", Trust::Safe), Decision::Ask);
    assert_eq!(decide("MemoryWrite", Trust::Plan), Decision::Deny);
    assert_eq!(decide("Write", Trust::Auto), Decision::Ask);
}

#[test]
fn a_rule_that_denies_beats_one_that_allows_and_trust() {
    let rule = |id, deny, head: &str| {
        let what = Grant::Command { heads: vec![head.to_owned()] };
        let (created, last_use) = (koda_protocol::UnixMillis(0), None);
        Rule { id, project: None, deny, what, created, uses: 0, last_use }
    };
    let rules = vec![rule(1, false, "cargo fmt"), rule(2, true, "cargo publish"), rule(3, true, "cat")];
    let decide = |trust, text| {
        let policy = Policy { trust, rules: rules.clone(), ..Policy::default() };
        judge(&policy, &question(Effect::Command, Some(text), &[]))
    };
    let allowed = decide(Trust::Safe, "cargo fmt --all");
    assert_eq!(
        (allowed.decision, allowed.rule.as_deref()),
        (Decision::Allow, Some("rule 1: allow cargo fmt"))
    );
    assert_eq!(decide(Trust::Plan, "cargo fmt --all").decision, Decision::Deny);
    assert_eq!(decide(Trust::Auto, "cargo fmt && cargo publish -p x").decision, Decision::Deny);
    assert_eq!(decide(Trust::Auto, "ls | cat").decision, Decision::Deny, "also what is safe");
    assert_eq!(decide(Trust::Safe, "cargo fmt && rm x").decision, Decision::Ask);
}

#[test]
fn a_sub_agent_never_does_what_would_destroy_or_leave() {
    let policy = Policy { sub_agent: true, ..Policy::default() };
    let decide = |effect, command, path: Option<&str>| {
        judge(&policy, &question(effect, command, &touches(path))).decision
    };
    assert_eq!(decide(Effect::Mutate, None, Some("a")), Decision::Allow);
    assert_eq!(decide(Effect::Command, Some("touch a"), None), Decision::Allow);
    assert_eq!(decide(Effect::Mutate, None, Some("/other/a")), Decision::Deny);
    assert_eq!(decide(Effect::Command, Some("rm a"), None), Decision::Deny);
}
