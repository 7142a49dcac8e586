//! Tables of the droppers that were named, in Markdown.

use std::{collections::BTreeMap, fmt::Write as _};

use twin::policing::Dropper;

use super::{Bottleneck, Cross, Judged, Worth};

/// Bytes on the wire of 1448 bytes of payload: what the devices of the captures counted.
const FRAME: f64 = 1518.0 / 1448.0;

/// Rank and words of a row.
type Row = (u32, String, &'static str);

/// One line for each kind of path, and the totals.
pub fn markdown(all: &[&Judged]) -> String {
    let mut rows: BTreeMap<Row, Vec<&Judged>> = BTreeMap::new();
    for &judged in all {
        rows.entry(row(judged)).or_default().push(judged);
    }
    let mut out = String::from(
        "| truth | other traffic | n | policer | queue | cannot tell | of these, nothing was lost \
         | rate: median error, % | burst: median error, % |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for ((_, truth, cross), judged) in &rows {
        line(&mut out, [truth, cross], judged);
    }
    out.push('\n');
    totals(&mut out, all);
    out
}

fn row(judged: &Judged) -> Row {
    let truth = &judged.truth;
    let cross = match truth.cross[..] {
        [] => "none",
        [Cross::Transfer] => "a transfer",
        [Cross::Bulk] => "bulk TCP",
        _ => "a transfer, bulk TCP",
    };
    let bucket = truth.burst_bytes.map_or_else(
        || "bucket not stated".to_owned(),
        |bytes| format!("bucket of {} kB", bytes / 1e3),
    );
    let rank = truth.burst_bytes.unwrap_or(0.0) as u32 / 1000;
    let many = 10_000 * truth.cross.len() as u32;
    match truth.kind {
        _ if truth.loss > 0.0 => {
            let percent = (100.0 * truth.loss).round();
            (
                90_000 + percent as u32,
                format!("random loss of {percent} %"),
                cross,
            )
        }
        Bottleneck::Policer => (many + rank, format!("policer, {bucket}"), cross),
        Bottleneck::Shaper => (50_000 + many + rank, format!("shaper, {bucket}"), cross),
    }
}

// Writing to a String cannot fail.
fn line(out: &mut String, [truth, cross]: [&str; 2], all: &[&Judged]) {
    let named = |dropper| all.iter().filter(|j| j.dropper == dropper).count();
    let nothing = |j: &&&Judged| j.lost == 0 && j.dropper == Dropper::Unknown;
    let policed =
        |j: &&&Judged| j.dropper == Dropper::Policer && j.truth.kind == Bottleneck::Policer;
    let found = || all.iter().filter(policed);
    let rates = found().filter_map(|j| error(j.rate_bps?, j.truth.rate_bps));
    let bursts = found().filter_map(|j| error(j.burst_bytes?, j.truth.burst_bytes?));
    let _ = writeln!(
        out,
        "| {truth} | {cross} | {} | {} | {} | {} | {} | {} | {} |",
        all.len(),
        named(Dropper::Policer),
        named(Dropper::Queue),
        named(Dropper::Unknown),
        all.iter().filter(nothing).count(),
        median(rates.collect()),
        median(bursts.collect()),
    );
}

fn error(payload: u64, truth: f64) -> Option<f64> {
    (truth > 0.0).then(|| 100.0 * (payload as f64 * FRAME / truth - 1.0).abs())
}

fn median(errors: Vec<f64>) -> String {
    stats::median(&errors).map_or_else(String::new, |value| format!("{value:.1}"))
}

fn totals(out: &mut String, all: &[&Judged]) {
    out.push_str(
        "| | n | right | wrong | cannot tell | of these, nothing was lost |\n|---|---|---|---|---|---|\n",
    );
    let lossy = |j: &Judged| j.truth.loss > 0.0;
    let alone = |j: &Judged| j.truth.cross.is_empty();
    let policer = |j: &Judged| j.truth.kind == Bottleneck::Policer;
    type Of<'a> = (&'a str, &'a dyn Fn(&Judged) -> bool);
    let kinds: [Of<'_>; 5] = [
        ("policer alone", &|j| policer(j) && alone(j)),
        ("policer with other traffic", &|j| policer(j) && !alone(j)),
        ("shaper", &|j| !policer(j) && !lossy(j)),
        ("random loss", &lossy),
        ("all", &|_| true),
    ];
    for (kind, is_of) in kinds {
        let of: Vec<Worth> = all.iter().filter(|j| is_of(j)).map(|j| j.worth()).collect();
        let count = |worth: &[Worth]| of.iter().filter(|w| worth.contains(w)).count();
        let _ = writeln!(
            out,
            "| {kind} | {} | {} | {} | {} | {} |",
            of.len(),
            count(&[Worth::Right]),
            count(&[Worth::Wrong]),
            count(&[Worth::Untold, Worth::NothingLost]),
            count(&[Worth::NothingLost]),
        );
    }
}
