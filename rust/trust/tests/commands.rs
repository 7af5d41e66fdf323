//! Commands and their classes, through the public door.

use koda_protocol::CommandClass::{self, Destructive, Mutating, Safe};
use koda_trust::classify;

/// Commands with their right classes: `a|b` means that either is right.
const TABLES: &[&str] =
    &[include_str!("commands.tsv"), include_str!("more_commands.tsv"), include_str!("kinds_of_commands.tsv")];

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

/// Programs that run the command after them, each with options of its own.
const WRAPPERS: &[&str] = &[
    "nohup",
    "env",
    "env -i",
    "env -u X",
    "env A=1",
    "command",
    "command -p",
    "builtin",
    "exec",
    "exec -a x",
    "nice",
    "nice -5",
    "nice -n 5",
    "ionice -c 2 -n 3",
    "timeout 5",
    "timeout -k 1 5",
    "timeout -s KILL 5",
    "setsid",
    "setsid -w",
    "setsid -f",
    "stdbuf -oL",
    "stdbuf -o L",
    "time",
    "time -p",
    "xargs",
    "xargs -n 1",
    "xargs -I{}",
    "xargs -0 -P 4",
    "parallel",
    "watch",
    "watch -n 1",
    "find . -exec",
    "find . -execdir",
    "fd -x",
    "fd . -X",
    "busybox",
    "strace -f",
    "ltrace",
    "valgrind",
    "perf stat",
    "flock /tmp/l",
    "chroot /x",
    "unshare -r",
    "nsenter -t 1 -m",
    "taskset -c 0",
    "taskset 0x1",
    "chrt -f 1",
    "caffeinate -i",
    "caffeinate -t 5",
    "unbuffer",
    "chronic",
    "fakeroot",
    "sudo",
    "sudo -u x",
    "doas",
    "uv run",
    "poetry run",
    "bundle exec",
    "npx",
    "npm exec --",
    "pnpm exec",
    "yarn dlx",
    "docker exec x",
    "docker run --rm x",
    "docker compose exec x",
    "kubectl exec x --",
    "kubectl run x --image y --",
    "ssh h",
    "mise exec --",
    "rustup run stable",
    "ip netns exec x",
    "git bisect run",
    "git submodule foreach",
    "jobs -x",
    "entr",
    "gdb --args",
    "nix run x --",
    "op run --",
    "tmux new -d",
    "opam exec --",
    "some-tool",
    "some-tool run --",
];

#[test]
fn no_wrapper_hides_what_it_runs() {
    let commands = [
        "rm x",
        "/bin/rm -rf x",
        "git push --force",
        "git -C d reset --hard",
        "cp a /dev/sda",
        "sed -i s/a/b/ f",
        "kubectl delete pod x",
        "docker rm x",
        "npm publish",
        "kill 1",
        "touch f",
        "git commit -m x",
        "some-tool x",
    ];
    let mut wrong = Vec::new();
    for wrapper in WRAPPERS {
        for command in commands {
            let (alone, wrapped) = (classify(command).class, classify(&format!("{wrapper} {command}")).class);
            if wrapped < alone {
                wrong.push(format!("{wrapper} {command}: {wrapped:?} instead of {alone:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_text_option_hides_what_it_runs() {
    let shells = [
        "sh -c",
        "bash -lc",
        "zsh -ic",
        "fish -c",
        "rbash -c",
        "nu -c",
        "pwsh -c",
        "eval",
        "watch",
        "script -c",
        "ssh h",
        "parallel",
        "git submodule foreach",
        "nix-shell --run",
        "tmux new -d",
        "some-tool -x",
        "concurrently",
        "sg x -c",
    ];
    for shell in shells {
        for command in ["rm x", "ls && rm x", "echo $(rm x)", "git push -f"] {
            let text = format!("{shell} '{command}'");
            assert_eq!(classify(&text).class, Destructive, "{text}");
        }
    }
}
