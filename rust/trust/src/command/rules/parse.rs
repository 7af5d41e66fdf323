//! Reading the tables of rules.

use koda_protocol::CommandClass;

use super::{Flag, Paths, Rule, Runs, Value};

/// A table and the examples in it.
#[derive(Default)]
pub struct Parsed {
    pub rules: Vec<Rule>,
    pub examples: Vec<(CommandClass, &'static str)>,
}

/// Reads a table.
///
/// # Errors
///
/// The line that is no fact.
pub fn parse(source: &'static str) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    // The rules that are open, outermost first; each closes when a line is indented less.
    let mut open: Vec<Rule> = Vec::new();
    for line in source.lines() {
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let level = (line.len() - text.len()) / 2;
        let fault = || format!("not understood: {line}");
        while open.len() > level {
            close(&mut open, &mut parsed.rules);
        }
        if open.len() < level {
            return Err(fault());
        }
        if level == 0 {
            open.push(rule(text).ok_or_else(fault)?);
        } else if let Some(rest) = text.strip_prefix("sub ") {
            open.push(rule(rest).ok_or_else(fault)?);
        } else if let Some(rest) = text.strip_prefix("try ") {
            let (class, example) = rest.split_once(": ").ok_or_else(fault)?;
            parsed.examples.push((self::class(class).ok_or_else(fault)?, example));
        } else {
            let rule = open.last_mut().ok_or_else(fault)?;
            fact(rule, text).ok_or_else(fault)?;
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut parsed.rules);
    }
    Ok(parsed)
}

fn close(open: &mut Vec<Rule>, rules: &mut Vec<Rule>) {
    if let Some(rule) = open.pop() {
        match open.last_mut() {
            Some(outer) => outer.subs.push(rule),
            None => rules.push(rule),
        }
    }
}

fn class(word: &str) -> Option<CommandClass> {
    match word {
        "safe" => Some(CommandClass::Safe),
        "mutating" => Some(CommandClass::Mutating),
        "destructive" => Some(CommandClass::Destructive),
        _ => None,
    }
}

fn words(text: &'static str) -> Vec<&'static str> {
    text.split_whitespace().collect()
}

/// `class reason`.
fn classed(text: &'static str) -> Option<(CommandClass, &'static str)> {
    let (word, reason) = text.split_once(' ')?;
    Some((class(word)?, reason))
}

/// `names: class reason`.
fn rule(text: &'static str) -> Option<Rule> {
    let (names, rest) = text.split_once(": ")?;
    let (class, reason) = classed(rest)?;
    Some(Rule {
        names: words(names),
        class,
        reason,
        values: Vec::new(),
        plain: Vec::new(),
        glued: Vec::new(),
        flags: Vec::new(),
        when: Vec::new(),
        executes: Vec::new(),
        operands: None,
        asks: Vec::new(),
        paths: Paths::Read,
        single: false,
        through: false,
        runs: None,
        vague: false,
        perhaps: false,
        descends: None,
        bare: None,
        subs: Vec::new(),
        global_flags: Vec::new(),
        global_values: Vec::new(),
    })
}

/// `class names: reason`.
fn flag(text: &'static str, value: Value) -> Option<Flag> {
    let (head, reason) = text.split_once(": ")?;
    let (class, names) = classed(head)?;
    Some(Flag { names: words(names), class, reason, value })
}

fn fact(rule: &mut Rule, text: &'static str) -> Option<()> {
    let (keyword, rest) = text.split_once(' ').unwrap_or((text, ""));
    match keyword {
        "values" => rule.values.extend(words(rest)),
        "plain" => rule.plain.extend(words(rest)),
        "glued" => rule.glued.extend(words(rest)),
        "executes" => rule.executes.extend(words(rest)),
        "asks" => rule.asks.extend(words(rest)),
        "flag" => rule.flags.push(flag(rest, Value::Any)?),
        "path" => rule.flags.push(flag(rest, Value::Path)?),
        "text" => rule.flags.push(flag(rest, Value::Text)?),
        "when" => rule.when.push(flag(rest, Value::Any)?),
        "global" => global(rule, rest)?,
        "bare" => rule.bare = Some(classed(rest)?),
        "single" => rule.single = true,
        "vague" => rule.vague = true,
        "descends" => rule.descends = Some(words(rest)),
        "perhaps" => rule.perhaps = true,
        "through" => rule.through = true,
        "paths" => {
            rule.paths = match rest {
                "write" => Paths::Write,
                "copy" => Paths::Copy,
                _ => return None,
            }
        }
        "operands" => {
            let (count, rest) = rest.split_once(' ')?;
            let (class, reason) = classed(rest)?;
            rule.operands = Some((count.parse().ok()?, class, reason));
        }
        "runs" => rule.runs = Some(runs(rest)?),
        _ => return None,
    }
    Some(())
}

fn global(rule: &mut Rule, text: &'static str) -> Option<()> {
    let (keyword, rest) = text.split_once(' ')?;
    match keyword {
        "values" => rule.global_values.extend(words(rest)),
        "flag" => rule.global_flags.push(flag(rest, Value::Any)?),
        "path" => rule.global_flags.push(flag(rest, Value::Path)?),
        "text" => rule.global_flags.push(flag(rest, Value::Text)?),
        _ => return None,
    }
    Some(())
}

fn runs(text: &str) -> Option<Runs> {
    let mut runs = Runs::default();
    for word in text.split_whitespace() {
        match word {
            "text" => runs.text = true,
            "more" => runs.more = true,
            "assignments" => runs.assignments = true,
            count => runs.after = count.parse().ok()?,
        }
    }
    Some(runs)
}
