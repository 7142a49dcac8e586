//! Comparison with a known program on the same path.

use std::env;

use model::{
    job::{Command, Exec},
    spec::Spec,
};

use super::{Bench, Check, Expect, Line, ValidateError, Work, outcome::Outcome};
use lab::{
    LabError,
    exec::{HostFiles, Programs},
};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "iperf3 beside our own flow",
    source: "iperf3 by lab exec, the same cell",
    work: Work::Program(judge),
}];

const SPEC: &str = include_str!("specs/iperf3.toml");

/// Virtual time after which it is ended.
const LIMIT_NS: u64 = 60_000_000_000;

fn judge(bench: Bench<'_>) -> Result<Vec<Line>, ValidateError> {
    let found = env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|dir| dir.join("iperf3").is_file()));
    if !found {
        let why = "iperf3 is not installed (Debian and Ubuntu: apt install iperf3)";
        return Ok(vec![Line::skipped(why)]);
    }
    let cells = Spec::parse("iperf3", SPEC)
        .and_then(|spec| spec.cells())
        .map_err(|source| ValidateError::spec(CHECKS[0].name, source))?;
    let cells = bench.made(cells);
    let own = bench.lab.all(&cells, bench.stop, &mut |_| ());
    let own = own.into_iter().flatten();
    let mut lines = Vec::new();
    for (cell, result) in cells.iter().zip(own) {
        let result = result?;
        let own = Outcome::new(cell, &result)?.goodput().unwrap_or(f64::NAN);
        let iperf3 = iperf3(bench, cell)?;
        let expected = Expect::within(own, 0.02);
        lines.push(Line::new(
            cell.ends.far.cc.clone(),
            expected,
            iperf3,
            "Mbit/s",
        ));
    }
    Ok(lines)
}

/// The goodput that iperf3 reports, Mbit/s.
fn iperf3(bench: Bench<'_>, cell: &model::cell::Cell) -> Result<Option<f64>, LabError> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let seconds = cell.duration.as_secs();
    let omitted = cell.warmup.as_secs();
    let client = format!("iperf3 -c server -R -J -t {seconds} -O {omitted}");
    let command = |node: &str, argv: &str| Command {
        node: node.to_owned(),
        argv: words(argv),
    };
    let job = Exec {
        cell: cell.clone(),
        commands: vec![
            command("server", "iperf3 -s -1"),
            command("client", &client),
        ],
        directory: "/".to_owned(),
        limit_ns: LIMIT_NS,
    };
    let programs = Programs {
        exec: &job,
        files: HostFiles::WritableIfUnavoidable,
    };
    let done = bench.lab.run(&programs, bench.stop, &mut |_| ())?;
    let message = done.programs.last().map(|p| p.stdout.as_slice());
    let document: serde_json::Value =
        serde_json::from_slice(message.unwrap_or_default()).unwrap_or_default();
    let bps = document.pointer("/end/sum_received/bits_per_second");
    Ok(bps.and_then(serde_json::Value::as_f64).map(|bps| bps / 1e6))
}
