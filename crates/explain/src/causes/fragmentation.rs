//! Fragmented tunnel packets.

use analysis::view::{DirectionView, View};
use model::{
    evidence::CounterKind,
    findings::{Severity, Value},
    net::{Layer, Side},
    remedy::Action,
    text,
    wire::wireguard_headers,
};

use crate::{
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::{Scope, tunnel_device},
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, text_figure, undecided},
};

/// Minimum share of fragments per segment if all large packets are fragmented.
const MIN_SHARE: f64 = 0.2;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::FRAGMENTATION,
    title: "the tunnel's packets exceed the path MTU and are fragmented",
    severity: Severity::Medium,
    needs: &[],
    masked_by: &[CauseCode::MTU_BLACK_HOLE],
    depends_on: &[],
    test: Test::Path(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "each end fragments its own packets; a router in between can only clamp the MSS of connections through it",
        actions,
    },
    about: "WireGuard adds 60 bytes over IPv4 and 80 over IPv6. If the tunnel MTU leaves less room \
        than that, each full packet becomes two on the path: losing either loses both, small \
        routers drop fragments or reassemble them slowly, and each packet needs two headers at the \
        bottleneck. An overload that loses halves of packets fills the memory for reassembly, and nothing \
        passes until that is cleared. The symptoms are increasing fragment counters, and a tunnel MTU above the path \
        MTU minus the overhead.",
    sources: &[
        "wg-quick(8): MTU 1420 = 1500 - 80",
        "tailscale/tailscale#20668: ReasmReqds twice ReasmOKs; gluetun#1650; popsiclelmlm/Hey#14",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::TunnelMtu {
        device: tunnel_device(scope.view().map(|view| view.host(Side::Near))),
        bytes: scope.view().and_then(|view| fits(&view)),
    }]
}

fn test(view: &View) -> Verdict {
    let facts = [Side::Near, Side::Far].map(|side| view.host(side));
    if view.layer == Layer::Underlay {
        return match facts.iter().any(|host| host.path_known()) {
            true => ruled_out(text!("no tunnel was measured")),
            false => undecided(
                text!("it is not known whether this path has a tunnel"),
                text!("facts of the hosts"),
            ),
        };
    }
    let mut evidence = Vec::new();
    let mut signs = [false, false, false];
    let mut known = false;
    let below = view.underlay();
    let path = below.and_then(|b| {
        let pmtu = b.pmtu()?;
        Some((pmtu.up.into_iter().chain(pmtu.down).min()?, b.family))
    });
    let inside = [Side::Near, Side::Far]
        .into_iter()
        .filter_map(|side| view.host(side).tunnel()?.mtu)
        .max();
    if let (Some((path, family)), Some(inside)) = (path, inside) {
        known = true;
        let overhead = wireguard_headers(family);
        signs[0] = inside + overhead > path;
        evidence.push(
            figure(
                text!("size of the tunnel's packets on the path"),
                Value::Bytes(f64::from(inside + overhead)),
            )
            .bound(text!("at most the path's MTU"))
            .formula(text!(
                "{inside} + {overhead}",
                inside = inside,
                overhead = overhead
            ))
            .decisive(),
        );
        evidence.push(figure(text!("path MTU"), Value::Bytes(f64::from(path))));
    }
    let samples = view.tcp_samples();
    let segments: f64 = view
        .directions()
        .iter()
        .flat_map(|w| w.loads())
        .filter_map(|l| l.segments)
        .sum();
    for side in [Side::Near, Side::Far] {
        let Some(made) = view
            .host(side)
            .counter_increase(&samples, CounterKind::Fragments)
        else {
            continue;
        };
        known = true;
        if segments > 0.0 && made / segments > MIN_SHARE {
            signs[1] = true;
            evidence.push(
                figure(
                    text!("fragments sent or reassembled while TCP ran"),
                    Value::Count(made),
                )
                .bound(text!("none"))
                .end(side)
                .decisive(),
            );
        }
    }
    let collapses = |dir: &DirectionView| dir.sweep().is_some_and(|s| s.collapses());
    let collapsed = view.directions().iter().any(collapses);
    if collapsed {
        known = true;
        signs[2] = true;
        evidence.push(
            text_figure(
                text!("UDP at a rate that passed before"),
                text!("nearly all lost after an overload"),
            )
            .bound(text!("the path still delivers its capacity"))
            .decisive(),
        );
    }
    if !known {
        return undecided(
            text!("neither the path MTU nor fragment counters are known"),
            text!("a plan with the step `pmtu` on both layers"),
        );
    }
    if !signs.contains(&true) && path.is_none() {
        return undecided(
            text!("no fragments were counted, but the path's own MTU is not known"),
            text!("a plan with the step `pmtu` on both layers"),
        );
    }
    if !signs.contains(&true) {
        return ruled_out(text!(
            "the tunnel's packets fit the path, and no fragments were counted"
        ));
    }
    let text = match (path, inside) {
        (Some((path, _)), Some(inside)) if signs[0] => text!(
            "a tunnel MTU of {inside} makes packets that exceed the path MTU of {path} bytes",
            inside = inside,
            path = path
        ),
        _ if signs[1] => text!("the hosts sent or reassembled fragments while TCP ran"),
        _ => text!("an overload of UDP stops the tunnel for a while, as full fragment memory does"),
    };
    let verdict = confirmed(Strength::of(&signs[..2]), text, evidence);
    match super::filled(view) {
        true => verdict,
        false => verdict.at(Severity::High),
    }
}

/// The largest tunnel MTU that fits the path.
fn fits(view: &View) -> Option<u32> {
    let below = view.underlay()?;
    let pmtu = below.pmtu()?;
    let path = pmtu.up.into_iter().chain(pmtu.down).min()?;
    path.checked_sub(wireguard_headers(below.family))
}
