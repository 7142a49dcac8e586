//! Validity of samples.

use std::net::IpAddr;

use analysis::processor;
use model::{
    evidence::Evidence,
    facts::HostFacts,
    net::Direction,
    run::{Invalid, Run, Sample},
};
use sys::clock;

use super::{Target, bench::Bench, layers::own_address, task::Task};
use host::state;

/// Busy share of a processor from which it may have limited the rate instead of the path.
const BUSY: f64 = 0.97;

/// A clock that was set by more than this did not just drift: NTP slews by at most 500 ppm.
const STEP_NS: i64 = 5_000_000;

/// The state of both hosts before a step.
pub(crate) struct Guard {
    offset: u64,
    far: IpAddr,
    route: Option<IpAddr>,
    lab: bool,
}

impl Guard {
    pub(crate) fn set(task: &Task, lab: bool) -> Self {
        Self {
            offset: clock::realtime_offset(),
            far: task.layer.far,
            route: own_address(task.layer.far).ok(),
            lab,
        }
    }

    /// Marks samples that do not count.
    pub(crate) fn judge(&self, samples: &mut [Sample]) {
        let by_ns = clock::realtime_offset().wrapping_sub(self.offset) as i64;
        let route = own_address(self.far).ok();
        for sample in samples {
            if by_ns.abs() > STEP_NS {
                let by_us = by_ns / 1000;
                sample.invalid.push(Invalid::ClockStep { by_us });
            }
            if route != self.route {
                let text = |r: Option<IpAddr>| r.map_or("none".to_owned(), |ip| ip.to_string());
                sample.invalid.push(Invalid::RouteChanged {
                    before: text(self.route),
                    after: text(route),
                });
            }
            if !self.lab {
                sample.invalid.extend(processor(sample));
            }
        }
    }
}

/// A sender or receiver without processor time to spare. Latency and requests stay valid: they
/// show it themselves.
fn processor(sample: &Sample) -> Option<Invalid> {
    sample.tcp.as_ref()?;
    let limiting = |evidence: &Option<Evidence>| processor::limiting(evidence.as_ref()?, BUSY);
    let (near, far) = (limiting(&sample.near), limiting(&sample.far));
    let (sender, receiver) = match sample.key.direction? {
        Direction::Down => (far, near),
        Direction::Up => (near, far),
    };
    sender
        .map(|share| Invalid::SenderProcessor { share })
        .or(receiver.map(|share| Invalid::ReceiverProcessor { share }))
}

/// Collects the facts of both ends again, and stores those that have changed.
pub(crate) fn facts_after(
    bench: &mut Bench<'_>,
    run: &mut Run,
    targets: &[Target],
    own: Option<IpAddr>,
) {
    let (near, _) = state::facts(targets.last().map(|t| t.far));
    run.near.facts_after = changed(&run.near.facts, near);
    if let Ok(far) = bench.far.facts(own) {
        run.far.facts_after = changed(&run.far.facts, far);
    }
}

fn changed(before: &HostFacts, after: HostFacts) -> Option<HostFacts> {
    (before.settled() != after.settled()).then_some(after)
}
