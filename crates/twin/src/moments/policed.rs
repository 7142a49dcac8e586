//! A policer named from TCP, where no UDP overload shows the queue.

use analysis::view::{DirectionView, Load};
use model::wire::Wire;

use super::{estimate::Estimate, payload::on_wire};
use crate::policing::{Dropper, Judgement};

/// Errors of its rate and burst, as shares: the largest of public captures (docs/accuracy.md),
/// rounded up.
const RATE_ERROR: f64 = 0.06;
const BURST_ERROR: f64 = 0.2;

/// What the loads of a direction name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Named {
    /// What drops.
    pub(super) dropper: Dropper,
    /// Rate and burst of a policer, bit/s and bytes with Ethernet headers.
    pub(super) bucket: Option<(Estimate, Estimate)>,
}

/// From loads of one flow, of which at least half must agree. bbr paces at a rate that it takes
/// from losses, so that its losses do not show a bucket.
pub(super) fn named(dir: &DirectionView<'_>, wire: Wire) -> Named {
    let all: Vec<(Load, Judgement)> = dir
        .single_loads()
        .into_iter()
        .filter(|load| load.cc != "bbr")
        .flat_map(|load| {
            judged(dir, &load)
                .into_iter()
                .map(move |j| (load.clone(), j))
        })
        .collect();
    let of = |dropper| all.iter().filter(move |(_, j)| j.dropper == dropper);
    let dropper = [Dropper::Policer, Dropper::Queue]
        .into_iter()
        .find(|d| !all.is_empty() && 2 * of(*d).count() >= all.len())
        .unwrap_or(Dropper::Unknown);
    let best = of(Dropper::Policer).min_by(|(_, a), (_, b)| {
        a.unexplained
            .unwrap_or(1.0)
            .total_cmp(&b.unexplained.unwrap_or(1.0))
    });
    Named {
        dropper,
        bucket: best
            .filter(|_| dropper == Dropper::Policer)
            .and_then(|(load, judged)| bucket(dir, wire, load, judged)),
    }
}

fn judged(dir: &DirectionView<'_>, load: &Load) -> Vec<Judgement> {
    let flows = dir
        .samples_of(load)
        .into_iter()
        .filter_map(|s| s.tcp.as_ref());
    let flows = flows.flat_map(|tcp| &tcp.flows);
    flows
        .filter_map(|f| Some(Judgement::of(f.series.as_ref()?)))
        .collect()
}

fn bucket(
    dir: &DirectionView<'_>,
    wire: Wire,
    load: &Load,
    judged: &Judgement,
) -> Option<(Estimate, Estimate)> {
    let on_wire = on_wire(dir, load, wire);
    Some((
        Estimate::around(judged.rate_bps? * on_wire, RATE_ERROR),
        Estimate::around(judged.burst_bytes? * on_wire, BURST_ERROR),
    ))
}
