//! The published atlas, and one with made-up figures.

#![allow(clippy::unwrap_used, clippy::expect_used, dead_code)]

use std::path::{Path, PathBuf};

use atlas::{
    cell::{Factor, Figure},
    publish::Atlas,
    source::{SPECS, Source, Sweep},
    table,
};
use model::{cell::Cell, spec::Spec};

/// The folder of the atlas.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/atlas")
}

/// A spec of the atlas.
pub(crate) fn spec(file: &str) -> Spec {
    let path = atlas::source::spec(&folder(), file);
    let text = std::fs::read_to_string(&path).unwrap();
    Spec::parse(&path.display().to_string(), &text).unwrap()
}

/// The cells of a spec.
pub(crate) fn cells(file: &str) -> Vec<Cell> {
    spec(file).cells().unwrap()
}

/// The published atlas; absent before the first one.
pub(crate) fn published() -> Option<Atlas> {
    if !folder().join(table::FILE).exists() {
        println!("skipped: there is no table in docs/atlas; make atlas writes it");
        return None;
    }
    Some(Atlas::read(&folder()).unwrap())
}

/// A small atlas whose figures are made up: a goodput that falls with loss and round trip, unless
/// the congestion control is bbr.
pub(crate) fn made_up() -> Atlas {
    let mut lines = vec![header()];
    for rate in [20.0, 100.0] {
        for rtt in [5.0, 50.0, 200.0] {
            for queue in ["fifo 10ms", "fifo 200ms", "fq_codel", "policer 10ms"] {
                for loss in ["0%", "1%"] {
                    for cc in ["cubic", "bbr"] {
                        let spec = format!("atlas-{rate}mbit");
                        let lossy = loss == "1%" && cc == "cubic";
                        let goodput = if lossy {
                            rate * 5.0 / (5.0 + rtt)
                        } else {
                            rate * 0.95
                        };
                        let loaded = rtt + if queue == "fifo 200ms" { 150.0 } else { 4.0 };
                        lines.push(format!(
                            "{spec},{},{rate}mbit,{rtt}ms,{queue},{loss},none,1 flow,{cc},{goodput},{goodput},,\
                             0.01,{rtt},{loaded},{loaded},{loaded},0,true,0123456789abcdef",
                            lines.len() - 1
                        ));
                    }
                }
            }
        }
    }
    let text = format!("{}\n", lines.join("\n"));
    let cells = table::parse(&text).unwrap();
    let sweep = |file: &str| Sweep {
        file: file.to_owned(),
        cells: cells.len() / 2,
        rows: "00".repeat(32),
    };
    let source = Source {
        sample: true,
        kernel: "7.2".to_owned(),
        image: "11".repeat(32),
        guest: "22".repeat(32),
        specs: [SPECS[1], SPECS[3]].map(sweep).to_vec(),
        rows: "33".repeat(32),
        table: "44".repeat(32),
    };
    Atlas { cells, source }
}

fn header() -> String {
    let factors = Factor::ALL.map(Factor::name);
    let figures = Figure::ALL.map(Figure::name);
    let names = ["spec", "cell"].into_iter().chain(factors).chain(figures);
    let names: Vec<&str> = names.chain(["valid", "digest"]).collect();
    names.join(",")
}
