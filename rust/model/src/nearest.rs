//! The names that somebody may have meant.

/// Returns the names nearest to `name`, the best first.
pub(crate) fn names<'a>(name: &str, names: impl Iterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> = names.map(|known| (distance(name, known), known)).collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().take(count).map(|(_, known)| known).collect()
}

/// Counts the characters to insert, delete or replace, those of a shared beginning taken for nothing.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = i;
        for (cell, right) in (1..).zip(&b) {
            let above = row.get(cell).copied().unwrap_or(i);
            let before = if cell == 1 { i + 1 } else { row.get(cell - 1).copied().unwrap_or(i) };
            let replaced = diagonal + usize::from(left != right);
            diagonal = above;
            if let Some(slot) = row.get_mut(cell) {
                *slot = replaced.min(above + 1).min(before + 1);
            }
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("openrouter", "open_router"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("abc", ""), 3);
    }
}
