//! Skills: folders with a `SKILL.md` that tells how a kind of task is done. The model reads name and description
//! with each request, the text when a task fits.
//!
//! They are looked for anew each time, so that nothing has to be reloaded. What can't be used is told with its
//! reason, never left out in silence.

mod front;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use koda_text::diff::likeness;
use koda_trust::Resolver;

use crate::context::Workplace;

/// Folders of skills, in a project and in the user's home; earlier ones win.
const FOLDERS: [&str; 3] = [".koda/skills", ".agents/skills", ".claude/skills"];

/// Bytes of a SKILL.md.
const MAX_FILE: u64 = 256 * 1024;

/// Folders that are looked at in one folder of skills.
const MAX_SKILLS: usize = 200;

/// Characters of a name.
const MAX_NAME: usize = 64;

/// Characters of a description.
const MAX_DESCRIPTION: usize = 1024;

/// Bytes of the list in the prompt.
const MAX_LIST: usize = 6 * 1024;

/// How alike a name must be to one that was asked for, from 0 to 1, to be named.
const ALIKE: f32 = 0.5;

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// How it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Absolute path of its SKILL.md.
    pub path: PathBuf,
    /// Whether it is the project's, and not the user's own.
    pub of_project: bool,
    /// Whether the model may activate it.
    pub for_model: bool,
    /// Whether the user may call it by `/name`.
    pub for_user: bool,
    /// The instructions.
    pub body: String,
}

/// A folder that should be a skill and can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Absolute path of its SKILL.md.
    pub path: PathBuf,
    /// Why, for people and models.
    pub problem: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skills {
    /// By name.
    pub skills: Vec<Skill>,
    /// What can't be used.
    pub broken: Vec<Broken>,
}

impl Skills {
    /// Looks for skills of the project and the user, off the runtime's threads.
    pub async fn find(place: &Workplace) -> Self {
        let resolver = place.resolver.clone();
        tokio::task::spawn_blocking(move || Self::find_now(&resolver)).await.unwrap_or_default()
    }

    /// Looks for skills. Blocks.
    pub fn find_now(resolver: &Resolver) -> Self {
        let mut found = Self::default();
        let mut taken: HashMap<String, PathBuf> = HashMap::new();
        let project = FOLDERS.iter().map(|folder| (resolver.root().join(folder), true));
        let home = resolver.home().filter(|home| *home != resolver.root());
        let home = home.into_iter().flat_map(|home| FOLDERS.iter().map(|folder| (home.join(folder), false)));
        for (folder, of_project) in project.chain(home) {
            for path in files_in(&folder) {
                match read(&path, of_project, resolver) {
                    Err(problem) => found.broken.push(Broken { path, problem }),
                    Ok(skill) => match taken.get(&skill.name) {
                        Some(first) => {
                            let problem = format!("{} has this name and comes first", first.display());
                            found.broken.push(Broken { path, problem });
                        }
                        None => {
                            taken.insert(skill.name.clone(), path);
                            found.skills.push(skill);
                        }
                    },
                }
            }
        }
        found.skills.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Returns those that the model may activate.
    pub fn offered(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.for_model)
    }

    /// Returns a skill that the model may activate, or what to say instead.
    ///
    /// # Errors
    ///
    /// That there is none, with the nearest names, or why it can't be used.
    pub fn named(&self, name: &str) -> Result<&Skill, String> {
        let name = name.trim().trim_start_matches('/');
        if let Some(skill) = self.offered().find(|skill| skill.name == name) {
            return Ok(skill);
        }
        let of_folder = |broken: &&Broken| folder_name(&broken.path) == name;
        if let Some(broken) = self.broken.iter().find(of_folder) {
            return Err(format!("The skill {name:?} can't be used: {}", broken.problem));
        }
        let mut near: Vec<&str> = self.offered().map(|skill| skill.name.as_str()).collect();
        near.retain(|other| likeness(other, name) >= ALIKE || other.contains(name));
        let help = match near.as_slice() {
            [] => "ListSkills tells those there are.".to_owned(),
            some => format!("Did you mean {}?", some.join(" or ")),
        };
        Err(format!("There is no skill {name:?}. {help}"))
    }

    /// Returns what the prompt says of them; empty if there are none.
    pub fn for_prompt(&self) -> String {
        let head = "Skills, instructions for kinds of task. Before a task that one fits, ActivateSkill it:";
        let (mut text, mut left) = (head.to_owned(), 0);
        for skill in self.offered() {
            let line = format!("\n- {}: {}", skill.name, skill.description.replace('\n', " "));
            if text.len() + line.len() > MAX_LIST {
                left += 1;
            } else {
                text.push_str(&line);
            }
        }
        if left > 0 {
            text.push_str(&format!("\n[{left} more: ListSkills]"));
        }
        if self.offered().next().is_none() { String::new() } else { text }
    }
}

fn folder_name(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The `SKILL.md` of each folder in a folder, sorted.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            path.is_dir() && !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
        })
        .map(|path| path.join("SKILL.md"))
        .collect();
    files.sort();
    files.truncate(MAX_SKILLS);
    files
}

fn read(path: &Path, of_project: bool, resolver: &Resolver) -> Result<Skill, String> {
    if of_project {
        let resolved = resolver.resolve_path(path).map_err(|error| error.to_string())?;
        if !resolved.inside() {
            return Err("a link leads out of the project".to_owned());
        }
        if let Some(by) = resolved.hidden_by() {
            return Err(format!("{} hides it", by.display()));
        }
    }
    let meta = fs::metadata(path).map_err(|error| format!("it can't be read: {error}"))?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return Err(format!("it is no file of {MAX_FILE} bytes at most"));
    }
    let text = fs::read_to_string(path).map_err(|error| format!("it can't be read: {error}"))?;
    let (front, body) = front::split(&text)?;
    let name = front.get("name").cloned().unwrap_or_else(|| folder_name(path));
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_name) {
        return Err(format!(
            "the name {name:?} is not made of lower-case letters, digits and `-`, {MAX_NAME} at most"
        ));
    }
    let description = front.get("description").map(|text| text.trim().to_owned()).unwrap_or_default();
    if description.is_empty() {
        return Err("the front matter has no `description`".to_owned());
    }
    let description = description.chars().take(MAX_DESCRIPTION).collect();
    let flag = |name: &str, default: bool| match front.get(name).map(|value| value.to_lowercase()) {
        None => Ok(default),
        Some(value) if value == "true" || value == "false" => Ok(value == "true"),
        Some(value) => Err(format!("`{name}` is {value:?}, neither true nor false")),
    };
    Ok(Skill {
        for_model: !flag("disable-model-invocation", false)?,
        for_user: flag("user-invocable", true)?,
        name,
        description,
        path: path.to_owned(),
        of_project,
        body: body.trim().to_owned(),
    })
}
