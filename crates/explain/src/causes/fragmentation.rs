//! The tunnel's packets do not fit the path and are cut up.

use analysis::view::View;
use model::{
    findings::{RemedyClass, Severity, Value},
    net::{IpVersion, Layer, Side},
    remedy::Action,
    text,
};

use crate::{
    advice::{Scope, tunnel_device},
    cause::{Advice, Cause, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Fragments for each hundred segments from which all large packets are cut up.
const MANY: f64 = 0.2;

pub(super) const CAUSE: Cause = Cause {
    code: "fragmentation",
    title: "the tunnel's packets are larger than the path allows and get cut up",
    severity: Severity::Medium,
    needs: &[],
    masked_by: &["mtu-black-hole"],
    depends_on: &[],
    test: Test::Path(test),
    remedy: Advice {
        class: RemedyClass::Mtu,
        what: "set the tunnel's MTU to the path's less 60 bytes over IPv4, less 80 over IPv6, on both ends",
        on: On::Elsewhere,
        why: "each end cuts up what it sends; a router between can only clamp the MSS of what passes",
        actions,
    },
    about: "WireGuard adds 60 bytes over IPv4 and 80 over IPv6. If the tunnel's MTU leaves less room than \
        that, each full packet becomes two on the path: the loss of either loses both, small routers \
        drop fragments or reassemble them slowly, and each packet costs two of the bottleneck's \
        headers. It shows in the counters of fragments, and in a tunnel MTU above the path's MTU less the \
        overhead.",
    sources: &[
        "wg-quick(8): MTU 1420 = 1500 - 80",
        "tailscale/tailscale#20668: ReasmReqds twice ReasmOKs; gluetun#1650; popsiclelmlm/Hey#14",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::TunnelMtu {
        device: tunnel_device(Some(scope.view.host(Side::Near))),
        bytes: fits(&scope.view),
    }]
}

fn test(view: &View) -> Verdict {
    let facts = [Side::Near, Side::Far].map(|side| view.host(side));
    if view.layer == Layer::Underlay {
        return match facts.iter().any(|host| host.path_known()) {
            true => not(text!("no tunnel was measured")),
            false => unknown(
                text!("it is not known whether a tunnel is on this path"),
                text!("facts of the hosts"),
            ),
        };
    }
    let mut evidence = Vec::new();
    let mut signs = [false, false];
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
        let overhead = overhead(family);
        signs[0] = inside + overhead > path;
        evidence.push(
            figure(
                text!("packets of the tunnel on the path"),
                Value::Bytes(f64::from(inside + overhead)),
            )
            .against(text!("at most the path's MTU"))
            .by(text!(
                "{inside} + {overhead}",
                inside = inside,
                overhead = overhead
            ))
            .deciding(),
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
        let Some(made) =
            view.host(side)
                .counter_increase(&samples, "nstat", &["FragCreates", "ReasmReqds"])
        else {
            continue;
        };
        known = true;
        if segments > 0.0 && made / segments > MANY {
            signs[1] = true;
            evidence.push(
                figure(
                    text!("fragments made or put together while TCP ran"),
                    Value::Count(made),
                )
                .against(text!("none"))
                .on(side)
                .deciding(),
            );
        }
    }
    if !known {
        return unknown(
            text!("neither the path's MTU nor counters of fragments are known"),
            text!("a plan with the step `pmtu` on both layers"),
        );
    }
    if !signs.contains(&true) && path.is_none() {
        return unknown(
            text!("no fragments were counted, but the path's own MTU is not known"),
            text!("a plan with the step `pmtu` on both layers"),
        );
    }
    if !signs.contains(&true) {
        return not(text!(
            "the tunnel's packets fit the path, and no fragments were counted"
        ));
    }
    let text = match (path, inside) {
        (Some((path, _)), Some(inside)) if signs[0] => text!(
            "a tunnel MTU of {inside} makes packets that do not fit the path's {path} bytes",
            inside = inside,
            path = path
        ),
        _ => text!("the hosts made or put together fragments while TCP ran"),
    };
    holds(Strength::of(&signs), text, evidence)
}

/// The largest MTU of the tunnel whose packets fit the path.
fn fits(view: &View) -> Option<u32> {
    let below = view.underlay()?;
    let pmtu = below.pmtu()?;
    let path = pmtu.up.into_iter().chain(pmtu.down).min()?;
    path.checked_sub(overhead(below.family))
}

/// What a tunnel of WireGuard adds to a packet, bytes.
fn overhead(family: IpVersion) -> u32 {
    match family {
        IpVersion::V4 => 60,
        IpVersion::V6 => 80,
    }
}
