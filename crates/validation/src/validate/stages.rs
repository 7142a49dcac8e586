//! Checks of the optional stages of a line: a policer in front of a queue, a peak rate, a rate that
//! changes, a distribution of the delay, and slots.

use model::cell::RateSteps;

use super::{
    Check, Expect, Line, Work,
    arrived::Arrived,
    outcome::Outcome,
    theory::{DATAGRAM, FRAME, WIREGUARD_V4, binomial_99},
};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "policer and queue",
        source: "arithmetic: the slower of the two",
        work: Work::Cells(include_str!("specs/series.toml"), series),
    },
    Check {
        name: "peak rate",
        source: "token bucket (RFC 2215: b + r t)",
        work: Work::Cells(include_str!("specs/peak.toml"), peak),
    },
    Check {
        name: "changing rate",
        source: "arithmetic: each rate in its time",
        work: Work::Cells(include_str!("specs/steps.toml"), steps),
    },
    Check {
        name: "delay by quantiles",
        source: "binomial distribution, 99 % interval",
        work: Work::Cells(include_str!("specs/quantiles.toml"), quantiles),
    },
    Check {
        name: "slots",
        source: "arithmetic: packets wait for the end of their slot",
        work: Work::Cells(include_str!("specs/slots.toml"), slots),
    },
    Check {
        name: "rate of tunnel packets",
        source: "arithmetic: the tunnel's rate inside, the path's beside it",
        work: Work::Cells(include_str!("specs/tunnel-stage.toml"), tunnel_rate),
    },
    Check {
        name: "loss of tunnel packets",
        source: "binomial distribution, 99 % interval",
        work: Work::Cells(include_str!("specs/tunnel-loss.toml"), tunnel_loss),
    },
];

fn series(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = s.factor("path.down.policer");
        let policed = s.cell.path.down.policer.map(|p| p.rate.bps() as f64 / 1e6);
        let policed = policed.unwrap_or(f64::NAN);
        let passes = policed.min(s.rate_mbps());
        let wire = s.goodput().map(|mbps| mbps * FRAME / DATAGRAM);
        let waiting = s.queue_samples().into_iter();
        let most = waiting
            .map(|q| q.backlog_bytes as f64 / FRAME)
            .reduce(f64::max);
        // A packet in transmission by the shaper is not a queue.
        let queue = match policed > s.rate_mbps() {
            true => Expect::near(100.0, 0.0),
            false => Expect::at_most(1.0),
        };
        [
            Line::new(
                format!("{what} before 50mbit, rate"),
                Expect::within(passes, 0.003),
                wire,
                "Mbit/s",
            ),
            Line::new(
                format!("{what} before 50mbit, queue"),
                queue,
                most,
                "packets",
            ),
        ]
    };
    outcomes.iter().flat_map(one).collect()
}

fn peak(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = s.factor("peak");
        let arrived = Arrived::datagrams(s, 0);
        let line = &s.cell.path.down;
        let (rate, delay) = (s.rate_mbps(), line.delay.as_secs_f64());
        let (high, burst) = line.peak.map_or((f64::NAN, f64::NAN), |peak| {
            (peak.rate.bps() as f64 / 1e6, peak.burst.0 as f64)
        });
        let lasts = 8.0 * burst / (high - rate) / 1e6;
        // Bytes that have passed beyond the rate, when the peak is long over.
        let beyond = arrived
            .by(3.5)
            .map(|(at, bytes)| bytes - rate * 1e6 / 8.0 * (at - delay));
        vec![
            Line::new(
                format!("{what}, at first"),
                Expect::within(high, 0.003),
                arrived.mbps(delay + 0.1 * lasts, delay + 0.9 * lasts),
                "Mbit/s",
            ),
            Line::new(
                format!("{what}, then"),
                Expect::within(rate, 0.003),
                arrived.mbps(delay + 1.2 * lasts, 3.5),
                "Mbit/s",
            ),
            Line::new(
                format!("{what}, beyond the rate"),
                Expect::near(burst / 1e6, 2.0 * FRAME / 1e6),
                beyond.map(|bytes| bytes / 1e6),
                "MB",
            ),
        ]
    };
    outcomes.iter().flat_map(one).collect()
}

fn steps(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    outcomes.iter().flat_map(one_line_rate).collect()
}

/// The rates of each second, and the times of the changes: where the straight lines of the bytes
/// before and after a change cross. A delay without faults comes before the bottleneck, so that
/// nothing delays packets after it.
fn one_line_rate(s: &Outcome<'_>) -> Vec<Line> {
    let queue = s.factor("path.down.queue");
    let arrived = Arrived::datagrams(s, 0);
    let line = &s.cell.path.down;
    let repeat = |steps: &RateSteps| steps.repeat.map_or(f64::NAN, |span| span.as_secs_f64());
    let Some(steps) = &line.rate_steps else {
        return Vec::new();
    };
    let changes: Vec<(f64, f64)> = [0.0, repeat(steps)]
        .into_iter()
        .flat_map(|begin| {
            let change = |step: &model::cell::RateStep| {
                (begin + step.at.as_secs_f64(), step.rate.bps() as f64 / 1e6)
            };
            steps.steps.iter().map(change).collect::<Vec<_>>()
        })
        .collect();
    let mut lines = Vec::new();
    let mut before = s.rate_mbps();
    for (at, rate) in changes {
        let middle = arrived.mbps(at + 0.3, at + 0.9);
        lines.push(Line::new(
            format!("{queue}, from {at} s"),
            Expect::within(rate, 0.003),
            middle,
            "Mbit/s",
        ));
        let lines_cross = || {
            let ((t0, b0), (t1, b1)) = (arrived.by(at - 0.1)?, arrived.by(at + 0.8)?);
            let bits = 8.0 * (b1 - b0) / 1e6;
            // b0 + before (x - t0) = b1 - rate (t1 - x)
            Some((bits + before * t0 - rate * t1) / (before - rate))
        };
        // A packet that waits for the old rate still waits for it; a bucket starts full; and each
        // of the two samples may have missed a packet.
        let frame = 8.0 * FRAME / 1e6;
        let wait = frame / before;
        let tolerance = wait + 4.0 * frame / (before - rate).abs();
        lines.push(Line::new(
            format!("{queue}, change at {at} s"),
            Expect::near(at * 1e3, tolerance * 1e3),
            lines_cross().map(|x| x * 1e3),
            "ms",
        ));
        before = rate;
    }
    lines
}

fn quantiles(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let Some(s) = outcomes.first() else {
        return Vec::new();
    };
    let rtts = s.probes_ms(true);
    let n = rtts.len() as f64;
    let base = s.rtt_s() * 1e3;
    // Of netem's table and of the clock.
    let rounding = 0.003;
    let given = s.cell.path.down.jitter_quantiles.iter().flat_map(|q| &q.0);
    let mut lines: Vec<Line> = given
        .map(|quantile| {
            let (share, added) = (quantile.share.get(), quantile.delay.as_secs_f64() * 1e3);
            let within = rtts.iter().filter(|rtt| **rtt <= base + added + rounding);
            // The largest value has a separate share.
            let expected = match share {
                share if share > 0.98 => Expect::exactly(100.0),
                share => Expect::near(100.0 * share, 100.0 * binomial_99(n, share) / n + 0.5),
            };
            let got = 100.0 * within.count() as f64 / n;
            Line::new(format!("within {added} ms"), expected, Some(got), "%")
        })
        .collect();
    let least = rtts.iter().copied().reduce(f64::min);
    lines.push(Line::new(
        "least",
        Expect {
            value: Some(base),
            low: Some(base - 0.01),
            high: Some(base + 0.01),
        },
        least,
        "ms",
    ));
    lines
}

/// Probes 0.9 ms apart: the first waits for 10 ms, the twelfth for 0.1 ms, and the thirteenth is
/// the first of the next slot. Probes far apart are each the first of a slot.
fn slots(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = s.factor("traffic.probe");
        let rtts = s.probes_ms(true);
        let base = s.rtt_s() * 1e3;
        let (least, mean) = match what.as_str() {
            "50ms" => (10.0, 10.0),
            _ => (0.1, 5.05),
        };
        let near = |added: f64, tolerance| Expect::near(base + added, tolerance);
        let least_got = rtts.iter().copied().reduce(f64::min);
        let most = rtts.iter().copied().reduce(f64::max);
        let line = |part: &str, expected, got| {
            Line::new(format!("probes every {what}, {part}"), expected, got, "ms")
        };
        [
            line("least", near(least, 0.01), least_got),
            line("mean", near(mean, 0.05), stats::mean(&rtts)),
            line("most", near(10.0, 0.01), most),
        ]
    };
    outcomes.iter().flat_map(one).collect()
}

/// A datagram of 1220 bytes is an inner packet of 1248, which is a multiple of 16 and so needs no
/// padding: 1322 bytes on the wire in the tunnel, and 1262 beside it.
fn tunnel_rate(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = s.factor("tunnel");
        let stage = s.cell.tunnel.as_ref().and_then(|tunnel| tunnel.down);
        let inside = stage.and_then(|stage| stage.rate);
        let (rate, headers) = match inside {
            Some(rate) => (rate.bps() as f64 / 1e6, 42.0 + WIREGUARD_V4),
            None => (s.rate_mbps(), 42.0),
        };
        let goodput = rate * 1220.0 / (1220.0 + headers);
        Line::new(what, Expect::within(goodput, 0.003), s.goodput(), "Mbit/s")
    };
    outcomes.iter().map(one).collect()
}

fn tunnel_loss(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let what = s.factor("tunnel");
        let share = if s.cell.tunnel.is_some() { 0.02 } else { 0.0 };
        let last = s.udp().last().copied().unwrap_or_default();
        let n = last.highest as f64;
        let lost = last.highest.saturating_sub(last.received) as f64;
        let expected = Expect::near(n * share, binomial_99(n, share));
        Line::new(what, expected, Some(lost), "packets")
    };
    outcomes.iter().map(one).collect()
}
