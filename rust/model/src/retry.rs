//! How long to wait before a request is tried again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::failure::Failure;
use crate::settings::Retries;

/// Returns the wait before the try after `attempt` (from 1), or nothing if there is to be none.
///
/// The provider's own wish is kept where it is not longer than the longest wait; otherwise the wait doubles
/// with each try, with jitter, so that many sessions don't come back at once.
pub(crate) fn wait(retries: &Retries, attempt: u32, failure: &Failure) -> Option<Duration> {
    if !failure.passes || attempt >= retries.tries.max(1) {
        return None;
    }
    let longest = Duration::from_millis(retries.max_ms);
    if let Some(after) = failure.after {
        return (after <= longest).then_some(after);
    }
    let doubled = retries.base_ms.saturating_mul(1 << attempt.saturating_sub(1).min(20));
    Some(jittered(Duration::from_millis(doubled.min(retries.max_ms))))
}

/// Returns between half of `wait` and all of it.
fn jittered(wait: Duration) -> Duration {
    // Each RandomState has keys of its own, so a hash of nothing is a random number.
    let random = RandomState::new().hash_one(()) % 1000;
    wait.mul_f64(0.5 + random as f64 / 2000.0)
}

#[cfg(test)]
mod tests {
    use koda_protocol::port::{ModelError, ModelErrorKind};

    use super::*;

    const RETRIES: Retries = Retries { tries: 4, base_ms: 100, max_ms: 250 };

    fn failure(passes: bool, after_ms: Option<u64>) -> Failure {
        let error = ModelError { kind: ModelErrorKind::Busy, message: String::new(), hint: None };
        Failure { error, passes, after: after_ms.map(Duration::from_millis) }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end() {
        for (attempt, most) in [(1, 100), (2, 200), (3, 250)] {
            let wait = wait(&RETRIES, attempt, &failure(true, None)).unwrap();
            assert!(
                wait <= Duration::from_millis(most) && wait >= Duration::from_millis(most / 2),
                "{wait:?}"
            );
        }
        assert_eq!(wait(&RETRIES, 4, &failure(true, None)), None);
        assert_eq!(wait(&RETRIES, 1, &failure(false, None)), None);
    }

    #[test]
    fn the_providers_wish_is_kept_or_not_waited_for() {
        assert_eq!(wait(&RETRIES, 1, &failure(true, Some(7))), Some(Duration::from_millis(7)));
        assert_eq!(wait(&RETRIES, 1, &failure(true, Some(60_000))), None);
    }
}
