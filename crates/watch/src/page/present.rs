//! The state of a watch as live values of a page.

use report::page::dashboard::Live;

use crate::watcher::{FigureStatus, PathStatus};

/// The live values of a path.
pub(super) fn live(path: &PathStatus) -> Vec<Live> {
    path.figures.iter().map(one).collect()
}

fn one(status: &FigureStatus) -> Live {
    let kind = status.figure.kind;
    Live {
        name: kind.words(),
        layer: status.figure.layer,
        direction: status.figure.direction,
        latest: kind.value(status.latest),
        usual: status.usual.map(|usual| kind.value(usual)),
    }
}
