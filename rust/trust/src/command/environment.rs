//! Variables that change what runs.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::words::Arg;

/// Names by which programs, libraries or settings are found. A name that ends in `*` is a beginning.
static LOADED: Names = Names::of(
    "\
    PATH LD_* DYLD_* BASH_ENV BASH_FUNC_* ENV IFS SHELL SHELLOPTS BASHOPTS PS0 PS1 PS4 \
    PROMPT_COMMAND CDPATH ZDOTDIR FPATH HOME XDG_CONFIG_* EDITOR VISUAL BROWSER LESS LESSOPEN \
    LESSCLOSE LESSKEY* MANROFFOPT MANPATH GREP_OPTIONS RIPGREP_CONFIG_PATH FZF_DEFAULT_* \
    TAR_OPTIONS RSYNC_* SSH_* SUDO_* GIT_* PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONWARNINGS \
    PYTHONBREAKPOINT PYTHONUSERBASE PYTEST_ADDOPTS PYTEST_PLUGINS PERL5* PERLLIB RUBYOPT RUBYLIB \
    GEM_* BUNDLE_* NODE_OPTIONS NODE_REPL_* NPM_CONFIG_* npm_config_* JAVA_TOOL_OPTIONS \
    _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_HOME CLASSPATH MAVEN_OPTS GRADLE_OPTS RUSTC* RUSTDOC \
    RUSTUP_* CARGO_* CC CXX CPP LD AR AS MAKE MAKEFLAGS GNUMAKEFLAGS MFLAGS GOFLAGS GOROOT GOPROXY \
    GONOSUMDB GOTOOLCHAIN CGO_* PIP_* UV_* DOCKER_HOST DOCKER_CONFIG KUBECONFIG GCONV_PATH LOCPATH \
    NIX_* OPENSSL_CONF TERMINFO http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy \
    SSL_CERT_*",
);

/// Of those, names that only choose how much is shown or asked.
static HARMLESS: Names = Names::of(
    "\
    GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE \
    GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE GIT_LITERAL_PATHSPECS GIT_ADVICE \
    CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_TERM_PROGRESS_WHEN CARGO_BUILD_JOBS CARGO_NET_OFFLINE \
    RUSTUP_TOOLCHAIN CGO_ENABLED PYTHONWARNINGS",
);

/// Variables that name a program which only shows text.
static PAGERS: Names = Names::of(
    "\
    PAGER GIT_PAGER MANPAGER BAT_PAGER DELTA_PAGER GH_PAGER AWS_PAGER SYSTEMD_PAGER GIT_EDITOR",
);

/// What may stand in those, and runs nothing else.
const SHOWERS: &[&str] =
    &["", "cat", "less", "more", "head", "true", ":", "less -R", "less -FRX", "less -F", "less -X"];

/// Folders from which modules are loaded: fine within the project, whose code runs anyway.
static MODULES: Names = Names::of(
    "\
    PYTHONPATH NODE_PATH GOPATH LUA_PATH LUA_CPATH",
);

/// Flags of a compiler, which can name programs and plugins.
static COMPILER_FLAGS: Names = Names::of(
    "\
    RUSTFLAGS RUSTDOCFLAGS CFLAGS CXXFLAGS LDFLAGS CPPFLAGS",
);

/// Whether giving this variable this value changes which programs run or what they load.
pub fn changes_what_runs(name: &str, value: &Arg) -> bool {
    if PAGERS.has(name) {
        return !(value.fixed() && SHOWERS.contains(&value.text.as_str()));
    }
    if MODULES.has(name) {
        return !value.fixed()
            || value.text.split(':').any(|path| path.starts_with(['/', '~']) || path.contains(".."));
    }
    if COMPILER_FLAGS.has(name) {
        let names_one = ["linker", "plugin", "-B", "specs", "wrapper", "runner", "@"];
        return !value.fixed() || names_one.iter().any(|sign| value.text.contains(sign));
    }
    if name == "NODE_OPTIONS" {
        return !(value.fixed()
            && value.text.starts_with("--max-old-space-size=")
            && !value.text.contains(' '));
    }
    !HARMLESS.has(name) && is_loaded(name)
}

/// Whether a name is one that changes what runs with some value.
pub fn is_loaded(name: &str) -> bool {
    [&LOADED, &PAGERS, &MODULES].iter().any(|names| names.has(name))
}

/// Names of variables; one that ends in `*` is a beginning. Split once: a long text asks thousands of times.
struct Names {
    text: &'static str,
    split: OnceLock<(HashSet<&'static str>, Vec<&'static str>)>,
}

impl Names {
    const fn of(text: &'static str) -> Self {
        Self { text, split: OnceLock::new() }
    }

    fn has(&self, name: &str) -> bool {
        let (whole, begins) = self.split.get_or_init(|| {
            let (begins, whole): (Vec<&str>, Vec<&str>) =
                self.text.split_whitespace().partition(|name| name.ends_with('*'));
            let begins = begins.into_iter().map(|name| name.trim_end_matches('*')).collect();
            (whole.into_iter().collect(), begins)
        });
        whole.contains(name) || begins.iter().any(|begin| name.starts_with(begin))
    }
}
