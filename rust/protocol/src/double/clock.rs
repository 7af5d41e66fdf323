//! A clock that jumps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use crate::port::Clock;
use crate::time::UnixMillis;

/// Starts at a given moment; a sleep moves it on at once.
#[derive(Default)]
pub struct TestClock(AtomicU64);

impl TestClock {
    /// Builds a clock that shows `start`.
    pub fn new(start: UnixMillis) -> Self {
        Self(AtomicU64::new(start.0))
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
        tokio::task::yield_now().await;
    }
}
