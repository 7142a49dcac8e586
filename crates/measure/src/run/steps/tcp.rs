//! Bulk TCP, in one direction or in both, with probes beside it.

use std::{net::TcpStream, time::Duration};

use model::{
    net::Direction,
    plan::What,
    run::{FlowResult, Invalid, Sample, Series, Tcp},
};
use sys::{clock::Instant, socket};
use traffic::{
    admission::Lease,
    load::tcp::{Config, TcpLoad},
    tcp::Role,
    wire::{
        Token,
        message::{Order, Outcome, TcpOrder, TcpOutcome},
    },
};

use super::{blank, probes};
use crate::{
    far::{self, FarError},
    run::{
        bench::{Bench, Live},
        key::key,
        schedule::Task,
    },
};

/// From one sample of `TCP_INFO` to the next.
const SAMPLE: Duration = Duration::from_millis(10);

/// Maximum `TCP_INFO` samples kept per end and load: all of one connection's in twenty seconds. Eight connections would otherwise make three quarters of a run's size.
const KEPT: usize = 2000;

/// How long after its end a load is still sampled, so that its last moment is seen.
const AFTER: Duration = Duration::from_millis(30);

/// One direction of the load.
struct Half {
    direction: Direction,
    token: Token,
    streams: Vec<TcpStream>,
    load: Option<TcpLoad>,
}

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let What::Tcp {
        direction,
        flows,
        warmup_s,
        ..
    } = &task.step.what
    else {
        return Err(FarError::Confused);
    };
    let span = Duration::from_secs_f64(task.step.duration_s);
    let mut samples: Vec<Sample> = direction
        .directions()
        .iter()
        .map(|d| {
            let key = key(&task.step.what, &task.layer, task.cc.as_deref(), Some(*d));
            blank(bench, key)
        })
        .collect();
    let beside = probes::start(bench, &task.layer)?;
    let mut halves = direction
        .directions()
        .iter()
        .map(|d| open(bench, task, *d, *flows as u16, span))
        .collect::<Result<Vec<_>, _>>()?;
    let mark = bench.mark()?;
    let zero = Instant::now();
    let lease = bench.lease(span);
    for half in &mut halves {
        begin(bench, half, &lease)?;
    }
    let mut last = (zero, 0);
    bench.watch(span + AFTER, || {
        let bytes = halves
            .iter()
            .filter_map(|h| h.load.as_ref())
            .map(TcpLoad::bytes)
            .sum();
        let (rtt_us, lost) = beside.live();
        let now = Instant::now();
        let rate = (bytes - last.1) as f64 * 8e9 / now.since(last.0).max(1) as f64;
        last = (now, bytes);
        Live {
            rate_bps: Some(rate),
            rtt_us,
            lost,
            bytes,
            ..Live::default()
        }
    })?;
    let near = mark.evidence();
    let outcomes = end(bench, halves)?;
    let far = bench.far.evidence()?;
    let window = [(warmup_s * 1e6) as i64, span.as_micros() as i64];
    let probes = beside.finish(bench, zero, window)?;
    for (sample, (direction, sent, received)) in samples.iter_mut().zip(outcomes) {
        let tcp = compose(&sent, &received, window);
        bench.bytes += tcp.bytes;
        judge(sample, task.cc.as_deref(), &tcp, &sent, &received);
        let _ = direction;
        sample.tcp = Some(tcp);
        sample.load_at_us = Some(bench.us_at(zero));
        sample.probes = probes.clone();
        sample.near = Some(near.clone());
        sample.far = Some(far.clone());
    }
    Ok(samples)
}

fn open(
    bench: &mut Bench<'_>,
    task: &Task,
    direction: Direction,
    flows: u16,
    span: Duration,
) -> Result<Half, FarError> {
    let token = bench.far.open(Order::Tcp(TcpOrder {
        send: direction == Direction::Down,
        flows,
        cc: task.cc.clone(),
        duration_us: span.as_micros() as u64,
        sample_us: SAMPLE.as_micros() as u64,
    }))?;
    let streams = far::streams(token, bench.target(&task.layer), flows)?;
    if let (Direction::Up, Some(cc)) = (direction, &task.cc) {
        for stream in &streams {
            socket::set_congestion(stream, cc).map_err(|source| FarError::Own {
                what: format!("congestion control {cc}"),
                source,
            })?;
        }
    }
    Ok(Half {
        direction,
        token,
        streams,
        load: None,
    })
}

fn begin(bench: &mut Bench<'_>, half: &mut Half, lease: &Lease) -> Result<(), FarError> {
    bench.far.start(half.token)?;
    let config = Config {
        role: match half.direction {
            Direction::Up => Role::Sender,
            Direction::Down => Role::Receiver,
        },
        zero: Instant::now(),
        sample_interval: SAMPLE,
        lease: lease.clone(),
    };
    let load = TcpLoad::start(std::mem::take(&mut half.streams), config).map_err(|source| {
        FarError::Own {
            what: "start the load".to_owned(),
            source,
        }
    })?;
    half.load = Some(load);
    Ok(())
}

/// Ends all halves, the senders first, so that the queues empty while the rest is told. Gives the
/// direction, and what the sender and what the receiver saw.
fn end(
    bench: &mut Bench<'_>,
    halves: Vec<Half>,
) -> Result<Vec<(Direction, TcpOutcome, TcpOutcome)>, FarError> {
    let mut near = Vec::new();
    let mut later = Vec::new();
    for mut half in halves {
        let load = half.load.take();
        match half.direction {
            Direction::Up => near.push((half, load.map(TcpLoad::finish), None)),
            Direction::Down => later.push((half, None, load)),
        }
    }
    let mut all = Vec::new();
    for (half, seen, load) in later.into_iter().chain(near) {
        let Outcome::Tcp(theirs) = bench.far.finish(half.token)? else {
            return Err(FarError::Confused);
        };
        let ours = seen.or(load.map(TcpLoad::finish)).unwrap_or_default();
        all.push(match half.direction {
            Direction::Up => (half.direction, ours, theirs),
            Direction::Down => (half.direction, theirs, ours),
        });
    }
    Ok(all)
}

fn judge(
    sample: &mut Sample,
    asked: Option<&str>,
    tcp: &Tcp,
    sent: &TcpOutcome,
    received: &TcpOutcome,
) {
    if let (Some(asked), Some(used)) = (asked, &tcp.cc_used)
        && asked != used
    {
        sample.invalid.push(Invalid::CongestionReplaced {
            asked: asked.to_owned(),
            used: used.clone(),
        });
    }
    for error in sent.errors.iter().chain(&received.errors) {
        sample.invalid.push(Invalid::Failed { why: error.clone() });
    }
    let told = |series: &Series| series.columns.contains_key(arrived(series));
    if !received.flows.iter().all(told) {
        sample.invalid.push(Invalid::Failed {
            why: "the receiver does not know how much has arrived".to_owned(),
        });
    }
    if tcp.flows.is_empty() {
        sample.invalid.push(Invalid::Failed {
            why: "no connection carried data".to_owned(),
        });
    }
}

/// The load as both its ends saw it. What is said of it rests on every look; the courses that are kept
/// are thinner the more connections there were.
fn compose(sent: &TcpOutcome, received: &TcpOutcome, window: [i64; 2]) -> Tcp {
    let flows: Vec<FlowResult> = sent
        .flows
        .iter()
        .zip(&received.flows)
        .map(|(s, r)| flow(s, r, window, KEPT / sent.flows.len().max(1)))
        .collect();
    Tcp {
        cc_used: common(&sent.cc_used),
        window_us: window,
        goodput_bps: flows.iter().map(|f| f.goodput_bps).sum(),
        bytes: received
            .flows
            .iter()
            .filter_map(|s| s.last(arrived(s)))
            .sum(),
        flows,
    }
}

/// What says how much has arrived: the receiver's kernel or, where it does not, its program.
fn arrived(received: &Series) -> &'static str {
    ["bytes_received", "bytes_read"]
        .into_iter()
        .find(|name| received.columns.contains_key(*name))
        .unwrap_or("bytes_received")
}

/// The name that all have; if they differ, all names.
fn common(names: &[String]) -> Option<String> {
    let mut names = names.to_vec();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| names.join("+"))
}

fn flow(sent: &Series, received: &Series, window: [i64; 2], kept: usize) -> FlowResult {
    let span_us = (window[1] - window[0]) as f64;
    let grown = |name: &str| sent.increase(name, window);
    let bytes = received.increase(arrived(received), window).unwrap_or(0.0);
    let busy = grown("busy_time_us");
    let share = |name: &str| {
        let busy = busy.filter(|b| *b > 0.0)?;
        Some((grown(name)? / busy).min(1.0))
    };
    let samples = |name: &str| -> Vec<f64> {
        sent.points(name)
            .into_iter()
            .filter(|(at, _)| (window[0]..=window[1]).contains(at))
            .map(|(_, value)| value as f64)
            .collect()
    };
    let median = |name: &str| stats::median(&samples(name));
    let whole = |x: f64| x.round() as u64;
    FlowResult {
        goodput_bps: bytes * 8e6 / span_us,
        retransmits: grown("total_retrans").map(whole),
        retransmitted: grown("bytes_retrans")
            .zip(grown("bytes_sent").filter(|b| *b > 0.0))
            .map(|(again, all)| again / all),
        segments: grown("data_segs_out").map(whole),
        dsack_dups: grown("dsack_dups").map(whole),
        reord_seen: grown("reord_seen").map(whole),
        delivered_ce: grown("delivered_ce").map(whole),
        timeouts: grown("total_rto").map(whole),
        rwnd_limited: share("rwnd_limited_us"),
        sndbuf_limited: share("sndbuf_limited_us"),
        busy: busy.map(|b| (b / span_us).min(1.0)),
        app_limited: stats::mean(&samples("delivery_rate_app_limited")),
        min_rtt_us: sent.last("min_rtt_us").map(|t| t as f64),
        rtt_p50_us: median("rtt_us"),
        rtt_p95_us: stats::percentile(&samples("rtt_us"), 95.0),
        cwnd_p50: median("snd_cwnd"),
        snd_wnd_p50: median("snd_wnd"),
        delivery_rate_p50_bps: median("delivery_rate_bytes_s").map(|b| b * 8.0),
        mss: sent.last("snd_mss").map(|b| b as u32),
        pmtu: sent.last("pmtu").map(|b| b as u32),
        options: sent.last("options").map(|o| o as u32),
        series: Some(sent.thinned(kept)),
        received: Some(received.thinned(kept)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(name: &str) -> Series {
        let mut series = Series {
            at_us: vec![0, 1_000_000],
            ..Series::default()
        };
        series.push(name, vec![Some(0), Some(125_000)]);
        series
    }

    /// Goodput was 0 where the receiver's kernel has no `TCP_INFO`.
    #[test]
    fn what_a_receiver_has_read_counts_where_its_kernel_says_nothing() {
        let sender = Series::default();
        for name in ["bytes_received", "bytes_read"] {
            let result = flow(&sender, &grown(name), [0, 1_000_000], KEPT);
            assert_eq!(result.goodput_bps, 1e6, "{name}");
            // Of the sender nothing is known.
            assert_eq!((result.retransmits, result.rtt_p50_us), (None, None));
            assert_eq!((result.rwnd_limited, result.busy), (None, None));
        }
    }
}
