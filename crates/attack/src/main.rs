//! Attacks a build of pathtwin and prints the table of attacks.

use std::{path::PathBuf, process::ExitCode};

use attack::{Target, Verdict, cases, runner, table};
use clap::{Parser, ValueEnum};

#[derive(Parser)]
#[command(
    about,
    after_help = "Exit codes: 0 every bound held, 1 one did not, 4 an attack could not be made."
)]
struct Arguments {
    /// The program under attack
    #[arg(long, value_name = "FILE", default_value = "target/release/pathtwin")]
    program: PathBuf,
    /// Only cases whose name contains this; may be given several times
    #[arg(long, value_name = "TEXT")]
    case: Vec<String>,
    /// Attacks at once
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let target = Target {
        program: arguments.program.canonicalize()?,
        guest: None,
    };
    let wanted = |name: &str| {
        arguments.case.is_empty() || arguments.case.iter().any(|text| name.contains(text))
    };
    let chosen: Vec<_> = cases::all().filter(|case| wanted(case.name)).collect();
    let rows = runner::run(&chosen, &target, arguments.jobs, |row| {
        if arguments.output == Format::Text {
            print!("{}", table::text(row));
        }
    });
    match arguments.output {
        Format::Text => {}
        Format::Json => println!("{}", serde_json::to_string_pretty(&rows)?),
        Format::Markdown => print!("{}", table::markdown(&rows)),
    }
    let any = |verdict| rows.iter().any(|row| row.verdict == verdict);
    Ok(match (any(Verdict::Broken), any(Verdict::Failed)) {
        (true, _) => ExitCode::from(1),
        (_, true) => ExitCode::from(4),
        _ => ExitCode::SUCCESS,
    })
}
