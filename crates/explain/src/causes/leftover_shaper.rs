//! Shapers on a host's own device that are the bottleneck.

use analysis::view::Host;
use model::{
    findings::{Severity, Value},
    net::{Direction, Side},
    remedy::Action,
    text,
};

use super::rate;
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::LEFTOVER_SHAPER,
    title: "a shaper on a host's own device limits the rate",
    severity: Severity::Medium,
    needs: &[Need::Sweep],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "the rate is configured on this host's device; the line behind it may be faster",
        actions,
    },
    about: "A token bucket, HTB or cake with a rate limits what a host's device sends. That is \
        good practice just below the rate of the line, and a trap if it remains after the line \
        became faster. It is found when the measured capacity of a direction is the rate of such a \
        shaper.",
    sources: &["freifunk-gluon/gluon#1447: an ingress limit left behind, 10 to 3 Mbit/s"],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let host = scope.here();
    let found = host.as_ref().and_then(shaper);
    vec![Action::RemoveShaper {
        device: found.map(|(device, _, _)| device.to_owned()),
        queue: found.map(|(_, kind, _)| kind.to_owned()),
        rate_bps: found.map(|(_, _, bps)| bps as u64),
    }]
}

fn test(host: &Host) -> Verdict {
    if host.path().is_none() {
        return undecided(
            text!("the queues of this host are not known"),
            text!("facts of this host"),
        );
    }
    let direction = match host.side {
        Side::Near => Direction::Up,
        Side::Far => Direction::Down,
    };
    let Some(sweep) = host.view().direction(direction).sweep() else {
        return undecided(Need::Sweep.missing(), Need::Sweep.settle());
    };
    let Some((device, kind, bps)) = shaper(host) else {
        return ruled_out(text!("no queue on this host's path has a rate"));
    };
    let ratio = sweep.capacity_bps / bps;
    if !(0.85..=1.1).contains(&ratio) {
        return ruled_out(text!(
            "its shaper allows {rate}, the path's capacity is {capacity}",
            rate = rate(bps),
            capacity = rate(sweep.capacity_bps)
        ));
    }
    let evidence = vec![
        figure(
            text!("{kind} on {device}", kind = kind, device = device),
            Value::Bps(bps),
        )
        .bound(text!("the measured capacity"))
        .end(host.side)
        .decisive(),
        figure(
            text!("capacity measured by UDP"),
            Value::Bps(sweep.capacity_bps),
        )
        .samples(&sweep.samples),
    ];
    let text = text!(
        "{kind} on {device} allows {rate}, which is the path's capacity",
        kind = kind,
        device = device,
        rate = rate(bps)
    );
    confirmed(
        Strength::of(&[(0.93..=1.03).contains(&ratio)]),
        text,
        evidence,
    )
}

/// The slowest shaper on the host's own devices: device, kind of queue, bit/s.
pub(super) fn shaper<'a>(host: &Host<'a>) -> Option<(&'a str, &'a str, f64)> {
    let path = host.path()?;
    let mut shapers = Vec::new();
    for device in path.devices() {
        for queue in device.qdiscs.iter().flatten() {
            if let Some(bps) = queue.rate_bps() {
                shapers.push((device.name.as_str(), queue.kind.as_str(), bps));
            }
        }
    }
    shapers.into_iter().min_by(|a, b| a.2.total_cmp(&b.2))
}
