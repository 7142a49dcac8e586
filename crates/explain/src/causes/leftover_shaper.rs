//! A shaper on a host's own device is the bottleneck.

use analysis::view::Host;
use model::{
    findings::{RemedyClass, Severity, Value},
    net::{Direction, Side},
    remedy::Action,
    text,
};

use super::rate;
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Options that hold a rate, by the names of the facts.
const RATES: [&str; 4] = ["rate_bps", "bandwidth_bps", "base_rate_bps", "ceil_bps"];

pub(super) const CAUSE: Cause = Cause {
    code: "leftover-shaper",
    title: "a shaper on a host's own device sets the rate",
    severity: Severity::Medium,
    needs: &[Need::Sweep],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Advice {
        class: RemedyClass::Settings,
        what: "check whether it is meant: a shaper just below the line's rate keeps delay down and should \
            stay; one that is left over from another line or a test should go (tc qdisc del)",
        on: On::Here,
        why: "the rate is set in this host's device; the line behind it may carry more",
        actions,
    },
    about: "A token bucket, HTB or cake with a rate on a host's device limits what leaves it. That is good \
        practice just below the rate of the line, and a trap when it stays behind after the line got \
        faster. It is found when the measured capacity of a direction is the rate of such a shaper.",
    sources: &["freifunk-gluon/gluon#1447: an ingress limit left behind, 10 to 3 Mbit/s"],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let Some(host) = scope.here() else {
        return Vec::new();
    };
    let found = shaper(&host).map(|(device, kind, bps)| Action::RemoveShaper {
        device: Some(device.to_owned()),
        queue: kind.to_owned(),
        rate_bps: bps as u64,
    });
    found.into_iter().collect()
}

fn test(host: &Host) -> Verdict {
    if host.facts.path.is_none() {
        return unknown(
            text!("the queues of this host are not known"),
            text!("facts of this host"),
        );
    }
    let direction = match host.side {
        Side::Near => Direction::Up,
        Side::Far => Direction::Down,
    };
    let Some(sweep) = host.view().direction(direction).sweep() else {
        return unknown(Need::Sweep.missing(), Need::Sweep.settle());
    };
    let Some((device, kind, bps)) = shaper(host) else {
        return not(text!("no queue of this host's path has a rate"));
    };
    let ratio = sweep.capacity_bps / bps;
    if !(0.85..=1.1).contains(&ratio) {
        return not(text!(
            "its shaper lets {rate} through, the path carries {capacity}",
            rate = rate(bps),
            capacity = rate(sweep.capacity_bps)
        ));
    }
    let evidence = vec![
        figure(
            text!("{kind} on {device}", kind = kind, device = device),
            Value::Bps(bps),
        )
        .against(text!("the measured capacity"))
        .on(host.side)
        .deciding(),
        figure(text!("capacity by UDP"), Value::Bps(sweep.capacity_bps)).of(&sweep.samples),
    ];
    let text = text!(
        "{kind} on {device} lets {rate} through, and that is what the path carries",
        kind = kind,
        device = device,
        rate = rate(bps)
    );
    holds(
        Strength::of(&[(0.93..=1.03).contains(&ratio)]),
        text,
        evidence,
    )
}

/// The slowest shaper of the host's own devices: device, kind of queue, bit/s.
fn shaper<'a>(host: &Host<'a>) -> Option<(&'a str, &'a str, f64)> {
    let path = host.facts.path.as_ref()?;
    let mut shapers = Vec::new();
    for device in path.devices() {
        for queue in device.qdiscs.iter().flatten() {
            for name in RATES {
                let value = queue.options.get(name).and_then(|v| v.parse::<f64>().ok());
                if let Some(bps) = value.filter(|b| *b > 0.0) {
                    shapers.push((device.name.as_str(), queue.kind.as_str(), bps));
                }
            }
        }
    }
    shapers.into_iter().min_by(|a, b| a.2.total_cmp(&b.2))
}
