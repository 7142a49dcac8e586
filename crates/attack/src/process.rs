//! Resources of a process, from `/proc` (proc(5)).

use std::{
    fs, io,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::case::Seen;

/// Maximum time for a process to release resources after an attack.
pub const REST: Duration = Duration::from_secs(10);

/// Maximum ratio of idle resources after an attack to those before it.
pub const MORE: f64 = 1.05;

/// Resources of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Threads.
    pub threads: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// Resident memory, KiB.
    pub resident_kib: u64,
}

impl Held {
    /// Current resources.
    ///
    /// # Errors
    /// The process does not exist, or belongs to another user.
    pub fn of(pid: u32) -> io::Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let number = |key: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(key));
            let word = line.and_then(|l| l.split_whitespace().next());
            let missing = || io::Error::other(format!("no {key} in /proc/{pid}/status"));
            word.and_then(|w| w.parse().ok()).ok_or_else(missing)
        };
        Ok(Self {
            threads: number("Threads:")?,
            descriptors: fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64,
            resident_kib: number("VmRSS:")?,
        })
    }

    /// Resources after threads and descriptors have been constant for a fifth of a second.
    ///
    /// # Errors
    /// The process is gone.
    pub fn settled(pid: u32) -> io::Result<Self> {
        let deadline = Instant::now() + REST;
        let mut last = Self::of(pid)?;
        let mut same = 0;
        while same < 4 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(50));
            let now = Self::of(pid)?;
            let is_same = (now.threads, now.descriptors) == (last.threads, last.descriptors);
            same = if is_same { same + 1 } else { 0 };
            last = now;
        }
        Ok(last)
    }

    /// Returns true if resources are back at those `before`, within the tolerance.
    pub fn is_back(&self, before: &Self) -> bool {
        let within = |now: u64, then: u64| now as f64 <= then as f64 * MORE;
        within(self.threads, before.threads)
            && within(self.descriptors, before.descriptors)
            && within(self.resident_kib, before.resident_kib)
    }
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} threads, {} descriptors, {:.1} MiB",
            self.threads,
            self.descriptors,
            self.resident_kib as f64 / 1024.0
        )
    }
}

/// Waits at most ten seconds until a process is back at its resources `before`, and records the
/// result.
///
/// # Errors
/// The process is gone.
pub fn rests(pid: u32, before: &Held, seen: &mut Seen) -> io::Result<()> {
    let deadline = Instant::now() + REST;
    let mut now = Held::of(pid)?;
    while !now.is_back(before) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
        now = Held::of(pid)?;
    }
    let what = format!("after: {now} (before: {before})");
    seen.check(now.is_back(before), what);
    Ok(())
}

/// Processor time of all threads of a process, s.
///
/// # Errors
/// The process does not exist.
pub fn cpu_s(pid: u32) -> io::Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    // utime and stime are fields 14 and 15 (proc(5)), in ticks of 1/100 s.
    let ticks = fields.split_whitespace().skip(11).take(2);
    Ok(ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0)
}

/// Sets a flag on drop.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Monitors a process while `body` runs; returns the maximum of each resource.
///
/// # Errors
/// The process is gone.
pub fn most_while<T>(pid: u32, body: impl FnOnce() -> T) -> io::Result<(T, Held)> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = Held::of(pid)?;
            while !done.load(Ordering::Relaxed) {
                let now = Held::of(pid)?;
                most.threads = most.threads.max(now.threads);
                most.descriptors = most.descriptors.max(now.descriptors);
                most.resident_kib = most.resident_kib.max(now.resident_kib);
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(most)
        });
        // Also after a panic, otherwise the watcher would never end.
        let over = Over(&done);
        let value = body();
        drop(over);
        let most = watch
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the watcher ended")))?;
        Ok((value, most))
    })
}
