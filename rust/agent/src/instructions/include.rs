//! `@path` within an instruction file: another file that is told after it.

use std::path::{Path, PathBuf};

use super::{Instruction, Reader};

/// How deep includes may lie within each other.
const MAX_DEPTH: usize = 5;

impl Reader<'_> {
    /// Takes a file in, and after it the files that it includes.
    pub(super) async fn take(&mut self, path: &Path, shown: String, by: Option<String>, text: String) {
        let mut waiting = vec![(path.to_owned(), Instruction { shown, included_by: by, text }, 0)];
        while let Some((path, instruction, depth)) = waiting.pop() {
            let mut inner = Vec::new();
            if depth < MAX_DEPTH {
                for target in targets(&instruction.text) {
                    let Some(target) = self.beside(&path, target) else { continue };
                    let Some((path, shown, text)) = self.read(&target).await else { continue };
                    let by = Some(instruction.shown.clone());
                    inner.push((path, Instruction { shown, included_by: by, text }, depth + 1));
                }
            }
            self.found.push(instruction);
            // The last is taken first.
            waiting.extend(inner.into_iter().rev());
        }
    }

    fn beside(&self, path: &Path, target: &str) -> Option<PathBuf> {
        match target.strip_prefix("~/") {
            Some(rest) => Some(self.project.home()?.join(rest)),
            None => Some(path.parent()?.join(target)),
        }
    }
}

/// Finds what stands behind an `@` at the beginning of a word, outside of code. Whether it is a file is seen
/// later: `@param` is none.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let begun = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| begun.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => found.extend(words(line)),
            _ => {}
        }
    }
    found
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    // Every second piece is a code span.
    let plain = line.split('`').step_by(2);
    plain.flat_map(str::split_whitespace).filter_map(|word| {
        let target = word.strip_prefix('@')?.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
        (!target.is_empty()).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_words_outside_of_code() {
        let text =
            "See @docs/style.md, and @./more.md.\n`@not.md` a@mail.org\n```\n@neither.md\n```\n- @last.md";
        assert_eq!(targets(text), ["docs/style.md", "./more.md", "last.md"]);
    }
}
