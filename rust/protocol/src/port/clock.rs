//! The clock.

use std::time::Duration;

use async_trait::async_trait;

use crate::time::UnixMillis;

/// Tells the time and waits.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> UnixMillis;
    /// Returns after `duration`. Dropping the future ends the wait.
    async fn sleep(&self, duration: Duration);
}
