//! Commands and their classes, through the public door.

use koda_protocol::CommandClass::{self, Destructive, Mutating, Safe};
use koda_trust::classify;

/// Commands with their right classes: `a|b` means that either is right.
const TABLES: &[&str] = &[include_str!("commands.tsv"), include_str!("more_commands.tsv")];

fn name(class: CommandClass) -> &'static str {
    match class {
        Safe => "safe",
        Mutating => "mutating",
        Destructive => "destructive",
    }
}

#[test]
fn the_tables_come_out_right() {
    let mut wrong = Vec::new();
    for line in TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with("# ")) {
        let (command, right) = line.rsplit_once('\t').unwrap();
        let got = classify(&command.replace("\\n", "\n"));
        if !right.split('|').any(|class| class == name(got.class)) {
            wrong.push(format!("{command}: {} instead of {right}: {:?}", name(got.class), got.parts));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
