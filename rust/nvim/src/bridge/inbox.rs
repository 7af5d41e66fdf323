//! The inbox: jobs from any thread, run on the main thread in order and under a budget.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mlua::prelude::{Lua, LuaError, LuaFunction, LuaResult};
use nvim_oxi_libuv::AsyncHandle;
use tokio::sync::oneshot;

/// Stop draining after this long and come back in the next tick, so that input is handled between.
const BUDGET: Duration = Duration::from_millis(4);

type Job = Box<dyn FnOnce(&Lua) -> LuaResult<()> + Send>;

/// Why a call to the main thread has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BridgeError {
    /// Lua raised an error, or the job panicked.
    #[error("{0}")]
    Failed(String),
    /// Neovim is leaving.
    #[error("Neovim is leaving")]
    Closed,
}

/// Counters of the bridge, for tests and benches.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Stats {
    /// Jobs run so far.
    pub jobs: u64,
    /// Ticks in which jobs ran.
    pub ticks: u64,
    /// Jobs that failed or panicked.
    pub failed: u64,
    /// Microseconds of the longest tick.
    pub longest_tick_us: u64,
    /// Microseconds of the longest single job.
    pub longest_job_us: u64,
    /// Jobs that wait now.
    pub waiting: u64,
}

struct Shared {
    jobs: Mutex<VecDeque<Job>>,
    handle: AsyncHandle,
    woken: AtomicBool,
    closed: AtomicBool,
    ran: AtomicU64,
    ticks: AtomicU64,
    failed: AtomicU64,
    longest_tick_us: AtomicU64,
    longest_job_us: AtomicU64,
}

/// Posts work to the main thread. Cheap to clone; any thread may use it.
#[derive(Clone)]
pub struct Bridge(Arc<Shared>);

/// Starts the bridge. Must be called once, on the main thread.
///
/// # Errors
///
/// If libuv refuses an async handle, or `vim.schedule` is missing.
pub fn start(lua: &Lua) -> LuaResult<Bridge> {
    let schedule: LuaFunction = lua.load("return vim.schedule").eval()?;
    let slot: Arc<Mutex<Option<Bridge>>> = Arc::default();

    let drain_slot = slot.clone();
    let drain = lua.create_function(move |lua, ()| {
        let bridge = drain_slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(bridge) = bridge {
            bridge.drain(lua);
        }
        Ok(())
    })?;

    // SAFETY: `state` is the running Lua state of Neovim's main thread, whose registry holds the loop.
    unsafe { lua.exec_raw::<()>((), |state| nvim_oxi_libuv::init(state.cast()))? };
    // The callback holds Lua functions for the rest of the process: libuv owns it and never drops it,
    // so nothing of ours touches the Lua state after Neovim has closed it.
    let handle = AsyncHandle::new(move || {
        if let Err(error) = schedule.call::<()>(&drain) {
            tracing::error!(%error, "vim.schedule refused the inbox");
        }
    })
    .map_err(LuaError::external)?;

    let bridge = Bridge(Arc::new(Shared {
        jobs: Mutex::default(),
        handle,
        woken: AtomicBool::new(false),
        closed: AtomicBool::new(false),
        ran: AtomicU64::new(0),
        ticks: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        longest_tick_us: AtomicU64::new(0),
        longest_job_us: AtomicU64::new(0),
    }));
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(bridge.clone());
    Ok(bridge)
}

impl Bridge {
    /// Runs `job` on the main thread, after all that was posted before. Dropped once the bridge is closed.
    pub fn post(&self, job: impl FnOnce(&Lua) -> LuaResult<()> + Send + 'static) {
        if self.0.closed.load(Ordering::SeqCst) {
            return;
        }
        self.jobs().push_back(Box::new(job));
        self.wake();
    }

    /// Runs `job` on the main thread and returns what it returned.
    ///
    /// # Errors
    ///
    /// [`BridgeError::Failed`] with Lua's words; [`BridgeError::Closed`] when Neovim leaves first.
    pub async fn call<R: Send + 'static>(
        &self,
        job: impl FnOnce(&Lua) -> LuaResult<R> + Send + 'static,
    ) -> Result<R, BridgeError> {
        let (sender, receiver) = oneshot::channel();
        self.post(move |lua| {
            // The receiver may be gone: a cancelled call is no error.
            let _ = sender.send(guarded(|| job(lua)));
            Ok(())
        });
        receiver.await.unwrap_or(Err(BridgeError::Closed))
    }

    /// Drops what waits and takes nothing more.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::SeqCst);
        self.jobs().clear();
    }

    /// Returns the counters.
    pub fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            jobs: read(&self.0.ran),
            ticks: read(&self.0.ticks),
            failed: read(&self.0.failed),
            longest_tick_us: read(&self.0.longest_tick_us),
            longest_job_us: read(&self.0.longest_job_us),
            waiting: self.jobs().len() as u64,
        }
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, VecDeque<Job>> {
        self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the loop unless a wake-up is on its way already.
    fn wake(&self) {
        if !self.0.woken.swap(true, Ordering::SeqCst)
            && let Err(error) = self.0.handle.send()
        {
            self.0.woken.store(false, Ordering::SeqCst);
            tracing::error!(%error, "can't wake the main loop");
        }
    }

    /// Runs waiting jobs until none is left or the budget is spent.
    ///
    /// What is left is not scheduled from here: Neovim empties its whole queue before it looks at
    /// input, so the rest goes round by way of the async handle.
    fn drain(&self, lua: &Lua) {
        self.0.woken.store(false, Ordering::SeqCst);
        let begun = Instant::now();
        let mut last = begun;
        loop {
            let Some(job) = self.jobs().pop_front() else { break };
            if let Err(error) = guarded(|| job(lua)) {
                self.0.failed.fetch_add(1, Ordering::Relaxed);
                tracing::error!(%error, "a job on the main thread failed");
            }
            let now = Instant::now();
            self.0.ran.fetch_add(1, Ordering::Relaxed);
            raise(&self.0.longest_job_us, now - last);
            last = now;
            if now - begun >= BUDGET {
                break;
            }
        }
        self.0.ticks.fetch_add(1, Ordering::Relaxed);
        raise(&self.0.longest_tick_us, last - begun);
        if !self.jobs().is_empty() {
            self.wake();
        }
    }
}

fn raise(counter: &AtomicU64, took: Duration) {
    counter.fetch_max(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Runs `job`, turning a Lua error or a panic into an error value.
fn guarded<R>(job: impl FnOnce() -> LuaResult<R>) -> Result<R, BridgeError> {
    match catch_unwind(AssertUnwindSafe(job)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(BridgeError::Failed(error.to_string())),
        Err(_) => {
            Err(BridgeError::Failed("Koda panicked on the main thread; its log has the place".to_owned()))
        }
    }
}
