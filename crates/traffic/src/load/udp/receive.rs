//! Receiver of datagrams: counts and arrival times.

use std::{io, net::UdpSocket, sync::atomic::Ordering, time::Duration};

use model::record::UdpSample;
use sys::{
    clock::{self, Instant},
    socket::Batch,
};

use super::{
    config::{Config, interval_ns},
    half::{Half, Shared},
};
use crate::{
    admission::Spent,
    load::{
        count::Counter,
        transfer::{self, Arrivals},
    },
    wire::{
        datagram::{DATA_HEADER, Datagram},
        message::UdpOutcome,
    },
};

/// Time after the end of a load in which datagrams may still be in flight: slow lines have queues
/// of seconds.
const IN_FLIGHT: Duration = Duration::from_secs(6);

/// Batching time of datagrams to one read.
const COLLECT: Duration = Duration::from_millis(10);

/// Maximum datagrams read per call.
const MAX: u128 = 64;

/// End condition of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// Until it is stopped, or its time has passed.
    Stopped,
    /// Until nothing arrives after it was stopped. It takes samples at this interval, and does not
    /// read the clock.
    Quiet(Duration),
}

pub(super) fn run(socket: &UdpSocket, config: &Config, until: Until, shared: &Shared) -> Half {
    let mut receiver = Receiver::new(config, until, shared);
    let mut batch = Batch::new(receiver.most(), DATA_HEADER);
    // Its only error is that more has arrived than allowed: then it has ended.
    let _ = transfer::receive_datagrams(&config.lease, &mut receiver, &mut batch, |batch| {
        batch.receive(socket)
    });
    receiver.finish()
}

impl Arrivals for Receiver<'_> {
    fn goes_on(&mut self) -> bool {
        let late = self.now.is_some_and(|now| now > self.deadline);
        !late && (self.until != Until::Stopped || !self.shared.stop.is_set())
    }

    fn take(&mut self, batch: &Batch, _: Option<Instant>) -> io::Result<()> {
        let came = batch.received();
        self.bytes_left = self.bytes_left.checked_sub(came).ok_or(Spent)?;
        for (bytes, time) in batch.datagrams() {
            let at = time.saturating_sub(self.offset);
            self.now = Some(Instant(at));
            if let Some(Datagram::Data { number, sent_ns }) = Datagram::parse(bytes) {
                self.counter.count(number, at.wrapping_sub(sent_ns) as i64);
                self.times.take(at);
            }
        }
        self.sample();
        let bytes = self.counter.received * self.config.payload as u64;
        self.shared.count.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn failed(&mut self, _: io::Error) -> io::Result<bool> {
        if self.shared.stop.is_set() {
            return Ok(false);
        }
        if self.until == Until::Stopped {
            self.now = Some(Instant::now());
        }
        Ok(true)
    }
}

struct Receiver<'a> {
    config: &'a Config,
    until: Until,
    shared: &'a Shared,
    /// Interval of the samples, if requested.
    interval: Option<Duration>,
    counter: Counter,
    times: Times,
    /// Lead of CLOCK_REALTIME over CLOCK_MONOTONIC, ns.
    offset: u64,
    /// Time of the last arrival, from the kernel's timestamp of the datagram.
    now: Option<Instant>,
    deadline: Instant,
    bytes_left: u64,
    samples: Vec<(Instant, UdpSample)>,
    /// Next sample.
    due: Instant,
}

impl<'a> Receiver<'a> {
    fn new(config: &'a Config, until: Until, shared: &'a Shared) -> Self {
        let duration = config.lease.duration();
        Self {
            config,
            until,
            shared,
            interval: match until {
                Until::Stopped => None,
                Until::Quiet(interval) => Some(interval),
            },
            counter: Counter::default(),
            times: Times::new(duration),
            offset: clock::realtime_offset(),
            now: None,
            deadline: config.zero.after(duration.saturating_add(IN_FLIGHT)),
            bytes_left: most_bytes(config),
            samples: Vec::new(),
            due: Instant(0),
        }
    }

    /// Datagrams per call: those of a sampling interval, or of the maximum time until they are
    /// counted.
    fn most(&self) -> usize {
        let collect = self.interval.unwrap_or(COLLECT).as_nanos();
        (collect / interval_ns(self.config, self.config.payload)).clamp(1, MAX) as usize
    }

    fn sample(&mut self) {
        let (Some(interval), at) = (self.interval, Instant(self.times.last)) else {
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
            outcome: outcome(self.counter, &self.times),
            samples: self.samples,
            error: None,
        }
    }
}

/// Maximum bytes that may arrive: the agreed amount plus a quarter, as a path may duplicate some.
fn most_bytes(config: &Config) -> u64 {
    let agreed = config.rate_bps as f64 / 8.0 * config.lease.duration().as_secs_f64();
    ((agreed * 1.25) as u64).saturating_add(65_536)
}

fn outcome(counter: Counter, times: &Times) -> UdpOutcome {
    let (received, highest) = (counter.received, counter.highest);
    let (reordered, duplicates, jitter_ns) =
        (counter.reordered, counter.duplicates, counter.jitter_ns());
    let runs = counter.runs(highest);
    let until_last = |from: Option<u64>| times.last.saturating_sub(from.unwrap_or(times.last));
    UdpOutcome {
        sent: 0,
        refused: 0,
        span_ns: until_last(times.first),
        received,
        highest,
        reordered,
        duplicates,
        jitter_ns,
        loss_runs: runs.count,
        longest_loss: runs.longest,
        late_received: times.late.saturating_sub(1),
        late_span_ns: until_last(times.late_first),
    }
}

/// First and last arrival, of all and of the second half of the time.
struct Times {
    half_ns: u64,
    first: Option<u64>,
    last: u64,
    late_first: Option<u64>,
    late: u64,
}

impl Times {
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
