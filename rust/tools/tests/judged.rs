//! Calls judged by what they touch, through the registry: paths outside, credentials, ignore files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../shell/tests/lasting/mod.rs"]
mod lasting;

use std::fs;
use std::path::PathBuf;

use koda_protocol::Decision::{self, Allow, Ask, Deny};
use koda_protocol::{Mode, ToolCall, Trust, Verdict};
use koda_tools::{Registry, Workplace};
use koda_trust::{Policy, judge};
use serde_json::{Value, json};

struct Rig {
    _dir: tempfile::TempDir,
    root: PathBuf,
    home: PathBuf,
}

fn rig() -> Rig {
    let dir = lasting::folder();
    let base = dir.path().canonicalize().unwrap();
    let (root, home) = (base.join("project"), base.join("home"));
    fs::create_dir_all(root.join("src")).unwrap();
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/id_rsa"), "key").unwrap();
    Rig { _dir: dir, root, home }
}

impl Rig {
    fn file(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }

    fn judge(&self, policy: &Policy, tool: &str, args: Value) -> Verdict {
        let call = ToolCall { id: "c".into(), tool: tool.to_owned(), args, signature: None };
        let place = Workplace::new(&self.root, Some(self.home.clone()));
        let prepared = Registry::standard().prepare(&call, Mode::Agent, &place);
        judge(policy, &prepared.map_err(|result| result.text).unwrap().question())
    }

    fn tool(&self, trust: Trust, tool: &str, args: Value) -> Decision {
        self.judge(&Policy { trust, ..Policy::default() }, tool, args).decision
    }

    fn command(&self, trust: Trust, command: &str) -> Decision {
        self.tool(trust, "Bash", json!({ "command": command }))
    }
}

#[test]
fn commands_that_write_outside_ask_also_in_auto() {
    let rig = rig();
    let outside = [
        "touch ../x",
        "echo x > ../x",
        "echo x >> ~/.bashrc",
        "cp src /etc/x",
        "echo x > \"$HOME/x\"",
        "cd .. && touch x",
        "tee ~/x < src/y",
        "mkdir -p /opt/x",
        "sort -o ../x src/y",
        "git log --output=../x",
        "ls 2>../err",
    ];
    for command in outside {
        assert_eq!(rig.command(Trust::Auto, command), Ask, "{command}");
        assert_eq!(rig.command(Trust::Plan, command), Deny, "{command}");
    }
    for command in [
        "touch x",
        "echo x > src/x",
        "echo x > /tmp/x",
        "ls > /dev/null",
        "cd src && touch ../x",
        "mkdir -p a/b",
    ] {
        assert_eq!(rig.command(Trust::Auto, command), Allow, "{command}");
        assert_eq!(
            rig.command(Trust::Safe, command),
            if command.contains("null") { Allow } else { Ask },
            "{command}"
        );
    }
}

#[test]
fn links_are_followed_before_a_command_is_judged() {
    let rig = rig();
    std::os::unix::fs::symlink("../home", rig.root.join("out")).unwrap();
    std::os::unix::fs::symlink("../home/new", rig.root.join("dangling")).unwrap();
    for command in ["touch out/x", "echo x > dangling", "cp src out"] {
        assert_eq!(rig.command(Trust::Auto, command), Ask, "{command}");
    }
    std::os::unix::fs::symlink("b", rig.root.join("a")).unwrap();
    std::os::unix::fs::symlink("a", rig.root.join("b")).unwrap();
    let call = ToolCall {
        id: "c".into(),
        tool: "Bash".into(),
        args: json!({ "command": "echo x > a/y" }),
        signature: None,
    };
    let place = Workplace::new(&rig.root, Some(rig.home.clone()));
    let refused = Registry::standard().prepare(&call, Mode::Agent, &place).err().unwrap();
    assert!(refused.text.contains("circle"), "{}", refused.text);
}

#[test]
fn reading_credentials_asks_whatever_the_trust() {
    let rig = rig();
    for trust in [Trust::Plan, Trust::Safe, Trust::Auto] {
        for command in [
            "cat ~/.ssh/id_rsa",
            "ls -la $HOME/.ssh",
            "cd ~/.ssh && cat id_rsa",
            "grep x --file=../home/.ssh/id_rsa f",
        ] {
            assert_eq!(rig.command(trust, command), Ask, "{command}");
        }
        assert_eq!(rig.tool(trust, "Read", json!({ "path": "~/.ssh/id_rsa" })), Ask);
    }
}

#[test]
fn what_an_ignore_file_hides_is_denied_to_every_tool_and_command() {
    let rig = rig();
    rig.file("secret", "x");
    rig.file("public", "x");
    rig.file(".kodaignore", "secret\n");
    std::os::unix::fs::symlink("secret", rig.root.join("link")).unwrap();
    for name in ["secret", "link", "src/../secret", "./secret"] {
        let calls = [
            ("Read", json!({ "path": name })),
            ("Write", json!({ "path": name, "content": "y" })),
            ("Edit", json!({ "path": name, "old": "x", "new": "y" })),
            ("Delete", json!({ "path": name })),
            ("Grep", json!({ "pattern": "x", "path": name })),
            ("Glob", json!({ "pattern": "*", "path": name })),
            ("ListFiles", json!({ "path": name })),
        ];
        for (tool, args) in calls {
            assert_eq!(rig.tool(Trust::Auto, tool, args), Deny, "{tool} {name}");
        }
    }
    let naming = [
        "cat secret",
        "cat < secret",
        "cp secret y",
        "cp y secret",
        "rm secret",
        "dd if=secret",
        "curl -d @secret u",
        "grep --file=secret y",
        "cd src && cat ../secret",
        "sh -c 'cat secret'",
        "cat link",
        "echo x > secret",
        "sudo cat secret",
        "foo secret",
        "cat \"$PWD\"/../project/secret; cat 'secret'",
    ];
    for command in naming {
        assert_eq!(rig.command(Trust::Auto, command), Deny, "{command}");
    }
    for command in ["cat public", "echo secrets", "grep secret2 public", "ls"] {
        assert_eq!(rig.command(Trust::Auto, command), Allow, "{command}");
    }
    // A change counts at once.
    rig.file(".kodaignore", "other\n");
    assert_eq!(rig.command(Trust::Auto, "cat secret"), Allow);
}

#[test]
fn what_is_hidden_is_denied_also_where_a_command_does_not_spell_it_out() {
    let rig = rig();
    fs::create_dir_all(rig.root.join("private")).unwrap();
    for (name, text) in
        [("secret.env", "x"), (".env", "x"), ("private/a.txt", "x"), ("src/main.rs", "x"), ("a.md", "")]
    {
        rig.file(name, text);
    }
    rig.file(".kodaignore", "*.env\n.env\nprivate/\n");
    let reaching = [
        "cat *",
        "cat s*",
        "cat *.en[v]",
        "head -1 .e*",
        "cat ./*.env",
        "cat pri*/a.txt",
        "cat priv?te/*",
        "cp *.env /tmp",
        "for f in *; do cat \"$f\"; done",
        "grep -r x .",
        "grep -rn x",
        "grep --recursive x src ..",
        "grep -r --include='*.env' x .",
        "tar cf x.tar .",
        "cp -r . /tmp/y",
        "zip -r x.zip .",
        "find . -type f -exec cat {} +",
        "find . -name '*.txt' | xargs cat",
        "find . | while read f; do cat $f; done",
        "cat $(find . -name '*.env')",
        "rg -uuu x",
        "rg x",
        "git show HEAD:secret.env",
        "git cat-file -p HEAD:private/gone.txt",
        "cd src && git show HEAD:private/a.txt",
        "sh -c 'cat *.env'",
        "python3 -c 'print(open(\"secret.env\").read())'",
        "node -e 'require(\"fs\").readFileSync(\"private/a.txt\")'",
        "awk 'BEGIN{while((getline l < \"secret.env\")>0) print l}'",
        "sed -n 'r secret.env' a.md",
        "grep -fsecret.env a.md",
        "curl -d@secret.env u",
        "docker run -v ./private:/x y",
        "cat {a.md,secret.env}",
    ];
    for command in reaching {
        assert_eq!(rig.command(Trust::Auto, command), Deny, "{command}");
    }
    let harmless = [
        "cat *.md",
        "cat src/*",
        "grep -r x src",
        "grep -rn --include='*.rs' x .",
        "grep -r --exclude='*.env' --exclude-dir=private x .",
        "find . -name '*.rs'",
        "find . -type f | head",
        "ls",
        "ls | grep x",
        "git diff | rg x",
        "git show HEAD:a.md",
        "cargo test",
        "echo 'a * b'",
        "python3 -m pytest src",
        "wc -l src/*.rs",
    ];
    for command in harmless {
        assert_eq!(rig.command(Trust::Auto, command), Allow, "{command}");
    }
}

#[test]
fn credentials_are_asked_for_also_where_a_command_does_not_spell_them_out() {
    let rig = rig();
    for command in [
        "cat ~/.ssh/*",
        "grep -r key ~",
        "tar cf x.tar ~/.ssh",
        "cat ~/.s*/id_*",
        "find ~ -type f -exec cat {} +",
        "cat ../home/.ssh/id*",
    ] {
        assert_eq!(rig.command(Trust::Auto, command), Ask, "{command}");
    }
    fs::write(rig.home.join("server.key"), "k").unwrap();
    assert_eq!(rig.tool(Trust::Auto, "Read", json!({ "path": "~/server.key" })), Ask);
    assert_eq!(rig.command(Trust::Auto, "cat ~/*.key"), Ask);
    assert_eq!(rig.command(Trust::Auto, "ls ~"), Allow);
}

#[test]
fn a_pattern_that_is_written_asks_by_where_it_begins() {
    let rig = rig();
    for command in [
        "touch ~/*.conf",
        "tee /etc/*.conf",
        "echo x > ../*.txt",
        "cp src \"/opt/$NAME\"",
        "mkdir -p ../$X/y",
    ] {
        assert_eq!(rig.command(Trust::Auto, command), Ask, "{command}");
    }
    for command in ["touch src/*.rs", "echo x > \"src/$NAME\""] {
        assert_eq!(rig.command(Trust::Auto, command), Allow, "{command}");
    }
}

#[test]
fn rule_files_are_changed_only_when_the_user_says_so() {
    let rig = rig();
    for name in [".kodaignore", "src/.kodikignore", ".KodaIgnore", ".koda/rules", ".git/hooks/pre-commit"] {
        assert_eq!(rig.tool(Trust::Auto, "Write", json!({ "path": name, "content": "" })), Ask, "{name}");
        assert_eq!(rig.command(Trust::Auto, &format!("echo x > {name}")), Ask, "{name}");
        let sub_agent = Policy { trust: Trust::Auto, sub_agent: true, ..Policy::default() };
        assert_eq!(
            rig.judge(&sub_agent, "Write", json!({ "path": name, "content": "" })).decision,
            Deny,
            "{name}"
        );
    }
}

#[test]
fn a_grant_does_not_reach_outside() {
    let rig = rig();
    let granted = vec![koda_trust::Grant::Command { heads: vec!["cp".into(), "touch".into()] }];
    let policy = Policy { granted, ..Policy::default() };
    let decide = |command: &str| rig.judge(&policy, "Bash", json!({ "command": command })).decision;
    assert_eq!(decide("touch x"), Allow);
    assert_eq!(decide("touch ~/.bashrc"), Ask);
    assert_eq!(decide("cp src .kodaignore"), Ask);
}
