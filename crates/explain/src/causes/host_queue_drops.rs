//! Drops in a host's own queues.

use analysis::view::Host;
use model::{
    evidence::CounterKind,
    findings::{Severity, Value},
    remedy::{Action, LimitKind},
    text,
    text::Text,
};

use super::{FULL, drops::drops, leftover_shaper, whole};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Kinds of counters, and their descriptions.
const PLACES: [(CounterKind, Text); 3] = [
    (CounterKind::BacklogDrops, text!("softnet dropped")),
    (CounterKind::DeviceDrops, text!("the card dropped")),
    (
        CounterKind::QueueDrops,
        text!("the queue of the device dropped"),
    ),
];

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::HOST_QUEUE_DROPS,
    title: "a host drops packets in its own queues",
    severity: Severity::High,
    needs: &[Need::Tcp],
    masked_by: &[CauseCode::FQ_FLOW_LIMIT],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "the counter increases on this host; these packets never reached the path",
        actions,
    },
    about: "Between card and socket a packet passes the card's ring, the backlog of a processor \
        (softnet) and the queue of the sending device. Each has a limit and a drop counter. If \
        such a counter increases by about the number of TCP's retransmissions, the loss is here \
        and not on the line. Drops by queue management on the bottleneck device are intended and \
        do not count: TCP then reaches the path.",
    sources: &[
        "Linux Documentation/networking/scaling.rst and net/core/dev.c: softnet_stat",
        "Notes on the rules: at least 20 % of TCP's retransmissions",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let Some(host) = scope.here() else {
        return PLACES.map(|(kind, _)| limit(None, kind)).into();
    };
    let mut limits: Vec<(f64, Action)> = PLACES
        .iter()
        .filter_map(|(kind, _)| {
            let found = drops(&host, *kind)?;
            found
                .explain()
                .then(|| (found.lost, limit(Some(&host), *kind)))
        })
        .collect();
    limits.sort_by(|a, b| b.0.total_cmp(&a.0));
    limits.into_iter().map(|(_, action)| action).collect()
}

fn test(host: &Host) -> Verdict {
    let view = host.view();
    let filled = view.directions().iter().all(|dir| {
        let of = || dir.utilization(&dir.default_load()?);
        of().is_some_and(|f| f >= FULL)
    });
    let mut read = false;
    let mut evidence = Vec::new();
    let mut worst: Option<(f64, Text)> = None;
    // A shaper drops traffic that exceeds its rate.
    let shaped = leftover_shaper::shaper(host).is_some();
    let places = PLACES.into_iter();
    for (kind, what) in places.filter(|(kind, _)| !(shaped && *kind == CounterKind::QueueDrops)) {
        let Some(found) = drops(host, kind) else {
            continue;
        };
        read = true;
        if found.explain() {
            evidence.push(
                figure(
                    text!("packets {what} while TCP ran", what = what.clone()),
                    Value::Count(found.lost),
                )
                .bound(text!("none"))
                .end(host.side)
                .decisive(),
            );
            if let Some(share) = found.share {
                evidence.push(figure(
                    text!("the same / TCP's retransmissions"),
                    Value::Ratio(share),
                ));
            }
            if worst.as_ref().is_none_or(|(most, _)| found.lost > *most) {
                worst = Some((found.lost, what));
            }
        }
    }
    if !read {
        return undecided(
            text!("this host's counters were not read"),
            text!("the same plan with pathtwin on Linux as this end"),
        );
    }
    let Some((lost, what)) = worst else {
        return ruled_out(text!(
            "its queues dropped nothing while TCP ran, or few packets compared with TCP's retransmissions"
        ));
    };
    if filled {
        return ruled_out(text!(
            "its queues dropped packets, but TCP still reaches the path's capacity"
        ));
    }
    let text = text!(
        "{what} {lost} packets while TCP ran",
        what = what,
        lost = whole(lost)
    );
    confirmed(Strength::of(&[evidence.len() > 1]), text, evidence)
}

/// A higher limit for counters of one kind.
fn limit(host: Option<&Host>, kind: CounterKind) -> Action {
    let device = host.and_then(|host| host.device());
    let (limit, packets) = match kind {
        CounterKind::BacklogDrops => {
            let now = host.and_then(|h| h.facts.sysctl("net.core.netdev_max_backlog"));
            (LimitKind::Backlog, now.unwrap_or(1000).saturating_mul(4))
        }
        CounterKind::DeviceDrops => {
            let rings = device.and_then(|device| device.rings.as_ref());
            let most = rings.map(|rings| rings.rx_max).filter(|most| *most > 0);
            (LimitKind::ReceiveRing, most.unwrap_or(4096).into())
        }
        _ => {
            let now = device.and_then(|device| device.txqueuelen);
            (LimitKind::DeviceQueue, 2 * u64::from(now.unwrap_or(1000)))
        }
    };
    Action::QueueLimit {
        limit,
        device: device
            .filter(|_| limit != LimitKind::Backlog)
            .map(|device| device.name.clone()),
        packets: u32::try_from(packets).unwrap_or(u32::MAX),
    }
}
