//! The receiver of datagrams: counts and arrival times.

use std::{net::UdpSocket, sync::atomic::Ordering, time::Duration};

use model::record::UdpSample;
use sys::{
    clock::{self, Instant},
    socket::Batch,
};

use super::{Config, Half, Shared, Until, interval_ns};
use crate::{
    load::count::Counter,
    wire::{
        datagram::{DATA_HEADER, Datagram},
        message::UdpOutcome,
    },
};

/// How long after the time of a load datagrams may still be under way: slow lines have queues of
/// seconds.
const IN_FLIGHT: Duration = Duration::from_secs(6);

/// How long datagrams are collected to be read in one call.
const COLLECT: Duration = Duration::from_millis(10);

/// Most datagrams that are read in one call.
const MOST: u128 = 64;

pub(super) fn run(socket: &UdpSocket, config: &Config, until: Until, shared: &Shared) -> Half {
    let mut receiver = Receiver::new(config, until);
    let mut batch = Batch::new(receiver.most(), DATA_HEADER);
    while until != Until::Stopped || !shared.stop.is_set() {
        match batch.receive(socket) {
            Ok(_) => {
                if !receiver.take(&batch) {
                    break;
                }
                let bytes = receiver.counter.received * config.payload as u64;
                shared.count.store(bytes, Ordering::Relaxed);
            }
            Err(_) if shared.stop.is_set() => break,
            Err(_) if until == Until::Stopped => receiver.now = Some(Instant::now()),
            Err(_) => {}
        }
        if receiver.now.is_some_and(|now| now > receiver.deadline) {
            break;
        }
    }
    receiver.finish()
}

struct Receiver<'a> {
    config: &'a Config,
    /// From one sample to the next, if samples are wanted.
    interval: Option<Duration>,
    counter: Counter,
    arrivals: Arrivals,
    /// What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, ns.
    offset: u64,
    /// When something came last: where datagrams come, the kernel reports the time with them.
    now: Option<Instant>,
    deadline: Instant,
    bytes_left: u64,
    samples: Vec<(Instant, UdpSample)>,
    /// When the next sample is due.
    due: Instant,
}

impl<'a> Receiver<'a> {
    fn new(config: &'a Config, until: Until) -> Self {
        let duration = config.lease.duration();
        Self {
            config,
            interval: match until {
                Until::Stopped => None,
                Until::Quiet(interval) => Some(interval),
            },
            counter: Counter::default(),
            arrivals: Arrivals::new(duration),
            offset: clock::realtime_offset(),
            now: None,
            deadline: config.zero.after(duration.saturating_add(IN_FLIGHT)),
            bytes_left: most_bytes(config),
            samples: Vec::new(),
            due: Instant(0),
        }
    }

    /// Datagrams of a call: those of one sample, or of so much time as they may wait to be counted.
    fn most(&self) -> usize {
        let collect = self.interval.unwrap_or(COLLECT).as_nanos();
        (collect / interval_ns(self.config, self.config.payload)).clamp(1, MOST) as usize
    }

    /// Counts what came; whether that was no more than may come.
    fn take(&mut self, batch: &Batch) -> bool {
        let came = batch.received();
        if self.config.lease.received(came).is_err() || came > self.bytes_left {
            return false;
        }
        self.bytes_left -= came;
        for (bytes, time) in batch.datagrams() {
            let at = time.saturating_sub(self.offset);
            self.now = Some(Instant(at));
            if let Some(Datagram::Data { number, sent_ns }) = Datagram::parse(bytes) {
                self.counter.count(number, at.wrapping_sub(sent_ns) as i64);
                self.arrivals.take(at);
            }
        }
        self.sample();
        true
    }

    fn sample(&mut self) {
        let (Some(interval), at) = (self.interval, Instant(self.arrivals.last)) else {
            return;
        };
        if at >= self.due {
            let sample = self.counter.sample(self.config.payload as u64);
            self.samples.push((at, sample));
            self.due = at.after(interval);
        }
    }

    fn finish(self) -> Half {
        Half {
            outcome: outcome(self.counter, &self.arrivals),
            samples: self.samples,
            error: None,
        }
    }
}

/// What may come in all: what was agreed on, and a quarter more, as a path may duplicate some.
fn most_bytes(config: &Config) -> u64 {
    let agreed = config.rate_bps as f64 / 8.0 * config.lease.duration().as_secs_f64();
    ((agreed * 1.25) as u64).saturating_add(65_536)
}

fn outcome(counter: Counter, arrivals: &Arrivals) -> UdpOutcome {
    let (received, highest) = (counter.received, counter.highest);
    let (reordered, duplicates, jitter_ns) =
        (counter.reordered, counter.duplicates, counter.jitter_ns());
    let runs = counter.runs(highest);
    let until_last =
        |from: Option<u64>| arrivals.last.saturating_sub(from.unwrap_or(arrivals.last));
    UdpOutcome {
        sent: 0,
        refused: 0,
        span_ns: until_last(arrivals.first),
        received,
        highest,
        reordered,
        duplicates,
        jitter_ns,
        loss_runs: runs.count,
        longest_loss: runs.longest,
        late_received: arrivals.late.saturating_sub(1),
        late_span_ns: until_last(arrivals.late_first),
    }
}

/// First and last arrival, of all and of the second half of the time.
struct Arrivals {
    half_ns: u64,
    first: Option<u64>,
    last: u64,
    late_first: Option<u64>,
    late: u64,
}

impl Arrivals {
    fn new(duration: Duration) -> Self {
        Self {
            half_ns: u64::try_from(duration.as_nanos() / 2).unwrap_or(u64::MAX),
            first: None,
            last: 0,
            late_first: None,
            late: 0,
        }
    }

    fn take(&mut self, at: u64) {
        let first = *self.first.get_or_insert(at);
        self.last = self.last.max(at);
        if at >= first.saturating_add(self.half_ns) {
            self.late_first.get_or_insert(at);
            self.late += 1;
        }
    }
}
