//! Attacks on a build of pathtwin, by the table of attacks or by a fuzzer of its protocols.

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use attack::{
    Target, Verdict, cases,
    fuzz::{self, Plan, Summary},
    runner, table,
};
use clap::{Args, Parser, Subcommand, ValueEnum};

#[derive(Parser)]
#[command(
    about,
    after_help = "Exit codes: 0 all bounds held, 1 a bound was broken, 4 an attack could not be run."
)]
struct Arguments {
    /// The program under attack
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/release/pathtwin",
        global = true
    )]
    program: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    output: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every attack once
    Table(Table),
    /// Send random messages of all protocols in all states
    Fuzz(Fuzz),
}

#[derive(Args)]
struct Table {
    /// Run only cases whose name contains this text (repeatable)
    #[arg(long, value_name = "TEXT")]
    case: Vec<String>,
    /// Number of concurrent attacks
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,
}

#[derive(Args)]
struct Fuzz {
    /// Seed of all choices; default: the time
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number of the first session, for replaying it
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Minimum number of messages
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    messages: u64,
    /// Minimum number of sessions
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    sessions: u64,
    /// Maximum time, minutes
    #[arg(long, value_name = "N", default_value_t = 60)]
    minutes: u64,
    /// Number of concurrent clients
    #[arg(long, value_name = "N", default_value_t = 12)]
    clients: usize,
    /// Messages between two checks
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    batch: u64,
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
    match &arguments.command {
        Command::Table(table) => attack(table, &target, arguments.output),
        Command::Fuzz(fuzz) => fuzzed(fuzz, &target),
    }
}

fn attack(arguments: &Table, target: &Target, output: Format) -> anyhow::Result<ExitCode> {
    let wanted = |name: &str| {
        arguments.case.is_empty() || arguments.case.iter().any(|text| name.contains(text))
    };
    let chosen: Vec<_> = cases::all().filter(|case| wanted(case.name)).collect();
    let rows = runner::run(&chosen, target, arguments.jobs, |row| {
        if output == Format::Text {
            print!("{}", table::text(row));
        }
    });
    match output {
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

fn fuzzed(arguments: &Fuzz, target: &Target) -> anyhow::Result<ExitCode> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let plan = Plan {
        seed: arguments.seed.unwrap_or(now),
        first: arguments.first,
        messages: arguments.messages,
        sessions: arguments.sessions,
        time: Duration::from_secs(arguments.minutes * 60),
        clients: arguments.clients,
        batch: arguments.batch,
    };
    println!("seed {}", plan.seed);
    let summary = fuzz::run(target, plan, &|summary| say(summary))?;
    say(&summary);
    for broken in summary.seen.broken() {
        println!("BROKEN: {}", broken.escape_debug());
    }
    Ok(ExitCode::from(u8::from(!summary.seen.broken().is_empty())))
}

fn say(summary: &Summary) {
    let tally = &summary.tally;
    println!(
        "{:.0} s: {} messages, {} sessions to number {}: {tally:?}",
        summary.took.as_secs_f64(),
        tally.messages(),
        tally.sessions,
        summary.next,
    );
    for seen in summary.seen.seen().iter().rev().take(6).rev() {
        println!("  {}", seen.escape_debug());
    }
}
