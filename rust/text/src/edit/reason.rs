//! Why a replacement was rejected, in words that tell its sender what to do.

use super::{MOST_PLACES, Rung};

/// Why a replacement was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// `old` is empty.
    #[error("`old` is empty: name the text to replace, or use Write for a new file")]
    EmptyOld,
    /// `old` and `new` are the same.
    #[error("`old` and `new` are the same: nothing to change")]
    SameText,
    /// `new` has a line that stands for text that was left out.
    #[error("`new` has {line:?} in place of text: send the text itself, or replace a smaller part")]
    Placeholder {
        /// The line.
        line: String,
    },
    /// No rung found `old`.
    #[error("`old` is not in the file{}{}{}", told(tried), standing(*new_at), shown(nearest.as_deref()))]
    NotFound {
        /// What was tried.
        tried: Vec<Rung>,
        /// The line from 1 where `new` stands already, if it does.
        new_at: Option<usize>,
        /// The lines that are most like `old`, numbered.
        nearest: Option<String>,
    },
    /// `new` stands there already.
    #[error("already done: the new text stands at line {line}, and there is nothing to replace")]
    AlreadyApplied {
        /// Its line, from 1.
        line: usize,
    },
    /// `old` is in several places.
    #[error(
        "`old` is in {} places{}, at lines {}{}: read them again and add surrounding lines until only one is left{}",
        places(*count), loosely(*rung), listed(lines), rest(*count, lines), all(*rung)
    )]
    Ambiguous {
        /// How it matched.
        rung: Rung,
        /// How many places; where there are too many to count, one more than are told.
        count: usize,
        /// The lines from 1 of the first places.
        lines: Vec<usize>,
    },
    /// Another replacement of the call changes the same text.
    #[error("overlaps edit {with}: join the two, or send this one in a call of its own")]
    Overlap {
        /// The other's position, from 1.
        with: usize,
    },
    /// Another replacement is so ambiguous that nothing was changed.
    #[error("not applied, because edit {by} fits in too many places")]
    Spoiled {
        /// The other's position, from 1.
        by: usize,
    },
    /// The user looked at it and did not let all of it stand.
    #[error("the user did not let all of it stand")]
    User,
}

impl Reason {
    /// Returns a short stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EmptyOld => "empty_old",
            Self::SameText => "same_text",
            Self::Placeholder { .. } => "placeholder",
            Self::NotFound { .. } => "not_found",
            Self::AlreadyApplied { .. } => "already_applied",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Overlap { .. } => "overlap",
            Self::Spoiled { .. } => "spoiled",
            Self::User => "user",
        }
    }

    pub(super) fn spoils_the_call(&self) -> bool {
        matches!(self, Self::Ambiguous { count, .. } if *count > MOST_PLACES)
    }
}

fn told(tried: &[Rung]) -> String {
    let names: Vec<_> = tried.iter().map(|rung| rung.name().replace('_', " ")).collect();
    if names.is_empty() { String::new() } else { format!(" (tried: {})", names.join(", ")) }
}

fn standing(new_at: Option<usize>) -> String {
    new_at.map_or_else(String::new, |line| format!("; `new` stands at line {line} already"))
}

fn shown(nearest: Option<&str>) -> String {
    match nearest {
        Some(lines) => format!(". Copy the text as it stands; the nearest lines are:\n{lines}"),
        None => ": read it again and copy the text as it stands".to_owned(),
    }
}

fn places(count: usize) -> String {
    if count > MOST_PLACES { format!("more than {MOST_PLACES}") } else { count.to_string() }
}

fn loosely(rung: Rung) -> String {
    match rung {
        Rung::Exact => String::new(),
        loose => format!(" (matched loosely: {})", loose.name().replace('_', " ")),
    }
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn rest(count: usize, lines: &[usize]) -> &'static str {
    if count > lines.len() { " ..." } else { "" }
}

fn all(rung: Rung) -> &'static str {
    if rung == Rung::Exact { ", or set `all`" } else { "" }
}
