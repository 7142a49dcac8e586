//! Path MTU black holes.

use analysis::view::DirectionView;
use model::{
    findings::{Severity, Value},
    net::{Direction, Layer},
    remedy::Action,
    text,
};

use super::rate;
use crate::{
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::{Scope, device, tunnel_device},
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

/// Minimum share of received datagrams for a size to count as delivered.
const ARRIVES: f64 = 0.8;
/// Minimum number of datagrams of a size.
const MIN_DATAGRAMS: u64 = 3;
/// Maximum share of received datagrams for a size to count as lost.
const LOST: f64 = 0.1;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::MTU_BLACK_HOLE,
    title: "large packets are dropped silently",
    severity: Severity::High,
    needs: &[],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "the sender creates the oversized packets; the receiver can only announce a smaller MSS",
        actions,
    },
    about: "If packets above a certain size are lost without an ICMP message, the handshake and \
        small requests work and bulk data stalls: the sender retransmits a full packet until it \
        gives up, with a window of one or two segments. Loss is a step function of the packet size \
        and does not depend on the rate, which tells it from every other kind of loss.",
    sources: &[
        "RFC 2923: TCP problems with path MTU discovery; RFC 4821",
        "denoland/clawpatrol#411, #822: 1.6 to 649 KB/s",
        "tailscale/tailscale#20668; peacey/split-vpn#67",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let further = [Action::MssClamp { bytes: None }, Action::MtuProbing];
    let Some(dir) = scope.direction_view() else {
        let tunnel = Action::TunnelMtu {
            device: None,
            bytes: None,
        };
        return [tunnel].into_iter().chain(further).collect();
    };
    let sizes = dir.sizes();
    let passed = sizes
        .iter()
        .filter(|s| s.received > s.sent / 2)
        .map(|s| s.packet);
    let found = dir.view.pmtu().and_then(|p| match dir.direction {
        Direction::Up => p.up,
        Direction::Down => p.down,
    });
    let fits = passed.chain(found).max();
    let sender = scope.sender();
    let tunnel = tunnel_device(sender);
    let mtu = match (fits, dir.view.layer) {
        (bytes, Layer::Tunnel) => Action::TunnelMtu {
            device: tunnel,
            bytes,
        },
        (Some(bytes), Layer::Underlay) => Action::LinkMtu {
            device: device(sender),
            bytes,
        },
        (None, Layer::Underlay) => Action::MssClamp { bytes: None },
    };
    [mtu].into_iter().chain(further).collect()
}

fn test(dir: &DirectionView) -> Verdict {
    let mut sizes = dir.sizes();
    sizes.retain(|s| s.sent >= MIN_DATAGRAMS);
    let share = |s: &&model::run::SizeStep| s.received as f64 / (s.sent as f64).max(1.0);
    let passes = sizes
        .iter()
        .filter(|s| share(s) >= ARRIVES)
        .map(|s| s.packet)
        .max();
    let stops = sizes
        .iter()
        .filter(|s| share(s) <= LOST)
        .map(|s| s.packet)
        .min();
    let silent = dir.view.pmtu().and_then(|p| match dir.direction {
        Direction::Up => p.silent_up,
        Direction::Down => p.silent_down,
    });
    let found = dir.view.pmtu().and_then(|p| match dir.direction {
        Direction::Up => p.up,
        Direction::Down => p.down,
    });
    if sizes.is_empty() && silent.is_none() {
        return undecided(
            text!("datagrams of several sizes were not sent"),
            text!("a plan with the steps `sizes` and `pmtu`"),
        );
    }
    if passes.is_none()
        && let Some(found) = found.filter(|_| silent == Some(false))
    {
        return ruled_out(text!(
            "packets of {found} bytes arrive, and larger ones are rejected with ICMP",
            found = found
        ));
    }
    if passes.is_none() && silent != Some(true) {
        return undecided(
            text!("no datagram of any size arrived"),
            text!("the step `sizes` for longer"),
        );
    }
    if sizes.is_empty() {
        return undecided(
            text!(
                "the largest packets did not arrive, and no ICMP message said so; datagrams of several sizes, which tell that from loss, were not sent"
            ),
            text!("a plan with the steps `sizes` and `pmtu`"),
        );
    }
    let load = dir.default_load();
    let mss = load.as_ref().and_then(|l| l.mss);
    let headers = f64::from(dir.view.family.tcp_headers());
    let packet = mss.map(|m| m + headers);
    let stalls = load.as_ref().is_some_and(|l| {
        l.cwnd_p50.is_some_and(|w| w <= 3.0) || l.timeouts.is_some_and(|t| t >= 2.0)
    });
    let (Some(passes), Some(stops)) = (passes, stops.filter(|s| passes.is_some_and(|p| *s > p)))
    else {
        return ruled_out(text!("packets of all sizes up to the device's MTU arrive"));
    };
    if let Some(found) = found.filter(|f| *f >= stops) {
        return ruled_out(text!(
            "the path MTU search delivered packets of {found} bytes",
            found = found
        ));
    }
    if silent == Some(false) {
        return ruled_out(text!(
            "packets of {stops} bytes are too large, and ICMP reports it",
            stops = stops
        ));
    }
    if packet.is_some_and(|p| p <= f64::from(passes)) && !stalls {
        return ruled_out(text!(
            "packets of {stops} bytes are dropped silently, but TCP's are smaller",
            stops = stops
        ));
    }
    let mut evidence = vec![
        figure(
            text!("largest packet that arrives"),
            Value::Bytes(f64::from(passes)),
        ),
        figure(
            text!("smallest packet that never arrives"),
            Value::Bytes(f64::from(stops)),
        )
        .bound(text!("none, or an ICMP message"))
        .decisive(),
    ];
    if let Some(found) = found {
        evidence.push(figure(
            text!("path MTU by search"),
            Value::Bytes(f64::from(found)),
        ));
    }
    if let Some(load) = &load {
        evidence
            .push(figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples));
        if let Some(cwnd) = load.cwnd_p50 {
            evidence.push(
                figure(text!("congestion window, segments"), Value::Count(cwnd))
                    .samples(&load.samples),
            );
        }
    }
    let text = match &load {
        Some(load) => text!(
            "packets of {passes} bytes arrive, packets of {stops} never, and TCP gets {goodput}",
            passes = passes,
            stops = stops,
            goodput = rate(load.goodput_bps)
        ),
        None => text!(
            "packets of {passes} bytes arrive, packets of {stops} never",
            passes = passes,
            stops = stops
        ),
    };
    confirmed(
        Strength::of(&[silent == Some(true), stalls]),
        text,
        evidence,
    )
}
