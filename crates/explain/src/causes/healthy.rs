//! Healthy paths.

use analysis::view::{Load, View};
use model::{
    findings::{Severity, Value},
    net::Layer,
    remedy::Action,
    text,
};

use super::{FULL, bloat, no_capacity, percent, rate, time};
use crate::{
    bound, brief,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::HEALTHY,
    title: "nothing is wrong",
    severity: Severity::Info,
    needs: &[Need::Tcp, Need::Sweep],
    masked_by: &[],
    depends_on: &[],
    test: Test::Path(test),
    remedy: Remedies {
        on: On::Elsewhere,
        why: "TCP already reaches the path's capacity",
        actions,
    },
    about: "TCP reaches the capacity measured by UDP in each measured direction, and the RTT rises \
        little under load. A path can be slow and healthy: a fully used line of 5 Mbit/s, or a \
        continent's distance, is nothing that a setting changes.",
    sources: &["dslreports.com/faq/17930: grades by added delay"],
};

/// Returns true if only its duration limited a load: on a long path the window grows for many
/// seconds, without any loss or limit.
fn still_growing(load: &Load) -> bool {
    let none = |share: Option<f64>| share.is_some_and(|s| s < 0.05);
    load.retransmits == Some(0.0)
        && none(load.rwnd_limited)
        && none(load.sndbuf_limited)
        && none(load.app_limited)
        && load.min_rtt_us.is_some_and(|rtt| rtt > LONG_US)
}

/// RTT above which that takes longer than a short test, µs.
const LONG_US: f64 = 50_000.0;

/// Returns the actions, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Keep]
}

fn test(view: &View) -> Verdict {
    if view.layer == Layer::Tunnel && view.underlay().is_none() {
        return undecided(Need::Below.missing(), Need::Below.settle());
    }
    let mut evidence = Vec::new();
    let mut words = Vec::new();
    let mut certain = true;
    for dir in view.directions() {
        let Some(load) = dir.default_load() else {
            continue;
        };
        let name = || match dir.direction {
            model::net::Direction::Down => text!("down"),
            model::net::Direction::Up => text!("up"),
        };
        let Some(filled) = dir.utilization(&load) else {
            return no_capacity(&dir);
        };
        if filled < FULL && brief::is(&dir, &load) {
            return brief::verdict(&dir, &load);
        }
        if filled < FULL && still_growing(&load) {
            return undecided(
                text!(
                    "too short to tell: TCP {direction} reaches {filled} of the path's capacity, and was still growing",
                    direction = name(),
                    filled = percent(filled)
                ),
                text!("a plan with longer loads"),
            );
        }
        if filled < FULL {
            return ruled_out(text!(
                "TCP {direction} reaches {filled} of the path's capacity",
                direction = name(),
                filled = percent(filled)
            ));
        }
        words.push(text!(
            "{goodput} {direction}",
            goodput = rate(load.goodput_bps),
            direction = name()
        ));
        evidence.push(
            figure(
                text!(
                    "share of the capacity used, {direction}",
                    direction = name()
                ),
                Value::Share(filled),
            )
            .bound(bound::at_least(Value::Share(FULL)))
            .samples(&load.samples)
            .decisive(),
        );
        match dir.added_delay_us(&load) {
            Some(added) if added > bloat::fine_us(&dir, &load) => {
                return ruled_out(text!(
                    "TCP {direction} adds {added} of delay",
                    direction = name(),
                    added = time(added)
                ));
            }
            Some(added) => evidence.push(
                figure(
                    text!("increase of the RTT, {direction}", direction = name()),
                    Value::Us(added),
                )
                .bound(bloat::fine(&dir, &load)),
            ),
            None => certain = false,
        }
    }
    let both = words.len() == 2;
    let list = |list, next| text!("{list} and {next}", list = list, next = next);
    let Some(rates) = words.into_iter().reduce(list) else {
        return undecided(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let text = text!("TCP reaches {rates}, the path's capacity", rates = rates);
    let strength = if certain {
        Strength::of(&[true, both])
    } else {
        Strength::Weak
    };
    confirmed(strength, text, evidence)
}
