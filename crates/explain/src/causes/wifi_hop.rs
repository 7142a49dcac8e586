//! Radio links on the path.

use analysis::view::Host;
use model::{
    facts::DeviceKind,
    findings::{Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, known_or, percent, time};
use crate::{
    bound,
    cause::{Cause, CauseCode, On, Remedies, Test},
    scope::Scope,
    verdict::{
        Figure, Strength, Verdict, confirmed, end, figure, ruled_out, text_figure, undecided,
    },
};

/// Variation of the idle RTT that does not occur on a cable, µs.
const VARIES_US: f64 = 10_000.0;
/// Signal below which rates drop, dBm.
const WEAK_DBM: i32 = -70;
/// Share of datagrams lost below the capacity that a wire does not lose.
const LOST: f64 = 1e-4;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::WIFI_HOP,
    title: "a radio link of this host affects the path",
    severity: Severity::Medium,
    needs: &[],
    masked_by: &[],
    depends_on: &[],
    test: Test::Host(test),
    remedy: Remedies {
        on: On::Here,
        why: "it is this host's radio; the same test over a cable shows how the rest of the path behaves",
        actions,
    },
    about: "Wi-Fi retries lost frames, which makes delay vary, and gives up on some, which causes \
        loss. Power saving adds tens of milliseconds. Whether the radio is the cause is decided by \
        a test over a cable, or by measuring to the own gateway.",
    sources: &[
        "club.fnnas.com, thread 18826: 30 to 60 Mbit/s over wireless",
        "tailscale/tailscale#19320: the wired host was the slower one; do not assume",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Radio]
}

fn test(host: &Host) -> Verdict {
    let view = host.view();
    let Some(path) = host.path() else {
        return undecided(
            text!("the devices of this host are not known"),
            text!("facts of this host"),
        );
    };
    let Some(device) = path.devices().find(|d| d.kind == DeviceKind::Wlan) else {
        return ruled_out(text!("this host's path has no wireless device"));
    };
    let mut evidence = vec![
        text_figure(
            text!("device"),
            text!("{device}, wireless", device = &device.name),
        )
        .end(host.side)
        .decisive(),
    ];
    let signal = device.wireless.as_ref().and_then(|w| w.signal_dbm);
    if let Some(signal) = signal {
        evidence.push(
            figure(text!("signal"), Value::Dbm(f64::from(signal)))
                .bound(bound::above(Value::Dbm(f64::from(WEAK_DBM))))
                .end(host.side),
        );
    }
    let varies = view.idle().and_then(|idle| idle.variation_us());
    if let Some(varies) = varies {
        evidence.push(
            figure(
                text!("idle RTT, median to 95th percentile"),
                Value::Us(varies),
            )
            .bound(bound::below(time(VARIES_US))),
        );
    }
    let mut lost = 0.0_f64;
    let mut slow = false;
    for dir in view.directions() {
        if let Some(sweep) = dir.sweep() {
            lost = lost.max(sweep.below.loss_interval().0);
        }
        slow |= dir
            .default_load()
            .is_some_and(|l| dir.utilization(&l).is_some_and(|f| f < FULL));
    }
    if lost > LOST {
        evidence.push(
            figure(text!("UDP loss, at least"), Value::Share(lost))
                .bound(bound::below(Value::Share(LOST))),
        );
    }
    let shaky = varies.is_some_and(|v| v > VARIES_US);
    let weak = signal.is_some_and(|s| s < WEAK_DBM);
    if !shaky && lost <= 1e-4 && !weak {
        return ruled_out(text!(
            "{device} is wireless, but nothing is lost and the RTT varies by {varies}",
            device = &device.name,
            varies = known_or(varies, time, text!("an unknown amount"))
        ));
    }
    let text = text!(
        "the {host}'s {device} is wireless; UDP loses at least {lost} and the idle RTT varies by {varies}",
        host = end(host.side),
        device = &device.name,
        lost = percent(lost),
        varies = known_or(varies, time, text!("an unknown amount"))
    );
    let verdict = confirmed(Strength::of(&[shaky, lost > 1e-3, weak]), text, evidence)
        .settled_by(text!("the same plan over a cable"));
    if slow || shaky {
        verdict
    } else {
        verdict.at(Severity::Low)
    }
}
