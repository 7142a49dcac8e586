//! The state of a watch as live values of a page.

use model::{
    text,
    text::{Text, Value},
};
use report::page::dashboard::Live;

use crate::{
    figures::Watched,
    watcher::{FigureStatus, PathStatus},
};

/// The live values of a path.
pub(super) fn live(path: &PathStatus) -> Vec<Live> {
    path.figures.iter().map(one).collect()
}

fn one(status: &FigureStatus) -> Live {
    let kind = status.figure.kind;
    Live {
        name: name(kind),
        layer: status.figure.layer,
        direction: status.figure.direction,
        latest: value(kind, status.latest),
        usual: status.usual.map(|usual| value(kind, usual)),
    }
}

fn name(kind: Watched) -> Text {
    match kind {
        Watched::Rtt => text!("RTT without load"),
        Watched::Lost => text!("lost probes"),
        Watched::Goodput => text!("goodput"),
        Watched::Added => text!("delay added by a load"),
    }
}

fn value(kind: Watched, value: f64) -> Value {
    match kind {
        Watched::Rtt | Watched::Added => Value::Us(value * 1e6),
        Watched::Lost => Value::Share(value),
        Watched::Goodput => Value::Bps(value),
    }
}
