//! The wiring: one runtime, one bridge, and the crates below put together.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use koda_agent::{AgentSettings, Budget, Desk, Engine, EngineParts, InstructionSettings};
use koda_model::{ModelSettings, Models};
use koda_protocol::UserError;
use koda_protocol::port::{Store, Terminals};
use koda_protocol::rule::Rules;
use koda_shell::sandbox::Sandbox;
use koda_shell::{Pool, PoolOptions};
use koda_store::{CheckpointLimits, RuleFile, SqliteCheckpoints};
use koda_tools::{Ports, Registry};
use mlua::prelude::{Lua, LuaFunction};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::bridge::{self, Bridge, Outbox};
use crate::clock::SystemClock;
use crate::log;
use crate::port::{NvimEditor, SplitView};
use crate::settings::{Limits, Settings};
use crate::store::LazyStore;

/// Steps of a turn unless the settings say otherwise.
const MAX_STEPS: u32 = 200;

/// Threads of the background runtime: the work waits for networks and processes, not for cores.
const WORKERS: usize = 2;

/// How long leaving Neovim may wait for turns and processes to end; the rest of a second is Neovim's own.
const SHUTDOWN: Duration = Duration::from_millis(800);

/// Everything that runs.
pub struct Koda {
    /// The way to the main thread.
    pub bridge: Bridge,
    /// Where everything else runs.
    pub runtime: Runtime,
    /// The agent.
    pub engine: Engine,
    /// What waits for the user.
    pub desk: Arc<Desk>,
    /// Models by name.
    pub models: Arc<Models>,
    /// Terminals.
    pub pool: Pool,
    /// Sessions.
    pub store: Arc<dyn Store>,
    /// The rules that last.
    pub rules: Arc<dyn Rules>,
    /// The settings.
    pub settings: Settings,
}

static KODA: OnceLock<Koda> = OnceLock::new();

/// Returns what runs, if `start` was called.
pub fn running() -> Option<&'static Koda> {
    KODA.get()
}

/// Returns what runs.
///
/// # Errors
///
/// `not_started` before `start`.
pub fn koda() -> Result<&'static Koda, UserError> {
    KODA.get().ok_or_else(|| {
        UserError::new("not_started", "Koda's library is not set up").hint("call require('koda').setup()")
    })
}

/// Starts everything, once; later calls change nothing. Must run on the main thread.
///
/// # Errors
///
/// What could not be started, and what to do.
pub fn start(lua: &Lua, settings: Settings, deliver: LuaFunction) -> Result<(), UserError> {
    if KODA.get().is_some() {
        return Ok(());
    }
    let koda = build(lua, settings, deliver)?;
    // Only the main thread starts anything, so the cell can't have been filled meanwhile.
    let _ = KODA.set(koda);
    Ok(())
}

fn build(lua: &Lua, settings: Settings, deliver: LuaFunction) -> Result<Koda, UserError> {
    if let Err(error) = log::start(&settings.state_dir, settings.log.level.as_deref()) {
        tracing::warn!(%error, "no log file");
    }
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        UserError::new("start", format!("{what} could not be started: {error}"))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("koda")
        .enable_all()
        .build()
        .map_err(|error| failed("the runtime", &error))?;
    let bridge = bridge::start(lua).map_err(|error| failed("the bridge", &error))?;
    let deliver = lua.create_registry_value(deliver).map_err(|error| failed("the bridge", &error))?;
    let outbox = Outbox::new(bridge.clone(), runtime.handle().clone(), deliver);
    let store: Arc<dyn Store> = Arc::new(LazyStore::open(settings.data_dir.clone(), &bridge));
    let models = Arc::new(Models::new(model_settings(&settings)));
    let pool = Pool::new(pool_options(&settings), Arc::new(SplitView::new(bridge.clone())));
    let desk = Arc::new(Desk::default());
    let rules: Arc<dyn Rules> = Arc::new(RuleFile::new(&settings.data_dir));
    let engine = Engine::new(EngineParts {
        model: models.clone(),
        registry: Arc::new(Registry::standard()),
        ports: Ports {
            editor: Arc::new(NvimEditor::new(bridge.clone())),
            terminals: Arc::new(pool.clone()),
            store: store.clone(),
            approver: desk.clone(),
        },
        checkpoints: Arc::new(SqliteCheckpoints::new(&settings.data_dir, checkpoint_limits(&settings))),
        rules: rules.clone(),
        clock: Arc::new(SystemClock),
        sinks: vec![Arc::new(outbox)],
        settings: agent_settings(&settings),
        runtime: runtime.handle().clone(),
        cancel: CancellationToken::new(),
    });
    Ok(Koda { bridge, runtime, engine, desk, models, pool, store, rules, settings })
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn model_settings(settings: &Settings) -> ModelSettings {
    let mut models = ModelSettings::new(env);
    models.providers = settings.providers.clone();
    models.timeouts = settings.timeouts;
    models.cache_dir = Some(settings.state_dir.clone());
    models.options = settings.model_options.clone();
    models.prices = settings.prices.clone();
    models.max_output_tokens = settings.max_output_tokens;
    models
}

fn pool_options(settings: &Settings) -> PoolOptions {
    // A variable that is no UTF-8 can't be handed on unchanged and is left out.
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    // Neovim's own variables would make an inner Neovim take this one for its parent.
    let env = env.filter(|(name, _)| !matches!(name.as_str(), "NVIM" | "VIM" | "VIMRUNTIME" | "MYVIMRC"));
    let env: Vec<(String, String)> = env.collect();
    let home = self::env("HOME").map(PathBuf::from);
    let sandbox = Some(Sandbox {
        profile: settings.sandbox.profile,
        network: settings.sandbox.network,
        home,
        env: env.clone(),
    });
    PoolOptions { shell: settings.terminal.shell.clone(), sandbox, ..PoolOptions::new(env) }
}

fn agent_settings(settings: &Settings) -> AgentSettings {
    AgentSettings {
        mode: settings.mode,
        trust: settings.trust,
        max_steps: settings.max_steps.unwrap_or(MAX_STEPS),
        tools: settings.tools.clone(),
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        home: env("HOME").map(PathBuf::from),
        budget: budget(settings),
        instructions: instructions(settings),
    }
}

fn checkpoint_limits(settings: &Settings) -> CheckpointLimits {
    let default = CheckpointLimits::default();
    CheckpointLimits {
        file_bytes: settings.checkpoints.max_file_bytes.unwrap_or(default.file_bytes),
        days: settings.checkpoints.days.unwrap_or(default.days),
    }
}

fn budget(settings: &Settings) -> Budget {
    let Limits { turn, session, day } = settings.budget;
    Budget { turn, session, day }
}

fn instructions(settings: &Settings) -> InstructionSettings {
    let default = InstructionSettings::default();
    InstructionSettings {
        max_bytes: settings.instructions.max_bytes.unwrap_or(default.max_bytes),
        cursor: settings.instructions.cursor,
        config: config_dir(),
    }
}

/// Returns the user's folder of configuration for every Koda, not only that of Neovim.
fn config_dir() -> Option<PathBuf> {
    let base = env("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(PathBuf::from(env("HOME")?).join(".config")))?;
    Some(base.join("koda"))
}

impl Koda {
    /// Ends every turn, process and thread, within a deadline, and has their last events stored. Nothing
    /// calls into Neovim afterwards.
    pub fn shutdown(&'static self) {
        self.bridge.close();
        self.engine.stop_all();
        let (done, ended) = std::sync::mpsc::channel();
        self.runtime.spawn(async move {
            tokio::join!(self.pool.shutdown(SHUTDOWN / 2), self.engine.shutdown());
            // The main thread may have stopped waiting.
            let _ = done.send(());
        });
        if ended.recv_timeout(SHUTDOWN).is_err() {
            tracing::warn!("leaving before everything had ended");
        }
    }
}
