//! Probes during a step, and the wait for an idle path before a step.

use std::time::Duration;

use analysis::{flow::rate_bps, percentile, probes::lost};
use model::{
    net::Direction,
    run::{Column, LayerAddress, Probes, Series},
};
use sys::clock::Instant;
use traffic::load::probe::{Probe, Probing};

use crate::{
    far::{
        self, Action, FarError,
        load::{Agreed, Echo},
    },
    run::{
        bench::{Bench, Live},
        third,
    },
};

/// Replies by which a path is judged quiet.
const QUIET: usize = 5;

/// Timeout of the start.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Interval of the probes while waiting, if the plan has no probes during the load.
const WAITING: Duration = Duration::from_millis(10);

/// Probes that run.
pub(crate) struct Running {
    echo: Agreed<Echo>,
    probing: Probing,
    keep: bool,
    third: Option<third::Running>,
}

/// Bits of a probe on the wire, inside a tunnel, which reduce the rate of the load.
const WIRE_BITS: f64 = 138.0 * 8.0;

/// Largest share of a path's rate that probes may take.
const SHARE: f64 = 0.005;

/// Upper limit of the interval chosen to stay below that share.
const SELDOM: Duration = Duration::from_millis(100);

/// Starts probes on a layer and waits until the queues that the step before has filled are empty.
pub(crate) fn start(bench: &mut Bench<'_>, layer: &LayerAddress) -> Result<Running, FarError> {
    let known = [Direction::Down, Direction::Up]
        .into_iter()
        .filter_map(|d| bench.capacity.get(&(layer.clone(), d)).copied())
        .reduce(f64::min);
    let mut running = start_beside(bench, layer, known)?;
    if let (Some(third), Some(ms)) = (&mut bench.third, bench.plan.probe_ms) {
        running.third = third.start(Duration::from_secs_f64(ms / 1e3));
    }
    Ok(running)
}

/// Same as [`start`], during a load of a known rate.
pub(crate) fn start_beside(
    bench: &mut Bench<'_>,
    layer: &LayerAddress,
    rate_bps: Option<f64>,
) -> Result<Running, FarError> {
    let every = bench.plan.probe_ms.map(|ms| {
        let wanted = Duration::from_secs_f64(ms / 1e3);
        let modest = rate_bps.map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64((WIRE_BITS / SHARE / rate.max(1.0)).min(SELDOM.as_secs_f64()))
        });
        wanted.max(modest)
    });
    let echo = bench.far.open(&Echo)?;
    let address = bench.target(layer);
    let socket = far::datagrams(*echo, address)?;
    let probing =
        Probing::start(socket, every.unwrap_or(WAITING)).map_err(Action::Probe.failed(address))?;
    let running = Running {
        echo,
        probing,
        keep: every.is_some(),
        third: None,
    };
    wait_quiet(bench, layer, &running);
    Ok(running)
}

fn wait_quiet(bench: &Bench<'_>, layer: &LayerAddress, running: &Running) {
    let deadline = Instant::now().after(TIMEOUT);
    let idle = bench.idle_us.get(layer).copied();
    while Instant::now() < deadline && !bench.cancelled() {
        Instant::now().after(Duration::from_millis(20)).wait();
        let probes = running.probing.so_far();
        let replies: Vec<f64> = probes.iter().filter_map(rtt_us).collect();
        let latest = &replies[replies.len().saturating_sub(QUIET)..];
        let quiet = match idle {
            Some(idle) => latest
                .iter()
                .filter(|&&rtt| rtt < 1.5 * idle + 5_000.0)
                .count(),
            None => latest.len(),
        };
        if quiet >= QUIET {
            return;
        }
    }
}

fn rtt_us(probe: &Probe) -> Option<f64> {
    probe.rtt_ns.map(|ns| ns as f64 / 1e3)
}

impl Running {
    /// The latest round trip, µs, and the share that was lost (of those whose reply is overdue).
    pub(crate) fn live(&self) -> (Option<f64>, Option<f64>) {
        let probes = self.probing.so_far();
        let latest = probes.iter().rev().find_map(rtt_us);
        let old = &probes[..probes.len().saturating_sub(200)];
        let answered = old.iter().filter(|p| p.rtt_ns.is_some()).count();
        (latest, lost(old.len() as u64, answered as u64))
    }

    /// Waits for the end of a load that began at `zero`, and shows its rate by the `bytes` of this
    /// end so far.
    pub(crate) fn watch(
        &self,
        bench: &mut Bench<'_>,
        span: Duration,
        zero: Instant,
        mut bytes: impl FnMut() -> u64,
    ) -> Result<(), FarError> {
        let mut last = (zero, 0);
        bench.watch(span, || {
            let (rtt_us, lost) = self.live();
            let (now, bytes) = (Instant::now(), bytes());
            let rate_bps = rate_bps((bytes - last.1) as f64, now.since(last.0) as f64 / 1e3);
            last = (now, bytes);
            Live {
                rate_bps,
                rtt_us,
                lost,
                bytes,
                ..Live::default()
            }
        })
    }

    /// Ends the probes; only those sent in `window`, µs after `zero`, count.
    pub(crate) fn finish(
        self,
        bench: &mut Bench<'_>,
        zero: Instant,
        window: [i64; 2],
    ) -> Result<Option<Probes>, FarError> {
        let probes = self.probing.finish();
        if let (Some(running), Some(third)) = (self.third, &mut bench.third) {
            third.finish(running, |probes| summarise(probes, zero, window));
        }
        bench.far.finish(self.echo)?;
        Ok(self.keep.then(|| summarise(&probes, zero, window)))
    }
}

/// Result of probes.
fn summarise(probes: &[Probe], zero: Instant, window: [i64; 2]) -> Probes {
    let at = |p: &Probe| p.sent.since(zero) / 1000;
    let counted: Vec<&Probe> = probes
        .iter()
        .filter(|p| (window[0]..window[1]).contains(&at(p)))
        .collect();
    let rtts: Vec<f64> = counted.iter().filter_map(|p| rtt_us(p)).collect();
    let mut series = Series {
        at_us: probes.iter().map(at).collect(),
        ..Series::default()
    };
    series.push(Column::RttNs, probes.iter().map(|p| p.rtt_ns).collect());
    let (sent, n) = (counted.len() as u64, rtts.len() as u64);
    Probes {
        sent,
        n,
        lost: lost(sent, n).unwrap_or(0.0),
        min_us: rtts.iter().copied().reduce(f64::min),
        mean_us: stats::mean(&rtts),
        p50_us: stats::median(&rtts),
        p95_us: percentile::p95(&rtts),
        p99_us: percentile::p99(&rtts),
        kernel_times: !counted.is_empty() && counted.iter().all(|p| p.stamped),
        series: Some(series),
    }
}
