//! Evidence that settings acted: counters of queues, congestion controls that were used.

use model::{
    change::{Change, Setting, Step},
    net::{Direction, Side},
    proof::Acted,
    remedy::Location,
    run::Run,
    text,
    text::{Text, Value},
};
use sys::tc::{QdiscExtra, QdiscStats};

use crate::live::{Live, removes_shaper};

/// Evidence that the settings of a change acted, by the counters of their host.
pub fn counted(host: &mut Live, change: &Change) -> Vec<Acted> {
    let one = |step: &Step| {
        let setting = &step.setting;
        let (acted, evidence) = match setting {
            Setting::Queue { queue, .. } if removes_shaper(&step.old, queue) => {
                unshaped(&host.counters(setting))
            }
            Setting::Queue { .. } | Setting::Ingress { .. } => queue(&host.counters(setting)),
            _ => (None, text!("it is set; no counter shows whether it acts")),
        };
        Acted {
            setting: setting.text(),
            on: None,
            acted,
            evidence,
        }
    };
    change.steps.iter().map(one).collect()
}

/// Returns evidence that settings acted during a measurement, on the host `on` they belong to: that
/// of the measured connections, and of its counters, if they were read.
pub(crate) fn evidence<'a>(
    settings: impl Iterator<Item = &'a Setting>,
    counted: Option<Vec<Acted>>,
    on: Location,
    run: &Run,
) -> Vec<Acted> {
    let counted = counted.unwrap_or_default();
    let one = |setting: &'a Setting| {
        let unread = || (None, text!("the counters of that host are not read"));
        let is_of = |c: &&Acted| c.setting.to_string() == setting.to_string();
        let by_counters = counted.iter().find(is_of);
        let by_counters = by_counters.map(|c| (c.acted, c.evidence.clone()));
        acted(setting, on, run, by_counters.unwrap_or_else(unread))
    };
    settings.map(one).collect()
}

/// Returns whether a setting acted: a congestion control by the connections that used it.
fn acted(setting: &Setting, on: Location, run: &Run, otherwise: (Option<bool>, Text)) -> Acted {
    let (acted, evidence) = match (setting.congestion_control(), on.side()) {
        (Some(cc), Some(side)) => congestion(cc, side, run),
        (Some(_), None) => (
            Some(false),
            text!("a router that forwards connections has no part in their congestion control"),
        ),
        (None, _) => otherwise,
    };
    Acted {
        setting: setting.text(),
        on: Some(on),
        acted,
        evidence,
    }
}

/// The evidence of several measurements: a setting that acted once acts.
pub(super) fn together(all: &[Vec<Acted>]) -> Vec<Acted> {
    let Some(last) = all.last() else {
        return Vec::new();
    };
    let merged = |(n, last): (usize, &Acted)| {
        let mut same = all.iter().filter_map(|turn| turn.get(n)).rev();
        same.find(|a| a.acted == Some(true)).unwrap_or(last).clone()
    };
    last.iter().enumerate().map(merged).collect()
}

/// A queue that never limited, dropped, marked or paced a packet has no effect.
fn queue(all: &[QdiscStats]) -> (Option<bool>, Text) {
    let Some(root) = all.first() else {
        return (Some(false), text!("it is not there"));
    };
    let sum = |of: fn(&QdiscStats) -> u64| all.iter().map(of).sum::<u64>();
    let drops = sum(|q| q.drops.into());
    let limited = sum(|q| q.overlimits.into());
    let marks = sum(marks);
    let paced = sum(paced);
    let count = |n: u64| Value::Count(n as f64);
    let text = text!(
        "{packets} packets passed, {limited} waited for its rate, {paced} were paced, {drops} were \
         dropped, {marks} marked",
        packets = count(root.packets),
        limited = count(limited),
        paced = count(paced),
        drops = count(drops),
        marks = count(marks)
    );
    (Some(drops + limited + marks + paced > 0), text)
}

/// Without a shaper before it, a queue acts by letting packets pass.
fn unshaped(all: &[QdiscStats]) -> (Option<bool>, Text) {
    let packets = all.first().map_or(0, |root| root.packets);
    let text = text!(
        "{packets} packets passed without the shaper",
        packets = Value::Count(packets as f64)
    );
    (Some(packets > 0), text)
}

fn marks(queue: &QdiscStats) -> u64 {
    match queue.extra {
        Some(QdiscExtra::FqCodel { ecn_mark, .. } | QdiscExtra::Cake { ecn_mark, .. }) => {
            ecn_mark.into()
        }
        _ => 0,
    }
}

fn paced(queue: &QdiscStats) -> u64 {
    match queue.extra {
        Some(QdiscExtra::Fq { throttled, .. }) => throttled,
        _ => 0,
    }
}

/// Returns whether the connections sending from this end used a congestion control.
fn congestion(cc: &str, side: Side, run: &Run) -> (Option<bool>, Text) {
    let sent = |direction: Option<Direction>| direction.is_some_and(|d| Side::sends(d) == side);
    let used: Vec<&str> = run
        .samples
        .iter()
        .filter(|sample| sent(sample.key.direction))
        .filter_map(|sample| sample.tcp.as_ref()?.cc_used.as_deref())
        .collect();
    match used.iter().find(|used| **used != cc) {
        _ if used.is_empty() => (None, text!("no connection of this end was measured")),
        Some(other) => {
            let text = text!("the connections used {cc}", cc = *other);
            (Some(false), text)
        }
        None => (
            Some(true),
            text!("all connections that this end sent over used {cc}", cc = cc),
        ),
    }
}
