//! Every profile of `cases/paths` runs, and `docs/paths.md` shows its figures. `UPDATE_DOCS=1`
//! regenerates the table there.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../pathtwin/tests/near/mod.rs"]
mod near;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use lab::{Config, Lab};
use model::{cell::Cell, net::Direction, row::Row, spec::Spec};
use near::is_near;

/// Start and end of the table in the page.
const HEAD: &str = "| profile | sender | one cubic flow | one bbr flow | delay idle | with cubic | with bbr |\n\
                    |---|---|--:|--:|--:|--:|--:|\n";

/// Mark of the kernel image of the table, of whose hash the beginning follows.
const IMAGE: &str = "kernel image ";
/// How near figures of one seed on another image are.
const NEAR: f64 = 0.2;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The profiles by name.
fn profiles() -> Vec<(String, Cell)> {
    let folder = root().join("cases/paths");
    let mut all: Vec<(String, Cell)> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let spec = Spec::parse(&path.display().to_string(), &text)
                .and_then(|spec| spec.with_files(|name| fs::read_to_string(folder.join(name))))
                .unwrap_or_else(|e| panic!("{e}"));
            let cell = spec.first_cell().unwrap_or_else(|e| panic!("{e}")).0;
            (cell.name.clone(), cell)
        })
        .collect();
    all.sort_by(|one, two| one.0.cmp(&two.0));
    all
}

/// The cell with one flow of this congestion control.
fn with(cell: &Cell, cc: &str, direction: Direction) -> Cell {
    let mut cell = cell.clone();
    cell.ends.near.cc = cc.to_owned();
    cell.ends.far.cc = cc.to_owned();
    cell.traffic.directions = vec![direction];
    cell
}

#[test]
fn every_profile_delivers_the_figures_of_the_page() {
    let made = root().join("target/x86_64-unknown-linux-musl/release/pathtwin-guest");
    let guest = std::env::var_os("PATHTWIN_GUEST").map_or(made, PathBuf::from);
    let lab = Lab::open(&Config {
        guest: Some(guest),
        ..Config::default()
    })
    .expect("a kernel image and a guest program; make test builds them");
    let profiles = profiles();
    let mut cells = Vec::new();
    for (_, cell) in &profiles {
        let direction = cell.traffic.directions[0];
        cells.extend(["cubic", "bbr"].map(|cc| with(cell, cc, direction)));
    }
    let results = lab.all(&cells, &AtomicBool::new(false), &mut |_| ());
    let rows: Vec<Row> = cells
        .iter()
        .zip(results)
        .map(|(cell, result)| {
            let result = result
                .unwrap()
                .unwrap_or_else(|e| panic!("{}: {e}", cell.name));
            let rows = lab::rows::rows(cell, &result).unwrap();
            rows.into_iter().find(|row| row.cross.is_none()).unwrap()
        })
        .collect();
    let mut table = HEAD.to_owned();
    for ((name, cell), rows) in profiles.iter().zip(rows.as_chunks::<2>().0) {
        table += &line(name, cell, rows);
        bounded(cell, rows);
    }
    let hash = &lab.image().expect("the lab's kernel").sha256;
    document(&table, &hash[..12]);
}

fn line(name: &str, cell: &Cell, [cubic, bbr]: &[Row; 2]) -> String {
    let sender = match cell.traffic.directions[0] {
        Direction::Down => "server",
        Direction::Up => "client",
    };
    let mbps = |row: &Row| {
        row.goodput_mbps
            .map_or("-".to_owned(), |mbps| format!("{mbps:.2} Mbit/s"))
    };
    let ms = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{ms:.1} ms"));
    format!(
        "| {name} | {sender} | {} | {} | {} | {} | {} |\n",
        mbps(cubic),
        mbps(bbr),
        ms(cubic.probe_idle_p50_ms),
        ms(cubic.probe_p50_ms),
        ms(bbr.probe_p50_ms),
    )
}

/// Arithmetic that every profile must satisfy: no flow gets more than the average rate of the path,
/// and an idle path has at least its propagation delay.
fn bounded(cell: &Cell, rows: &[Row; 2]) {
    let line = cell.path.line(cell.traffic.directions[0]);
    let average_mbps = average_mbps(cell, line);
    // Content of a buffer or a bucket when the measurement began.
    let burst = line
        .peak
        .map_or(0.0, |peak| peak.burst.0 as f64 * 8.0 / 1e6);
    let held = line.buffer.bytes(cell.path.mtu).0 as f64 * 8.0 / 1e6;
    let seconds = cell.duration.as_secs_f64();
    let most = average_mbps * 1.001 + (burst + held) / seconds;
    for row in rows {
        assert!(row.valid, "{}: {:?}", cell.name, row.invalid_because);
        let got = row.goodput_mbps.expect("a goodput");
        assert!(got > 0.0 && got <= most, "{}: {got} of {most}", cell.name);
        let idle = row.probe_idle_p50_ms.expect("idle probes");
        assert!(idle >= least_ms(cell), "{}: {idle}", cell.name);
    }
}

/// The least round trip of an idle path: jitter is half of the time below the delay.
fn least_ms(cell: &Cell) -> f64 {
    let jitter = cell.path.down.jitter + cell.path.up.jitter;
    (cell.path.rtt() - jitter).as_secs_f64() * 1e3 - 0.01
}

/// The average rate of a line while measuring, over times 1 ms apart.
fn average_mbps(cell: &Cell, line: &model::cell::Line) -> f64 {
    let rate = line.rate.expect("a profile has a rate").mbps();
    let Some(steps) = &line.rate_steps else {
        return rate;
    };
    let last = steps.steps.last().expect("a change").rate.mbps();
    let at = |ms: u64| {
        let time = Duration::from_millis(ms);
        let (time, before) = match steps.repeat {
            Some(span) if time >= span => {
                let rest = time.as_nanos() % span.as_nanos();
                (Duration::from_nanos(rest as u64), last)
            }
            _ => (time, rate),
        };
        let step = steps.steps.iter().rev().find(|step| step.at <= time);
        step.map_or(before, |step| step.rate.mbps())
    };
    let from = cell.warmup.as_millis() as u64;
    let length = cell.duration.as_millis() as u64;
    (from..from + length).map(at).sum::<f64>() / length as f64
}

fn document(table: &str, image: &str) {
    let path = root().join("docs/paths.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(HEAD).expect("the head of the table");
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    let (documented, after) = rest.split_at(end);
    let documented = format!("{HEAD}{documented}");
    let (text, kept) = before.rsplit_once(IMAGE).expect("its kernel image");
    let (kept, between) = kept.split_once(':').expect("the end of a hash");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(
            &path,
            format!("{text}{IMAGE}{image}:{between}{table}{after}"),
        )
        .unwrap();
    } else if kept == image {
        assert_eq!(documented, table, "UPDATE_DOCS=1 writes it anew");
    } else {
        eprintln!("this host's kernel image is {image}, the table is of {kept}");
        assert!(is_near(&documented, table, NEAR), "{documented}{table}");
    }
}
