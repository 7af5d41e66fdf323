//! The order of calls on one file within one message: who writes goes alone, in the model's order.

use std::path::PathBuf;

use koda_trust::Touch;
use tokio_util::sync::CancellationToken;

struct Entered {
    path: PathBuf,
    write: bool,
    done: CancellationToken,
}

impl Entered {
    /// Whether a later call must wait: the same file and one of both writes, or both write and one of both
    /// paths lies below the other.
    fn holds_up(&self, touch: &Touch) -> bool {
        let path = touch.path.as_path();
        match (self.write, touch.write) {
            (true, true) => path.starts_with(&self.path) || self.path.starts_with(path),
            (false, false) => false,
            _ => path == self.path,
        }
    }
}

/// The queue of each file. Paths are canonical, so that one file has one queue whatever it is called.
#[derive(Default)]
pub struct Queues(Vec<Entered>);

impl Queues {
    /// Gives the next call its place behind those that it depends on.
    pub fn enter(&mut self, touches: &[Touch]) -> Place {
        let done = CancellationToken::new();
        let holding = |touch| self.0.iter().filter(move |entered: &&Entered| entered.holds_up(touch));
        let before = touches.iter().flat_map(holding).map(|entered| entered.done.clone()).collect();
        self.0.extend(touches.iter().map(|touch| Entered {
            path: touch.path.as_path().to_owned(),
            write: touch.write,
            done: done.clone(),
        }));
        Place { before, done }
    }
}

/// A call's place in its queues. Dropping it lets the next ones go.
pub struct Place {
    before: Vec<CancellationToken>,
    done: CancellationToken,
}

impl Place {
    /// Returns when every call before has ended.
    pub async fn reached(&self) {
        for done in &self.before {
            done.cancelled().await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.done.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use futures::FutureExt;
    use koda_trust::Resolver;

    use super::*;

    fn touch(path: &str, write: bool) -> Touch {
        let root = Path::new("/project");
        Touch { path: Resolver::new(root).resolve(path, root).unwrap(), write }
    }

    fn waits(place: &Place) -> bool {
        place.reached().now_or_never().is_none()
    }

    #[test]
    fn only_who_shares_a_written_file_waits() {
        let mut queues = Queues::default();
        let first = queues.enter(&[touch("a", true)]);
        let second = queues.enter(&[touch("./x/../a", true)]);
        let reader = queues.enter(&[touch("a", false)]);
        let other = queues.enter(&[touch("b", true)]);
        let folder = queues.enter(&[touch(".", false)]);
        assert_eq!([&first, &second, &reader, &other, &folder].map(waits), [false, true, true, false, false]);
        drop(first);
        assert_eq!([&second, &reader].map(waits), [false, true]);
        drop(second);
        assert!(!waits(&reader));
    }

    #[test]
    fn readers_go_together_and_a_writer_waits_for_all() {
        let mut queues = Queues::default();
        let readers = [queues.enter(&[touch("a", false)]), queues.enter(&[touch("a", false)])];
        let writer = queues.enter(&[touch("a", true)]);
        assert!(!readers.iter().any(waits) && waits(&writer));
        drop(readers);
        assert!(!waits(&writer));
    }

    #[test]
    fn who_writes_a_folder_waits_for_what_is_written_in_it() {
        let mut queues = Queues::default();
        let file = queues.enter(&[touch("d/a", true)]);
        let folder = queues.enter(&[touch("d", true)]);
        let after = queues.enter(&[touch("d/b", true)]);
        let beside = queues.enter(&[touch("d2", true)]);
        assert_eq!([&file, &folder, &after, &beside].map(waits), [false, true, true, false]);
    }
}
