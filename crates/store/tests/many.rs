//! Query times of a history of 100,000 runs. `bench/history` runs it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use model::history::Kind;
use store::{Document, FigureRow, Filter, Retention, Store};

const RUNS: u64 = 100_000;
/// Series of a default run of a path with a tunnel, about.
const FIGURES: u64 = 40;

fn figure(number: u64, at: u64) -> FigureRow {
    let noise = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1u64 << 24) as f64;
    FigureRow {
        step: format!("underlay/v4 tcp down x{}", at / 8 + 1).into(),
        figure: format!("figure_{}", at % 8).into(),
        n: 5,
        median: 94e6 * (0.99 + 0.02 * noise),
        low: Some(93e6),
        high: Some(95e6),
    }
}

fn document(number: u64) -> Document {
    let mut document = noise(number, 1000);
    document.kind = Kind::Run;
    document.created_us = 1_700_000_000_000_000 + number * 60_000_000;
    document.label(
        "kernel",
        if number.is_multiple_of(2) {
            "6.1"
        } else {
            "6.12"
        },
    );
    document.facts = [("near.kernel".to_owned(), (number / 10_000).to_string())].into();
    document.figures = (0..FIGURES).map(|at| figure(number, at)).collect();
    document
}

/// Time of the clock, and time that this process was busy, s.
fn now() -> [f64; 2] {
    use rustix::time::{ClockId, clock_gettime};
    [ClockId::Monotonic, ClockId::ProcessCPUTime].map(|clock| {
        let time = clock_gettime(clock);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    })
}

/// Prints how long `work` takes: medians of `times`.
fn time<T>(what: &str, times: usize, mut work: impl FnMut() -> T) -> T {
    let mut spent = [Vec::new(), Vec::new()];
    let mut value = None;
    for _ in 0..times {
        let start = now();
        value = Some(work());
        for ((spent, now), start) in spent.iter_mut().zip(now()).zip(start) {
            spent.push(now - start);
        }
    }
    let [wall, busy] = spent.map(|times| stats::median(&times).unwrap());
    println!("| {what} | {wall:.3} | {busy:.3} |");
    value.unwrap()
}

#[test]
#[ignore = "a benchmark: takes a minute or more; run bench/history"]
fn a_hundred_thousand_runs() {
    let folder = tempfile::tempdir().unwrap();
    let place = file(folder.path());
    let mut store = Store::open(&place).unwrap();
    time("save 100,000 runs, 1000 at once", 1, || {
        for from in (0..RUNS).step_by(1000) {
            let documents: Vec<Document> = (from..from + 1000).map(document).collect();
            store.save_all(&documents).unwrap();
        }
    });
    let limit = |limit| Filter {
        limit: Some(limit),
        ..Filter::default()
    };
    drop(store);
    let mut store = time("open", 5, || Store::open(&place).unwrap());
    time("list, the last 50", 5, || store.list(&limit(50)).unwrap());
    let all = time("list, all", 5, || store.list(&Filter::default()).unwrap());
    assert_eq!(all.len() as u64, RUNS);
    let labelled = Filter {
        labels: vec![("kernel".to_owned(), "6.1".to_owned())],
        ..limit(50)
    };
    time("list, the last 50 with a label", 5, || {
        store.list(&labelled).unwrap()
    });
    let names = time("names of the series", 5, || {
        store.series_names(None).unwrap()
    });
    assert_eq!(names.len() as u64, FIGURES);
    time("series, the last 1000 runs", 5, || {
        store.series(&names[7], &limit(1000)).unwrap()
    });
    time("series, all runs", 5, || {
        store.series(&names[7], &Filter::default()).unwrap()
    });
    time("trend of a series, the last 1000 runs", 5, || {
        store.trend(&names[7], &limit(1000)).unwrap()
    });
    time("trend of a series, all runs", 5, || {
        store.trend(&names[7], &Filter::default()).unwrap()
    });
    time("trend of all 40 series, the last 1000 runs", 5, || {
        for name in &names {
            store.trend(name, &limit(1000)).unwrap();
        }
    });
    time("show", 5, || store.body(Kind::Run, &all[500].id).unwrap());
    time("save one more", 1, || store.save(&document(RUNS)).unwrap());
    let bytes = std::fs::metadata(place.file().unwrap()).unwrap().len();
    println!(
        "| disk a run, beside its body: {:.1} kB |",
        bytes as f64 / RUNS as f64 / 1e3 - 1.0
    );
    let old = Retention {
        before_us: Some(document(RUNS / 100).created_us),
        ..Retention::default()
    };
    let pruned = time("forget the oldest 1000", 1, || {
        store.prune(&old, false).unwrap()
    });
    assert_eq!(pruned.documents.len() as u64, RUNS / 100);
}
