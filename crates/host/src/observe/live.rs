//! Live observation of this host: its sockets, listed at intervals.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use model::observation::{Filter, Observation};
use sys::{
    Netlink, NetlinkError,
    clock::Instant,
    sock_diag::{self, Owner, WITH_DATA},
};

use super::Watch;

/// Shortest interval: a list of some thousand sockets takes milliseconds.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// Longest wait before the stop flag is checked.
const POLL: Duration = Duration::from_millis(100);

/// Scope and duration of an observation.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    filter: Filter,
    interval: Duration,
    duration: Duration,
    follow: bool,
}

impl Config {
    /// Connections that `filter` admits, listed every `interval`, over `duration`; with `follow`
    /// until stopped, and `duration` is then the time span of an observation.
    ///
    /// # Errors
    /// The interval is below 10 ms, or the duration is too short for three lists, the minimum for a
    /// verdict.
    pub fn new(
        filter: Filter,
        interval: Duration,
        duration: Duration,
        follow: bool,
    ) -> Result<Self, ObserveError> {
        if interval < MIN_INTERVAL {
            return Err(ObserveError::Interval(interval));
        }
        if duration < interval * 2 {
            return Err(ObserveError::Duration { duration, interval });
        }
        Ok(Self {
            filter,
            interval,
            duration,
            follow,
        })
    }
}

impl Config {
    /// All connections over `span`, with enough lists for a verdict on each.
    ///
    /// # Errors
    /// The span is too short for three lists.
    pub fn over(span: Duration) -> Result<Self, ObserveError> {
        const LISTS: u32 = 10;
        let interval = (span / LISTS).clamp(MIN_INTERVAL, Duration::from_secs(1));
        Self::new(Filter::default(), interval, span, false)
    }
}

/// Reason why this host's sockets cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The sockets cannot be listed that often.
    #[error("--interval {0:?} is too short; it is at least {MIN_INTERVAL:?}")]
    Interval(Duration),
    /// There would be too few lists for a verdict.
    #[error(
        "--duration {duration:?} is too short for --interval {interval:?}; it is at least twice that"
    )]
    Duration {
        /// The duration.
        duration: Duration,
        /// The interval.
        interval: Duration,
    },
    /// The kernel cannot list sockets.
    #[error(
        "{0}; the kernel needs CONFIG_INET_DIAG and CONFIG_INET_TCP_DIAG (modules inet_diag and tcp_diag)"
    )]
    Missing(NetlinkError),
    /// The kernel refused to list sockets.
    #[error(transparent)]
    Refused(NetlinkError),
}

impl From<NetlinkError> for ObserveError {
    fn from(error: NetlinkError) -> Self {
        match sock_diag::lacks(error.errno) {
            true => Self::Missing(error),
            false => Self::Refused(error),
        }
    }
}

/// Reason for the end of an observation, and its time, µs since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The duration has passed.
    Complete(u64),
    /// The stop flag was set.
    Stopped(u64),
    /// The caller requests no more.
    Cancelled,
}

/// Called after each list: with the observer, the time since the start in µs, and the time that is
/// left, if there is an end. It breaks to cancel the observation.
pub type OnList<'a, E> =
    &'a mut dyn FnMut(&Observer, u64, Option<Duration>) -> Result<ControlFlow<()>, E>;

/// An observation of this host.
#[derive(Debug)]
pub struct Observer {
    config: Config,
    netlink: Netlink,
    watch: Watch,
}

impl Observer {
    /// Opens the kernel's interface for lists of sockets.
    ///
    /// # Errors
    /// The kernel lacks it.
    pub fn open(config: Config) -> Result<Self, ObserveError> {
        Ok(Self {
            netlink: Netlink::sock_diag()?,
            watch: Watch::new(config.filter),
            config,
        })
    }

    /// Lists the sockets at each interval, and calls `on_list` after each with the time since the
    /// start in µs, and the time that is left; absent with `follow`.
    ///
    /// # Errors
    /// The sockets cannot be listed, or `on_list` failed.
    pub fn run<E: From<ObserveError>>(
        &mut self,
        stop: &AtomicBool,
        on_list: OnList<'_, E>,
    ) -> Result<End, E> {
        let start = Instant::now();
        let span = self.config.duration.as_micros() as u64;
        let mut due = start;
        loop {
            let now = micros_since(start);
            self.list(now)?;
            let left = (!self.config.follow).then(|| span.saturating_sub(now));
            match left {
                None => self.watch.forget_before(now.saturating_sub(span)),
                Some(0) => return Ok(End::Complete(now)),
                Some(_) => {}
            }
            if on_list(self, now, left.map(Duration::from_micros))?.is_break() {
                return Ok(End::Cancelled);
            }
            due = next(due, self.config.interval);
            if !wait(due, stop) {
                return Ok(End::Stopped(now));
            }
        }
    }

    fn list(&mut self, at_us: u64) -> Result<(), ObserveError> {
        let sockets = sock_diag::tcp_sockets(&mut self.netlink, WITH_DATA)?;
        let mut owners: Option<HashMap<u32, Owner>> = None;
        // Reading all of /proc pays only where there is a connection to name.
        self.watch.add(at_us, sockets, |inode| {
            owners
                .get_or_insert_with(sock_diag::owners)
                .get(&inode)
                .cloned()
        });
        Ok(())
    }

    /// The observation so far, only the first `top` connections.
    pub fn observation(&self, top: Option<usize>) -> Observation {
        Observation {
            kernel: Some(sys::machine::release()),
            ..self.watch.observation(top)
        }
    }
}

/// The next time to list the sockets; times that passed during the last list are skipped.
fn next(due: Instant, interval: Duration) -> Instant {
    let mut next = due.after(interval);
    while next < Instant::now() {
        next = next.after(interval);
    }
    next
}

/// Waits until `due`; `false` if the stop flag was set before.
fn wait(due: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let now = Instant::now();
        if now >= due {
            return true;
        }
        due.min(now.after(POLL)).wait();
    }
}

fn micros_since(start: Instant) -> u64 {
    u64::try_from(Instant::now().since(start) / 1000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_lists_must_fit_into_the_duration() {
        let config = |interval, duration| {
            let ms = Duration::from_millis;
            Config::new(Filter::default(), ms(interval), ms(duration), false)
        };
        assert!(config(10, 20).is_ok());
        assert!(matches!(config(9, 20), Err(ObserveError::Interval(_))));
        assert!(matches!(config(10, 19), Err(ObserveError::Duration { .. })));
    }

    #[test]
    fn a_span_has_ten_lists_where_that_is_neither_too_often_nor_too_seldom() {
        let interval = |ms| Config::over(Duration::from_millis(ms)).map(|config| config.interval);
        assert_eq!(interval(5000).unwrap(), Duration::from_millis(500));
        assert_eq!(interval(60_000).unwrap(), Duration::from_secs(1));
        assert_eq!(interval(50).unwrap(), MIN_INTERVAL);
        assert!(matches!(interval(19), Err(ObserveError::Duration { .. })));
    }

    #[test]
    fn an_observation_ends_in_time_or_when_the_caller_wants_no_more() {
        let ms = Duration::from_millis;
        let config = Config::new(Filter::default(), ms(10), ms(30), false).unwrap();
        let stop = AtomicBool::new(false);
        let mut lists = 0;
        let mut observer = Observer::open(config).unwrap();
        let end = observer.run(&stop, &mut |_, _, left| {
            lists += 1;
            assert!(left.is_some_and(|left| left <= ms(30)));
            Ok::<_, ObserveError>(ControlFlow::Continue(()))
        });
        assert!(
            matches!(end, Ok(End::Complete(at)) if at >= 30_000),
            "{end:?}"
        );
        assert!((1..=3).contains(&lists), "{lists}");
        let end = observer.run(&stop, &mut |_, _, _| {
            Ok::<_, ObserveError>(ControlFlow::Break(()))
        });
        assert!(matches!(end, Ok(End::Cancelled)), "{end:?}");
    }
}
