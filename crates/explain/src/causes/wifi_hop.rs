//! A radio link is part of the path.

use analysis::view::Host;
use model::{
    facts::DeviceKind,
    findings::{RemedyClass, Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, known_or, percent, time};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, On, Test},
    verdict::{Figure, Strength, Verdict, end, figure, holds, not, unknown, worded},
};

/// Variation of the idle round trip that a cable does not make, µs.
const VARIES_US: f64 = 10_000.0;
/// Signal below which rates drop, dBm.
const WEAK_DBM: i32 = -70;

pub(super) const CAUSE: Cause = Cause {
    code: "wifi-hop",
    title: "a radio link of this host is part of the path and shows",
    severity: Severity::Medium,
    needs: &[],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Advice {
        class: RemedyClass::Radio,
        what: "repeat the test on a cable; then power saving off, a free channel or a better place; bbr at \
            the sender is a plaster for what loss remains",
        on: On::Here,
        why: "it is this host's radio; the same test over a cable shows what the rest of the path does",
        actions,
    },
    about: "Wi-Fi repeats lost frames itself, which makes delay vary, and gives some up, which is loss. Power \
        saving adds tens of milliseconds. Whether the radio is to blame is settled by a cable, or by \
        measuring to the own gateway.",
    sources: &[
        "club.fnnas.com, thread 18826: 30 to 60 Mbit/s over wireless",
        "tailscale/tailscale#19320: the wired host was the slower one; do not assume",
    ],
};

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Radio]
}

fn test(host: &Host) -> Verdict {
    let view = host.view();
    let Some(path) = &host.facts.path else {
        return unknown(
            text!("the devices of this host are not known"),
            text!("facts of this host"),
        );
    };
    let Some(device) = path.devices().find(|d| d.kind == DeviceKind::Wlan) else {
        return not(text!("no wireless device is on this host's path"));
    };
    let mut evidence = vec![
        worded(
            text!("device"),
            text!("{device}, wireless", device = &device.name),
        )
        .on(host.side)
        .deciding(),
    ];
    let signal = device.wireless.as_ref().and_then(|w| w.signal_dbm);
    if let Some(signal) = signal {
        evidence.push(
            figure(text!("signal"), Value::Name(format!("{signal} dBm")))
                .against(text!("above -70 dBm"))
                .on(host.side),
        );
    }
    let varies = view
        .idle()
        .and_then(|idle| Some(idle.p95_us? - idle.p50_us));
    if let Some(varies) = varies {
        evidence.push(
            figure(
                text!("idle round trip, median to 95th percentile"),
                Value::Us(varies),
            )
            .against(text!("below 10 ms")),
        );
    }
    let mut lost = 0.0_f64;
    let mut slow = false;
    for way in view.directions() {
        if let Some(sweep) = way.sweep() {
            lost = lost.max(sweep.below.loss_interval().0);
        }
        slow |= way
            .default_load()
            .is_some_and(|l| way.utilization(&l).is_some_and(|f| f < FULL));
    }
    if lost > 1e-4 {
        evidence.push(
            figure(text!("lost of UDP, at least"), Value::Share(lost))
                .against(text!("below 0.01 %")),
        );
    }
    let shaky = varies.is_some_and(|v| v > VARIES_US);
    let weak = signal.is_some_and(|s| s < WEAK_DBM);
    if !shaky && lost <= 1e-4 && !weak {
        return not(text!(
            "{device} is wireless, but nothing is lost and the round trip varies by {varies}",
            device = &device.name,
            varies = known_or(varies, time, text!("an unknown time"))
        ));
    }
    let text = text!(
        "the {host}'s {device} is wireless; UDP loses at least {lost} and the idle round trip varies by {varies}",
        host = end(host.side),
        device = &device.name,
        lost = percent(lost),
        varies = known_or(varies, time, text!("an unknown time"))
    );
    let verdict = holds(Strength::of(&[shaky, lost > 1e-3, weak]), text, evidence)
        .settled_by(text!("the same plan over a cable"));
    if slow || shaky {
        verdict
    } else {
        verdict.at(Severity::Low)
    }
}
