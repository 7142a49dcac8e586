//! Stateful fuzzer of the protocols: random valid messages in random order, and occasionally
//! invalid ones, in all states, by clients with and without the key.
//!
//! The choices of a session depend only on the seed and the session's number, so that it can be
//! reproduced. Timing is not controlled.

mod choice;
mod datagrams;
mod iperf3;
mod own;
mod tally;

use std::{
    net::Ipv4Addr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use stats::Random;

use crate::{
    case::{Seen, Target},
    legitimate::{Client, Figures, PACED},
    process::{Held, most_while, rests},
    served::Served,
    trouble::Trouble,
};
pub use tally::Tally;

/// Extent of a fuzzing run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Seed of all choices.
    pub seed: u64,
    /// Number of the first session.
    pub first: u64,
    /// Minimum number of messages.
    pub messages: u64,
    /// Minimum number of sessions.
    pub sessions: u64,
    /// Maximum time.
    pub time: Duration,
    /// Concurrent clients.
    pub clients: usize,
    /// Messages between two checks.
    pub batch: u64,
}

/// Payload that one session may move.
const BYTES: u64 = 10_000_000;

/// Limits of the server for all clients together: threads and descriptors, including its own.
const MAX: Held = Held {
    threads: 1536 + 16,
    descriptors: 3072 + 256 + 32,
    resident_kib: 640 << 10,
};

/// Minimum share of its datagrams and goodput that a legitimate client gets; the rest allows for
/// load by the fuzzer itself.
const SHARES: Figures = [0.95, 0.95, 0.5];

/// Maximum time for the server to release the resources of departed clients, including 10 s for
/// those it waits for.
const LEFT_BEHIND: Duration = Duration::from_secs(12);

/// Sessions after which the server's caches are full: 4,096 greetings against replays, 400 KiB, and
/// the allocator's reserve. No later batch may exceed the maximum idle memory until then by more
/// than the usual share; a leak would continue to grow.
const WARM_UP: u64 = 4096;

/// Result of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Observations, and those that broke a bound.
    pub seen: Seen,
    /// Counts of sent messages.
    pub tally: Tally,
    /// Number of the next session.
    pub next: u64,
    /// Duration.
    pub took: Duration,
}

/// State shared by all clients of a run.
struct Run<'a> {
    served: &'a Served,
    plan: Plan,
    next: AtomicU64,
    tally: Mutex<Tally>,
    broken: Mutex<Vec<String>>,
}

/// Address of a client: all in one network, so that a quarter of all resources is left to others.
fn address(worker: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 5, worker as u8 + 1)
}

/// Fuzzes a separate server until the plan is complete or a bound is broken; `report` is called
/// after each batch.
///
/// # Errors
/// The server does not start, or a legitimate client cannot measure before the fuzzing.
pub fn run(target: &Target, plan: Plan, report: &dyn Fn(&Summary)) -> Result<Summary, Trouble> {
    let limits = [
        "--max-bytes",
        "10MB",
        "--max-time",
        "5s",
        "--max-flows",
        "16",
    ];
    let more = [PACED, "--iperf3", "0", "--max-clients", "64"];
    let mut served = Served::start(target, &[&limits[..], &more].concat())?;
    let without = Client::start(&served)?.figures()?;
    let mut summary = Summary {
        next: plan.first,
        ..Summary::default()
    };
    let begun = Instant::now();
    let mut before = served.at_rest()?;
    let done =
        |s: &Summary| s.tally.messages() >= plan.messages && s.tally.sessions >= plan.sessions;
    while !done(&summary) && begun.elapsed() < plan.time && summary.seen.broken().is_empty() {
        batch(&served, &plan, without, &mut summary)?;
        thread::sleep(LEFT_BEHIND);
        summary.seen.check(served.is_alive(), "the server lives");
        let panicked = served.message().contains("panicked");
        summary.seen.check(!panicked, "no panic");
        if summary.seen.broken().is_empty() {
            if summary.tally.sessions <= WARM_UP {
                let now = Held::settled(served.pid())?;
                before.resident_kib = before.resident_kib.max(now.resident_kib);
            }
            rests(served.pid(), &before, &mut summary.seen)?;
        }
        summary.took = begun.elapsed();
        report(&summary);
    }
    Ok(summary)
}

/// Runs sessions until a batch of messages is sent, with a concurrent legitimate client.
fn batch(
    served: &Served,
    plan: &Plan,
    without: Figures,
    summary: &mut Summary,
) -> Result<(), Trouble> {
    let run = Run {
        served,
        plan: *plan,
        next: AtomicU64::new(summary.next),
        tally: Mutex::default(),
        broken: Mutex::default(),
    };
    let (figures, most) = most_while(served.pid(), || {
        thread::scope(|scope| {
            for worker in 0..plan.clients {
                let run = &run;
                scope.spawn(move || work(run, worker));
            }
            Client::start(served).and_then(Client::figures)
        })
    })?;
    summary.next = run.next.load(Ordering::Relaxed);
    let tally = run
        .tally
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    summary.tally.add(&tally);
    let seen = &mut summary.seen;
    for broken in run
        .broken
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        seen.check(false, broken);
    }
    let within = most.threads <= MAX.threads
        && most.descriptors <= MAX.descriptors
        && most.resident_kib <= MAX.resident_kib;
    seen.check(within, format!("at most: {most}"));
    match figures {
        Ok(figures) => {
            let shares = [0, 1, 2].map(|i| figures[i] / without[i]);
            let holds = shares.iter().zip(SHARES).all(|(got, least)| *got >= least);
            seen.check(
                holds,
                format!("a legitimate client got {shares:.3?} of its figures"),
            );
        }
        Err(trouble) => seen.check(false, trouble),
    }
    Ok(())
}

/// Runs one client after the other, from one address.
fn work(run: &Run<'_>, worker: usize) {
    let sent = || {
        run.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .messages()
    };
    while sent() < run.plan.batch {
        let number = run.next.fetch_add(1, Ordering::Relaxed);
        // Consecutive numbers give unrelated choices.
        let mut random = Random::new(run.plan.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut tally = Tally {
            sessions: 1,
            ..Tally::default()
        };
        let from = address(worker).into();
        if random.next_u64().is_multiple_of(10) {
            iperf3::session(run.served, from, &mut random, &mut tally);
        } else {
            own::session(run.served, from, &mut random, &mut tally);
        }
        if let Some(why) = tally.excess(BYTES) {
            let mut broken = run.broken.lock().unwrap_or_else(PoisonError::into_inner);
            broken.push(format!("session {number} of seed {}: {why}", run.plan.seed));
        }
        run.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&tally);
    }
}
