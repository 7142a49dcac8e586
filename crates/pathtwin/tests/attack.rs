//! Every attack of the suite on this build, or those whose name contains an argument.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use attack::{Target, Verdict, cases, runner, table};

/// Number of concurrent attacks: most of their time is waiting.
const JOBS: usize = 8;

fn main() -> ExitCode {
    // Options of the standard test harness are ignored.
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let guest = std::env::var_os("PATHTWIN_GUEST").map_or_else(
        || {
            let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            workspace.join("target/x86_64-unknown-linux-musl/release/pathtwin-guest")
        },
        PathBuf::from,
    );
    let target = Target {
        program: env!("CARGO_BIN_EXE_pathtwin").into(),
        guest: Some(guest),
    };
    let wanted = |name: &str| names.is_empty() || names.iter().any(|text| name.contains(text));
    let chosen: Vec<_> = cases::all().filter(|case| wanted(case.name)).collect();
    let begun = Instant::now();
    let rows = runner::run(&chosen, &target, JOBS, |row| print!("{}", table::text(row)));
    let bad = |verdict| matches!(verdict, Verdict::Broken | Verdict::Failed);
    let broken: Vec<_> = rows
        .iter()
        .filter(|row| bad(row.verdict))
        .map(|row| row.name)
        .collect();
    println!(
        "{} attacks in {:.0} s; did not hold: {broken:?}",
        rows.len(),
        begun.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(!broken.is_empty()))
}
