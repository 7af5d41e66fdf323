//! Variables that change what runs.

use super::words::Arg;

/// Names by which programs, libraries or settings are found. A name that ends in `*` is a beginning.
const LOADED: &str = "\
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
    SSL_CERT_*";

/// Of those, names that only choose how much is shown or asked.
const HARMLESS: &str = "\
    GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE \
    GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE GIT_LITERAL_PATHSPECS GIT_ADVICE \
    CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_TERM_PROGRESS_WHEN CARGO_BUILD_JOBS CARGO_NET_OFFLINE \
    RUSTUP_TOOLCHAIN CGO_ENABLED PYTHONWARNINGS";

/// Variables that name a program which only shows text.
const PAGERS: &str = "\
    PAGER GIT_PAGER MANPAGER BAT_PAGER DELTA_PAGER GH_PAGER AWS_PAGER SYSTEMD_PAGER GIT_EDITOR";

/// What may stand in those, and runs nothing else.
const SHOWERS: &[&str] =
    &["", "cat", "less", "more", "head", "true", ":", "less -R", "less -FRX", "less -F", "less -X"];

/// Folders from which modules are loaded: fine within the project, whose code runs anyway.
const MODULES: &str = "\
    PYTHONPATH NODE_PATH GOPATH LUA_PATH LUA_CPATH";

/// Flags of a compiler, which can name programs and plugins.
const COMPILER_FLAGS: &str = "\
    RUSTFLAGS RUSTDOCFLAGS CFLAGS CXXFLAGS LDFLAGS CPPFLAGS";

/// Whether giving this variable this value changes which programs run or what they load.
pub fn changes_what_runs(name: &str, value: &Arg) -> bool {
    if listed(PAGERS, name) {
        return !(value.fixed() && SHOWERS.contains(&value.text.as_str()));
    }
    if listed(MODULES, name) {
        return !value.fixed()
            || value.text.split(':').any(|path| path.starts_with(['/', '~']) || path.contains(".."));
    }
    if listed(COMPILER_FLAGS, name) {
        let names_one = ["linker", "plugin", "-B", "specs", "wrapper", "runner", "@"];
        return !value.fixed() || names_one.iter().any(|sign| value.text.contains(sign));
    }
    if name == "NODE_OPTIONS" {
        return !(value.fixed()
            && value.text.starts_with("--max-old-space-size=")
            && !value.text.contains(' '));
    }
    !listed(HARMLESS, name) && is_loaded(name)
}

/// Whether a name is one that changes what runs with some value.
pub fn is_loaded(name: &str) -> bool {
    [LOADED, PAGERS, MODULES].iter().any(|list| listed(list, name))
}

/// Whether a name is in a list, where a `*` ends the beginning of names.
fn listed(list: &str, name: &str) -> bool {
    let fits = |known: &str| known.strip_suffix('*').map_or(known == name, |begin| name.starts_with(begin));
    list.split_whitespace().any(fits)
}
