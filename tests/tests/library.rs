//! A library that is missing, damaged, of another machine or of another version: said with what mends it, and the rest
//! of Neovim works.

use std::fs;
use std::path::{Path, PathBuf};

use koda_tests::{Opening, Place};
use serde_json::{Value, json};

const MANIFEST: &str = "checkout/.build/lib/manifest.json";

/// Copies what Neovim needs of the checkout, the library too.
fn checkout(place: &Place) -> PathBuf {
    for folder in ["lua", "plugin", ".build/lib"] {
        place.copy(folder, &format!("checkout/{folder}"));
    }
    place.path().join("checkout")
}

fn manifest(place: &Place) -> Value {
    serde_json::from_str(&fs::read_to_string(place.path().join(MANIFEST)).unwrap()).unwrap()
}

/// Asks Koda for something, and expects a message with these words and a Neovim that goes on.
fn is_refused(place: &Place, checkout: &Path, words: &[&str]) {
    let project = place.project(&[("a.txt", "alpha\n")]);
    let editor = Opening::new(place, &project).checkout(checkout).arguments(&["a.txt"]).open();
    editor.command("Koda hello");
    // The chat says what is wrong and what mends it; the prompt is not lost.
    editor.expect("the fault", |grid| grid.has("✗ Koda's library") && grid.has("run :Koda build"));
    editor.expect_text("hello");
    editor.input("q");
    editor.command("Koda stop");
    let problem = editor.lua("return select(2, require('koda').tool({ name = 'Think' }))", &[]);
    assert!(problem["code"].as_str().is_some_and(|code| code.starts_with("library_")), "{problem}");
    for word in words {
        assert!(problem["message"].as_str().unwrap_or_default().contains(word), "no {word:?} in: {problem}");
    }
    editor.input("<Esc>ggAbet<Esc>:write<CR>");
    editor.until("return vim.fn.readfile('a.txt')[1] == 'alphabet'", &[]);
    editor.command("checkhealth koda");
    let report = editor.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')", &[]);
    assert!(report.as_str().unwrap_or_default().contains("ERROR"), "{report}");
}

#[test]
fn a_missing_library_is_said_to_be_missing() {
    let place = Place::new();
    let checkout = checkout(&place);
    fs::remove_dir_all(checkout.join(".build")).unwrap();
    is_refused(&place, &checkout, &["not built"]);
}

#[test]
fn a_library_cut_short_is_not_loaded() {
    let place = Place::new();
    let checkout = checkout(&place);
    let library = checkout.join(".build/lib").join(manifest(&place)["file"].as_str().unwrap());
    let whole = fs::read(&library).unwrap();
    fs::write(&library, &whole[..whole.len() / 2]).unwrap();
    is_refused(&place, &checkout, &["damaged"]);
}

#[test]
fn a_library_of_another_machine_is_not_loaded() {
    let place = Place::new();
    let checkout = checkout(&place);
    let mut manifest = manifest(&place);
    manifest["machine"] = json!("mips");
    place.write(MANIFEST, manifest.to_string());
    is_refused(&place, &checkout, &["another machine", "mips"]);
}

#[test]
fn a_library_of_another_version_is_not_used() {
    let place = Place::new();
    let checkout = checkout(&place);
    let native = checkout.join("lua/koda/native.lua");
    let text = fs::read_to_string(&native).unwrap();
    let (before, line) = text.split_once("M.ABI = ").expect("the face's version");
    let (_, after) = line.split_once('\n').expect("more lines");
    fs::write(&native, format!("{before}M.ABI = 4711\n{after}")).unwrap();
    is_refused(&place, &checkout, &["different versions", "4711"]);
}
