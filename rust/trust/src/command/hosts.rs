//! The hosts that a command talks to, as far as it names them.

use super::rules::Found;
use super::words::Arg;

/// Programs whose operands are hosts, or have one before a colon.
const REMOTE: &[&str] =
    &["ssh", "scp", "sftp", "rsync", "mosh", "telnet", "nc", "ncat", "ping", "dig", "nslookup"];

/// Adds the hosts in a program's operands.
pub fn add(found: &Found, hosts: &mut Vec<String>) {
    let program = found.head.split(' ').next().unwrap_or_default();
    for arg in found.operands.iter().filter(|arg| arg.fixed()) {
        let host = of_url(&arg.text).or_else(|| of_remote(program, arg));
        if let Some(host) = host.filter(|host| !hosts.contains(host)) {
            hosts.push(host);
        }
    }
}

fn of_url(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let rest = rest.split(['/', '?', '#']).next()?;
    let host = rest.rsplit('@').next()?;
    let plain = scheme != "file" && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
    (plain && !host.is_empty()).then(|| host.to_owned())
}

fn of_remote(program: &str, arg: &Arg) -> Option<String> {
    let text = arg.text.as_str();
    let host = match text.split_once(':') {
        Some((host, _)) if !host.contains('/') => host,
        None if REMOTE.contains(&program) && !matches!(program, "scp" | "rsync") => text,
        _ => return None,
    };
    let named = REMOTE.contains(&program) || (program == "git" && host.contains('@'));
    let host = host.rsplit('@').next().unwrap_or(host);
    (named && !host.is_empty()).then(|| host.to_owned())
}
