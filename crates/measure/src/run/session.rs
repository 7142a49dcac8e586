//! Sequence of a run: facts, steps that run once, blocks, figures.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

use model::{
    net::{Layer, Side},
    plan::Plan,
    run::{End, Key, LayerAddress, Run, Sample, SegmentRate, Unreached},
    text::{Text, Value},
    units::Seed,
};
use stats::{Random, Stop, StopRule};
use sys::clock::Instant;
use traffic::{load::udp::Spacing, wire::Key as AccessKey};

use super::{
    Target,
    bench::{Bench, Event},
    conclude, controls,
    estimate::Estimate,
    pace,
    perform::perform,
    relay::Relay,
    schedule::{self, Sender, Senders, estimate},
    third::{self, ProbeKind, Prober, Third},
    validity,
};
use crate::far::{Far, FarError};
use host::{facts, state};

/// Configuration of a run.
pub struct Start<'a> {
    /// Control address of the far end.
    pub control: SocketAddr,
    /// The key it requires.
    pub key: &'a AccessKey,
    /// The plan.
    pub plan: &'a Plan,
    /// Seed of the order, if the plan names none.
    pub seed: Seed,
    /// The layers, and where the far end is reached on each.
    pub targets: &'a [Target],
    /// Requested addresses that did not answer and are not measured.
    pub unreached: Vec<Unreached>,
    /// A third point to probe in addition to the path; absent = none.
    pub third: Option<&'a Third>,
    /// Whether the far end's slot for clients that watch is needed.
    pub slot: bool,
    /// Version of this program.
    pub program: &'a str,
    /// Name of the run.
    pub id: String,
    /// Now, µs since 1970.
    pub started_us: u64,
    /// True if the ends are on a lab path.
    pub lab: bool,
    /// Set to end the run early: completed measurements remain in the run.
    pub cancel: &'a AtomicBool,
}

/// Runs a plan. Measurements before a failure are in the run, which then states why it was cut
/// short.
///
/// # Errors
/// There is no session with the far end, so that nothing could be measured.
pub fn measure(start: Start<'_>, on: &mut dyn FnMut(Event<'_>)) -> Result<Run, FarError> {
    let zero = Instant::now();
    let mut far = Far::connect(start.control, start.key, start.program)?;
    if start.slot {
        far.slot()?;
    }
    let (layers, unreached) = layers(&start);
    // Facts are about the route to the last reached address: there is no route to an unreached one,
    // and a missing route must not be mistaken for a missing fact.
    let toward = reached(start.targets, &unreached);
    let (near_facts, scope) = state::facts(toward.last().map(|t| t.far));
    let own = layers.last().map(|l| l.near);
    let far_facts = far.facts(own)?;
    let seed = start.plan.seed.unwrap_or(start.seed);
    let plan = Plan {
        seed: Some(seed),
        ..start.plan.clone()
    };
    let third = start.third.map(|third| Prober::open(third, start.program));
    let near = End::new(start.program, near_facts);
    let other = End::new(&far.welcome.program, far_facts);
    let mut run = Run {
        lab: start.lab,
        layers,
        unreached,
        ..Run::new(start.id.clone(), start.started_us, plan, near, other)
    };
    let mut bench = Bench {
        port: start.control.port(),
        control_us: far.round_trip_us(),
        far,
        zero,
        plan: start.plan,
        // In virtual time a timer is exact, and a system call is what costs the most.
        spacing: match start.lab {
            true => Spacing::Kernel,
            false => Spacing::Timer,
        },
        cancel: start.cancel,
        scope,
        idle_us: HashMap::new(),
        loaded_us: HashMap::new(),
        lines: HashMap::new(),
        capacity: HashMap::new(),
        pmtu: HashMap::new(),
        bytes: 0,
        pinged: Instant::now(),
        third: None,
        on,
    };
    match third {
        Some(Ok(prober)) => {
            run.third = Some(prober.point());
            bench.third = Some(prober);
        }
        Some(Err(error)) => run.caveats.push(third::unreached(&error)),
        None => {}
    }
    let carried = carry_out(&mut bench, &mut run, seed);
    if let Some(prober) = bench.third.take() {
        run.caveats.extend(prober.close());
    }
    (bench.on)(Event::Moved(bench.bytes));
    match carried {
        Ok(()) => {
            let own = run.layers.last().map(|l| l.near);
            validity::facts_after(&mut bench, &mut run, &toward, own);
            bench.far.bye();
        }
        Err(error) => run.cut_short = Some(error.text()),
    }
    if let (Some(third), Some(point)) = (start.third, &mut run.third) {
        let rates = segment_rates(third, &start);
        point.rates = rates.unwrap_or_else(|error| {
            run.caveats.push(third::unmeasured(&error));
            Vec::new()
        });
    }
    conclude::conclude(&mut run, zero, start.cancel.load(Ordering::Relaxed));
    Ok(run)
}

/// Measures the segment between the near end and the third point in a separate run, if requested.
fn segment_rates(third: &Third, start: &Start<'_>) -> Result<Vec<SegmentRate>, FarError> {
    let ProbeKind::Agent(port, key) = &third.probes else {
        return Ok(Vec::new());
    };
    if !third.load || start.cancel.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let alone = Start {
        control: SocketAddr::new(third.address, *port),
        key,
        plan: &third::rates::plan(),
        seed: start.seed,
        targets: &[Target {
            layer: Layer::Underlay,
            far: third.address,
        }],
        unreached: Vec::new(),
        third: None,
        slot: false,
        program: start.program,
        id: start.id.clone(),
        started_us: start.started_us,
        lab: start.lab,
        cancel: start.cancel,
    };
    let run = measure(alone, &mut |_| {})?;
    Ok(third::rates::of(&run))
}

/// The targets that have an address on this host.
fn reached(targets: &[Target], unreached: &[Unreached]) -> Vec<Target> {
    let lost = |target: &&Target| unreached.iter().any(|u| u.far == target.far);
    let there = targets.iter().filter(|target| !lost(target));
    there.copied().collect()
}

/// The layers and families that the plan requests and this host has addresses for, and the
/// unreached ones.
fn layers(start: &Start<'_>) -> (Vec<LayerAddress>, Vec<Unreached>) {
    let wanted = |layer: &LayerAddress| {
        (start.plan.layers.is_empty() || start.plan.layers.contains(&layer.layer))
            && (start.plan.families.is_empty() || start.plan.families.contains(&layer.family))
    };
    let mut layers = Vec::new();
    let mut unreached = start.unreached.clone();
    for target in start.targets {
        match target.addressed() {
            Ok(layer) if wanted(&layer) => layers.push(layer),
            Ok(_) => {}
            Err(error) => unreached.push(Unreached {
                layer: target.layer,
                far: target.far,
                why: Text::name(Value::from(&error)),
            }),
        }
    }
    (layers, unreached)
}

fn carry_out(bench: &mut Bench<'_>, run: &mut Run, seed: Seed) -> Result<(), FarError> {
    let senders = Senders {
        near: Sender {
            usable: state::congestion(),
            default: run.near.facts.congestion.default.clone(),
        },
        far: Sender {
            usable: bench.far.welcome.congestion.clone(),
            default: run.far.facts.congestion.default.clone(),
        },
    };
    for (side, sender, facts) in [
        (Side::Near, &senders.near, &run.near.facts),
        (Side::Far, &senders.far, &run.far.facts),
    ] {
        let lacking = controls::lacking(bench.plan, side, &sender.usable, &facts.congestion);
        run.caveats.extend(lacking);
    }
    for caveat in &run.caveats {
        (bench.on)(Event::Note(&format!("not measured: {caveat}")));
    }
    let layers = run.layers.clone();
    let expected = pace::expected(bench.plan, bench.control_us);
    let planned = estimate(&expected, layers.len(), &senders);
    (bench.on)(Event::Planned {
        estimate: planned,
        layers: &layers,
        far: &run.far.program,
    });
    let of = planned.samples[1];
    let toward = layers.last().map(|layer| layer.far);
    let before = run.near.facts.path.as_ref();
    let mut relay = Relay::new(before.and_then(|path| path.tunnel()));
    let mut check_relay = |run: &mut Run| {
        let now = toward.filter(|_| relay.is_known()).and_then(facts::tunnel);
        relay.judge(now.as_ref(), &mut run.samples);
    };
    for task in schedule::once(bench.plan, &layers, &senders) {
        if !perform(bench, run, &task, of)? {
            check_relay(run);
            return Ok(());
        }
    }
    check_relay(run);
    say_longer(bench, &layers, &senders, planned);
    let mut random = Random::new(seed.0);
    for number in 1..=bench.plan.repeats.max {
        let block = schedule::block(bench.plan, &layers, &senders, number, &mut random);
        if block.is_empty() {
            break;
        }
        for task in block {
            if !perform(bench, run, &task, of)? {
                check_relay(run);
                return Ok(());
            }
        }
        check_relay(run);
        if number >= bench.plan.repeats.min && narrow(bench.plan, &run.samples) {
            break;
        }
    }
    Ok(())
}

/// Reports the cost of the rest where the path needs longer loads than expected from its first
/// round trip.
fn say_longer(
    bench: &mut Bench<'_>,
    layers: &[LayerAddress],
    senders: &Senders,
    planned: Estimate,
) {
    let fitted = pace::for_all(bench, layers);
    let estimate = estimate(&fitted, layers.len(), senders);
    if estimate.time_s[1] > 1.1 * planned.time_s[1] {
        let steps = fitted.steps.iter().map(|step| step.duration_s);
        let step_s = steps.fold(0.0, f64::max);
        (bench.on)(Event::Longer { estimate, step_s });
    }
}

/// Returns true if every goodput is known with the precision that the plan requires.
pub(crate) fn narrow(plan: &Plan, samples: &[Sample]) -> bool {
    let Some(width) = plan.repeats.width else {
        return false;
    };
    let rule = StopRule {
        least: plan.repeats.min as usize,
        most: usize::MAX,
        relative_half_width: width / 2.0,
    };
    let mut goodputs: HashMap<&Key, Vec<f64>> = HashMap::new();
    for sample in samples.iter().filter(|s| s.valid && s.block > 0) {
        if let Some(tcp) = &sample.tcp {
            goodputs
                .entry(&sample.key)
                .or_default()
                .push(tcp.goodput_bps);
        }
    }
    goodputs.values().all(|g| rule.check(g) == Stop::Narrow)
}
