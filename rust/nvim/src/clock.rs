//! The system's clock as a port.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use koda_protocol::UnixMillis;
use koda_protocol::port::Clock;

/// Tells the system's time and waits on the runtime's timer.
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> UnixMillis {
        // A clock before 1970 is shown as 1970 rather than ending the session.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
