//! The tree of a shell text: as much of it as judging needs. Order is kept; operators are not.

/// Commands that run one after the other, beside each other, or perhaps not at all.
pub type List = Vec<Pipeline>;

/// Commands whose outputs and inputs are joined.
#[derive(Debug)]
pub struct Pipeline {
    /// In the order of the text; empty for a lone `time` or `!`.
    pub commands: Vec<Command>,
}

/// One command with its redirections.
#[derive(Debug)]
pub struct Command {
    /// As it was written.
    pub text: String,
    /// What it is.
    pub kind: Kind,
    /// In the order of the text.
    pub redirects: Vec<Redirect>,
}

/// What a command is.
#[derive(Debug)]
pub enum Kind {
    /// Assignments, then a program with its arguments; either may be missing.
    Simple {
        /// Before the program.
        assigned: Vec<Assignment>,
        /// Program and arguments.
        words: Vec<Word>,
    },
    /// `{ … }`, `if`, `while`, `until`: lists that run in this shell.
    Group(Vec<List>),
    /// `( … )`.
    Subshell(List),
    /// `for` and `select` over words; without `in`, over the arguments.
    For {
        /// The variable.
        name: String,
        /// What it takes in turn.
        values: Vec<Word>,
        /// What is repeated.
        body: List,
    },
    /// `for ((…))`.
    Counting {
        /// The three expressions.
        head: Word,
        /// What is repeated.
        body: List,
    },
    /// `case`: subject and patterns, and the lists of the arms.
    Case {
        /// All that is expanded.
        words: Vec<Word>,
        /// One of them runs, or several.
        arms: Vec<List>,
    },
    /// A function's definition: its body runs when it is called.
    Function {
        /// Its name.
        name: String,
        /// What it runs.
        body: Box<Command>,
    },
    /// `((…))`.
    Arithmetic(Word),
    /// `[[ … ]]`, all its words.
    Test(Vec<Word>),
}

/// `name=value`, `name+=value`, `name=(…)`.
#[derive(Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// One value, or those of an array.
    pub values: Vec<Word>,
    /// Whether the value is added to what the variable has, or to one place of an array.
    pub partial: bool,
    /// As it was written.
    pub text: String,
}

/// A redirection.
#[derive(Debug)]
pub struct Redirect {
    /// What it does.
    pub sign: Sign,
    /// File, descriptor, or the word of a here-string; the delimiter of a here-document.
    pub target: Word,
}

/// The kinds of redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `<&`.
    CopyInput,
    /// `>&`: a descriptor, or a file as with `&>`.
    CopyOutput,
    /// `<<` and `<<-`; the body by its place in [`Script::bodies`].
    Here(usize),
    /// `<<<`.
    HereString,
}

/// A word, before anything is expanded.
#[derive(Clone, Debug, Default)]
pub struct Word {
    /// Its parts, joined without a gap.
    pub pieces: Vec<Piece>,
    /// As it was written.
    pub text: String,
}

/// A part of a word.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Characters. Unquoted, they may be patterns, braces and tildes.
    Text {
        /// Quotes and backslashes removed.
        text: String,
        /// Whether they stand for themselves.
        quoted: bool,
    },
    /// A pattern with parentheses: `@(a|b)`.
    Pattern(Vec<Piece>),
    /// `$name`, `${name…}`.
    Variable {
        /// Name or special character.
        name: String,
        /// What follows the name within the braces: `:-`, `[@]`, `#pattern`.
        rest: Option<Box<Word>>,
        /// `${!name}`: the variable's text is the name that counts.
        indirect: bool,
        /// Within double quotes.
        quoted: bool,
    },
    /// `$(…)` or backquotes.
    Command {
        /// What runs.
        list: std::rc::Rc<List>,
        /// Within double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`.
    Process(std::rc::Rc<List>),
    /// `$((…))`: a number, once what is in it has been expanded.
    Arithmetic(Vec<Piece>),
}

/// A whole text.
#[derive(Debug, Default)]
pub struct Script {
    /// The commands up to the end or to the fault.
    pub list: List,
    /// The bodies of its here-documents.
    pub bodies: Vec<Word>,
    /// Where it stopped being understood.
    pub fault: Option<Fault>,
}

/// Why a text was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line from 1.
    pub line: usize,
    /// What was met.
    pub why: &'static str,
}
