//! A fuzzer of the protocols with their state: random valid messages in random order, and now and
//! then one that is none, in all states, by clients that hold the key and by those who do not.
//!
//! The choices of a session follow from the seed and the session's number alone, so that one can
//! be made again. When the server gets to see what is up to the machine.

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
    case::{Seen, Target, Trouble},
    legitimate::{Client, Figures, PACED},
    process::{Held, most_while, rests},
    served::Served,
};
pub use tally::Tally;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What all choices follow from.
    pub seed: u64,
    /// Number of the first session.
    pub first: u64,
    /// Messages, at least.
    pub messages: u64,
    /// Sessions, at least.
    pub sessions: u64,
    /// Longest time.
    pub time: Duration,
    /// Clients at once.
    pub clients: usize,
    /// Messages between two checks.
    pub batch: u64,
}

/// Payload that one session may move.
const BYTES: u64 = 10_000_000;

/// What the server promises at most, of all clients together: threads and descriptors, with those
/// that it has by itself.
const MOST: Held = Held {
    threads: 1536 + 16,
    descriptors: 3072 + 256 + 32,
    resident_kib: 640 << 10,
};

/// Share of its datagrams, and of its goodput, that a legitimate client gets beside all this; a
/// machine that is busy with the fuzzer itself is not the server's fault.
const SHARES: Figures = [0.95, 0.95, 0.5];

/// How long the server may take to give up what clients left behind: those that it waits for, 10
/// s, and what it has for them.
const LEFT_BEHIND: Duration = Duration::from_secs(12);

/// Sessions after which the server has filled what it keeps by design: 4,096 greetings against
/// copies, 400 KiB, and the allocator's reserve. The most memory at rest until then is what no
/// later batch may pass by more than the usual share; a leak goes on after them.
const WARM_UP: u64 = 4096;

/// What a run showed.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// What was seen, and what of it broke a bound.
    pub seen: Seen,
    /// What was sent.
    pub tally: Tally,
    /// Number of the next session.
    pub next: u64,
    /// Time it took.
    pub took: Duration,
}

/// What all clients of a run share.
struct Run<'a> {
    served: &'a Served,
    plan: Plan,
    next: AtomicU64,
    tally: Mutex<Tally>,
    broken: Mutex<Vec<String>>,
}

/// Where a client is: all of one network, so that a quarter of everything is left to others.
fn address(worker: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 5, worker as u8 + 1)
}

/// Fuzzes a server of its own until what was planned is done or a bound is broken; `told` is
/// called after each batch.
///
/// # Errors
/// The server does not start, or a legitimate client cannot measure before all this.
pub fn run(target: &Target, plan: Plan, told: &dyn Fn(&Summary)) -> Result<Summary, Trouble> {
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
        let panicked = served.said().contains("panicked");
        summary.seen.check(!panicked, "no panic");
        if summary.seen.broken().is_empty() {
            if summary.tally.sessions <= WARM_UP {
                let now = Held::settled(served.pid())?;
                before.resident_kib = before.resident_kib.max(now.resident_kib);
            }
            rests(served.pid(), &before, &mut summary.seen)?;
        }
        summary.took = begun.elapsed();
        told(&summary);
    }
    Ok(summary)
}

/// Sessions until a batch of messages is sent, a legitimate client beside them.
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
    let within = most.threads <= MOST.threads
        && most.descriptors <= MOST.descriptors
        && most.resident_kib <= MOST.resident_kib;
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

/// One client after the other, from one address.
fn work(run: &Run<'_>, worker: usize) {
    let sent = || {
        run.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .messages()
    };
    while sent() < run.plan.batch {
        let number = run.next.fetch_add(1, Ordering::Relaxed);
        // Neighbouring numbers give unrelated choices.
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
