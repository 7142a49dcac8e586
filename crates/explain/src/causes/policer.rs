//! Policers: drops above a rate, without a queue.

use analysis::{
    models,
    view::{Above, Burst, DirectionView, Load, Sweep},
};
use model::{
    findings::{EvidenceItem, Severity, Value},
    remedy::{Action, Bottleneck, Flow},
    text,
};

use super::{COSTS, FULL, percent, rate, time};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::{Scope, device},
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Ratio of TCP to UDP above which a rate is not enforced: a token bucket passes little more than
/// its rate.
const EXCEEDS: f64 = 1.2;
/// Share of the rate from which TCP reaches it.
const NEAR: f64 = 0.5;
/// Median rise of TCP's own RTT, as a share of the time of a packet at the rate, above which
/// packets wait behind others.
const DELAYED: f64 = 0.5;
/// Share of reordered datagrams from which TCP's losses may be spurious.
const REORDERED: f64 = 0.001;
/// Burst that passes before an overload is dropped, in packets and as a share of the rate, below
/// which no bucket of tokens shows.
const BURST: (f64, f64) = (3.0, 0.003);
/// Increase of TCP's own RTT by packet bursts without any queue, as a share.
const SMOOTHED: f64 = 0.05;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::POLICER,
    title: "a policer drops traffic above a rate",
    severity: Severity::High,
    needs: &[Need::Idle, Need::Sweep],
    masked_by: &[
        CauseCode::HOST_QUEUE_DROPS,
        CauseCode::UDP_SOCKET_DROPS,
        CauseCode::CPU_TUNNEL_THREAD,
        CauseCode::CPU_CORE,
        CauseCode::CPU_SOFTIRQ,
        CauseCode::SHARED_LINE,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "only a device before the policer can delay packets; behind it they are already dropped",
        actions,
    },
    about: "A policer has a bucket of tokens and no queue: traffic above the rate is dropped \
        immediately. A UDP rate sweep shows it: above a rate R, a burst passes, the bucket, then \
        exactly R arrives, the rest is \
        lost, and the RTT does not rise. A plain queue would first add delay; queue management \
        would add its target to TCP's own RTT. Datagrams \
        above the rate arrive as evenly as they were sent, while in the shortest queue each waits \
        for the one before it. TCP sees loss without prior delay and stays below \
        R; cubic may spend a short test growing towards it. BBR holds the rate at the price of \
        many retransmissions, which is no cure.",
    sources: &[
        "Flach et al.: An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016",
        "Linux net/ipv4/tcp_bbr.c: its model of a policer, loss above 50/256",
        "porech/engarde#68, tailscale/tailscale#11371",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let device = device(scope.sender());
    vec![
        scope.shaper(device, Flow::Egress, Bottleneck::Policer),
        Action::AskProvider {
            request: text!("to shape instead of policing"),
        },
    ]
}

/// What UDP shows of the bottleneck.
struct Seen {
    sweep: Sweep,
    above: Above,
    /// Round trip beside UDP that fills no queue, µs.
    calm_us: f64,
    /// Its increase above the capacity, µs.
    added_us: f64,
    /// Variation of the idle round trip, µs.
    spread_us: f64,
    /// Increase by chance, µs.
    slack_us: f64,
    /// Whether datagrams above the capacity wait for one another.
    waits: Option<bool>,
    burst: Option<Burst>,
}

/// Increases of TCP's own round trip, the highest of the loads with as many flows, µs.
struct Own {
    /// Of the 95th percentiles.
    high_us: Option<f64>,
    /// Of the medians.
    usual_us: Option<f64>,
}

fn test(dir: &DirectionView) -> Verdict {
    let seen = match Seen::of(dir) {
        Ok(seen) => seen,
        Err(verdict) => return verdict,
    };
    if let Some(other) = seen.no_policer(dir) {
        return other;
    }
    // Cubic may spend a short test growing towards the rate; any load that reaches it is
    // conclusive.
    let Some(load) = reached(dir) else {
        return undecided(
            text!(
                "traffic above the rate is lost without added delay, but TCP did not reach that rate: a policer and a fair queue then look the same"
            ),
            text!("TCP with bbr or several flows"),
        );
    };
    let own = Own::of(dir, &load, seen.calm_us);
    if let Some(own) = own.high_us.filter(|_| seen.isolates(&own)) {
        return ruled_out(text!(
            "TCP's own RTT rises by {own}: a queue with flow isolation, not a policer",
            own = time(own)
        ));
    }
    let plain = dir.default_load();
    let mut evidence = seen.evidence();
    evidence.extend(own.evidence(&load));
    let beside = plain.iter().filter(|p| p.cc != load.cc);
    evidence.extend(std::iter::once(&load).chain(beside).flat_map(of_load));
    let text = text!(
        "UDP above {capacity} is lost ({lost}) without added delay",
        capacity = rate(seen.sweep.capacity_bps),
        lost = percent(seen.above.lost)
    );
    let signs = [
        own.high_us.is_some(),
        seen.above.lost > 0.1,
        seen.spread_us < seen.slack_us,
    ];
    let verdict = confirmed(Strength::of(&signs), text, evidence);
    match plain.and_then(|load| lesser(dir, &seen.sweep, &load)) {
        Some(severity) => verdict.at(severity),
        None => verdict,
    }
}

/// The severity of a policer that costs the load little or nothing; `None` of one that costs more.
fn lesser(dir: &DirectionView, sweep: &Sweep, load: &Load) -> Option<Severity> {
    let filled = dir.utilization(load)?;
    let full = filled >= FULL;
    // What a load that loses nothing lacks, it still grows to.
    let lossless = load.retransmits == Some(0.0);
    // It is present without cost: reported, but with nothing to repair.
    let free = filled >= 1.0 - COSTS || apart(dir, sweep, load) || (full && lossless);
    match free {
        true => Some(Severity::Info),
        false => full.then_some(Severity::Low),
    }
}

impl Seen {
    /// The verdict where it was not measured.
    fn of(dir: &DirectionView) -> Result<Self, Verdict> {
        let (Some(idle), Some(sweep)) = (dir.view.idle(), dir.sweep()) else {
            return Err(undecided(Need::Sweep.missing(), Need::Sweep.settle()));
        };
        let above = sweep.above.ok_or_else(|| {
            undecided(
                text!("the sweep did not exceed the path's capacity"),
                text!("a sweep to a higher rate"),
            )
        })?;
        let (Some(calm_us), Some(added_us)) = (dir.calm_us(), dir.overload_rise_us()) else {
            return Err(undecided(
                text!("no latency probes ran during the sweep"),
                text!("a plan with `probe_ms`"),
            ));
        };
        let [slack_us, _] = dir.chance_us();
        Ok(Self {
            waits: sweep.waits_above(),
            burst: sweep.burst(),
            spread_us: idle.variation_us().unwrap_or(0.0),
            sweep,
            above,
            calm_us,
            added_us,
            slack_us,
        })
    }

    /// The verdict where UDP or TCP above the rate shows something else, or may.
    fn no_policer(&self, dir: &DirectionView) -> Option<Verdict> {
        let capacity = || rate(self.sweep.capacity_bps);
        let over = dir.carried_bps().map(|bps| bps / self.sweep.capacity_bps);
        if let Some(over) = over.filter(|over| *over > EXCEEDS) {
            return Some(ruled_out(text!(
                "TCP delivers {over} as much as UDP: nothing drops traffic above that rate",
                over = Value::Ratio(over)
            )));
        }
        if self.added_us > self.slack_us {
            return Some(ruled_out(text!(
                "above {capacity} a queue builds up: the RTT rises by {added}",
                capacity = capacity(),
                added = time(self.added_us)
            )));
        }
        if self.waits == Some(true) {
            return Some(ruled_out(text!(
                "datagrams above {capacity} wait for those before them: a queue, not a policer",
                capacity = capacity()
            )));
        }
        if dir.view.idle_rise_us().is_some() {
            return Some(undecided(
                text!("a queue that others fill hides whether one builds up above the rate"),
                text!("the same plan when nothing else uses the line"),
            ));
        }
        if self
            .burst
            .is_some_and(|burst| !is_bucket(burst, &self.sweep))
        {
            return Some(ruled_out(text!(
                "no burst passes above {capacity}, as a bucket of tokens lets one pass before it drops",
                capacity = capacity()
            )));
        }
        let excess = 1.0 - self.sweep.capacity_bps / self.above.offered_bps;
        let passes = self.above.lost < 0.5 * excess;
        passes.then(|| ruled_out(text!("traffic above the rate is not lost")))
    }

    /// Returns true if TCP waits in a queue of its own. Fair queues let probes bypass a full queue,
    /// but TCP itself waits in it: cubic for the AQM's target, bbr for the quarter RTT that it
    /// sends too fast in one of eight RTTs. Datagrams that never wait for one another pass no
    /// queue, isolated or not; round trips of TCP then rise by delayed acknowledgements and its own
    /// bursts.
    fn isolates(&self, own: &Own) -> bool {
        let packet_us = models::packet_us(self.sweep.capacity_bps);
        let least_us = (SMOOTHED * self.calm_us).max(1_000.0).max(self.spread_us);
        let high_us = self.slack_us.max(2.0 * packet_us + self.spread_us);
        // A policer sends each packet at the line's rate: at half of the time they are not delayed.
        let delayed = |us: f64| us > least_us.max(DELAYED * packet_us);
        self.waits.is_none()
            && (own.usual_us.is_some_and(delayed)
                || own.high_us.is_some_and(|us| us > high_us.max(least_us)))
    }

    fn evidence(&self) -> Vec<EvidenceItem> {
        let samples = &self.sweep.samples;
        let added = figure(
            text!("increase of the RTT above the rate"),
            Value::Us(self.added_us),
        );
        let most = figure(
            text!("maximum received rate"),
            Value::Bps(self.sweep.capacity_bps),
        );
        let lost = figure(text!("UDP loss above it"), Value::Share(self.above.lost));
        let burst = self.burst.map(|burst| {
            let passes = text!("burst that passes before the rate is enforced");
            figure(passes, Value::Bytes(burst.bytes)).bound(text!("the bucket"))
        });
        let all = [
            added.bound(text!("at most one packet")).decisive(),
            most,
            lost.bound(text!("everything above the rate")),
        ];
        let all = all.into_iter().chain(burst);
        all.map(|item| item.samples(samples)).collect()
    }
}

impl Own {
    /// The increases over a round trip without a queue.
    fn of(dir: &DirectionView, load: &Load, calm_us: f64) -> Self {
        let loads = dir.loads();
        let highest = |of: fn(&Load) -> Option<f64>| {
            let alone = loads.iter().filter(|l| l.flows == load.flows);
            alone
                .filter_map(|l| Some(of(l)? - calm_us))
                .reduce(f64::max)
        };
        Self {
            high_us: highest(|l| l.rtt_p95_us.or(l.rtt_p50_us)),
            usual_us: highest(|l| l.rtt_p50_us),
        }
    }

    fn evidence(&self, load: &Load) -> Option<EvidenceItem> {
        let own = figure(
            text!("increase of TCP's own RTT, 95th percentile"),
            Value::Us(self.high_us?.max(0.0)),
        );
        Some(own.bound(text!("no queue")).samples(&load.samples))
    }
}

/// The goodput and losses of a load.
fn of_load(load: &Load) -> impl Iterator<Item = EvidenceItem> + use<> {
    let goodput = figure(
        text!("goodput of {cc}", cc = &load.cc),
        Value::Bps(load.goodput_bps),
    );
    let again = load.retransmitted_segments().map(|again| {
        figure(
            text!("segments retransmitted by {cc}", cc = &load.cc),
            Value::Share(again),
        )
    });
    let samples = load.samples.clone();
    let all = std::iter::once(goodput).chain(again);
    all.map(move |item| item.samples(&samples))
}

/// Returns true if a bucket of tokens explains the burst.
fn is_bucket(burst: Burst, sweep: &Sweep) -> bool {
    let (packets, share) = BURST;
    burst.bytes >= packets * sweep.below.payload && burst.share >= share
}

/// Returns true if TCP loses no more often than the path itself, and so does not reach the policer.
fn apart(dir: &DirectionView, sweep: &Sweep, load: &Load) -> bool {
    let events = dir.steady(load).and_then(|steady| steady.event_rate());
    let own = sweep.below.loss_events();
    let often = |lost: f64| lost >= 2.0 * own;
    sweep.below.loss_runs >= 3.0 && events.or_else(|| load.loss()).is_some_and(|p| !often(p))
}

/// The fastest TCP load that reaches the rate, with the fewest flows: it comes close to the rate,
/// or its bursts are lost on a path without loss below the rate.
fn reached(dir: &DirectionView) -> Option<Load> {
    let loads = dir.loads();
    let fewest = loads.iter().map(|l| l.flows).min()?;
    let lost = |l: &Load| l.flows == fewest && l.retransmits.is_some_and(|r| r > 0.0);
    let sweep = dir.sweep()?;
    let below = &sweep.below;
    let clean = below.lost == 0.0 && below.reordered_share() <= REORDERED;
    let near = |l: &Load| clean || dir.utilization(l).is_some_and(|filled| filled >= NEAR);
    loads
        .into_iter()
        .filter(|l| lost(l) && near(l))
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps))
}
