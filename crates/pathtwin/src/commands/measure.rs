//! `pathtwin measure`.

// A build without the lab measures between hosts only.
#[cfg_attr(not(feature = "lab"), path = "measure/no_lab.rs")]
mod in_lab;
mod iperf3;
mod live;

use std::{
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use anyhow::{Context, anyhow};
use measure::{
    key, plans,
    reach::{self, ReachError},
    run::{Start, Target, usual_estimate},
};
use model::{
    net::Layer,
    plan::{Budget, Plan},
    run::Run,
    units::Seed,
};
use traffic::wire::Key;

use crate::cli::measure::Measure;
use crate::{
    cli::Format,
    commands::iperf3 as one_test,
    exit::{Failure, code},
    format,
};

pub(crate) fn measure(arguments: &Measure) -> Result<ExitCode, Failure> {
    let server = arguments
        .host
        .as_deref()
        .filter(|host| host.starts_with("iperf3://"));
    if let Some(server) = server.filter(|_| arguments.iperf3.is_requested()) {
        return one_test::client(server, &arguments.iperf3, arguments.output);
    }
    let plan = plan(arguments)?;
    if arguments.dry_run {
        return dry_run(arguments, &plan);
    }
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let run = match (arguments.lab.spec(), server) {
        (Some(spec), _) => arguments.lab.measure(spec, plan, stop)?,
        (None, Some(server)) => iperf3::run(arguments, server, &plan, stop)?,
        (None, None) => between_hosts(arguments, &plan, stop)?,
    };
    if let Some(file) = &arguments.out {
        write(file, &run)?;
    }
    show(arguments.output, &run)?;
    #[cfg(feature = "history")]
    keep(arguments, &run)?;
    Ok(ExitCode::from(match &run.cut_short {
        Some(_) if stop.load(Ordering::Relaxed) => code::INTERRUPTED,
        Some(_) => code::FAILED,
        None => 0,
    }))
}

fn plan(arguments: &Measure) -> Result<Plan, Failure> {
    let mut plan = match &arguments.plan {
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("read {}", file.display()))
                .map_err(|e| Failure::new(code::USE, e))?;
            plans::parse(&text)
                .map_err(|e| Failure::new(code::USE, anyhow!("{}: {e}", file.display())))?
        }
        None if arguments.quick => plans::quick(),
        None if arguments.thorough => plans::thorough(),
        None => plans::default(),
    };
    plan.budget = Budget {
        bytes: arguments.budget_bytes.map(|b| b.0).or(plan.budget.bytes),
        time_s: arguments
            .budget_time
            .map(|t| t.as_secs_f64())
            .or(plan.budget.time_s),
    };
    Ok(plan)
}

fn dry_run(arguments: &Measure, plan: &Plan) -> Result<ExitCode, Failure> {
    let tunnel = !arguments.via.is_empty() || arguments.lab.spec().is_some();
    let estimate = usual_estimate(plan, 1 + usize::from(tunnel));
    if arguments.output == Format::Text {
        format::text(&format!("{}\n", estimate.text(&plan.budget)))?;
    } else {
        format::json(plan)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn between_hosts(
    arguments: &Measure,
    plan: &Plan,
    stop: &'static AtomicBool,
) -> Result<Run, Failure> {
    let host = arguments.host.as_deref().unwrap_or_default();
    let key = if arguments.open {
        Key::OPEN
    } else {
        client_key(arguments.key.as_deref())?
    };
    let reached = reach::host(host).map_err(unreached("pathtwin serve"))?;
    let control = *reached
        .first()
        .ok_or_else(|| anyhow!("{host} has no address that answers"))?;
    let underlay = reached.iter().map(|a| Target {
        layer: Layer::Underlay,
        far: a.ip(),
    });
    let tunnel = arguments.via.iter().map(|far| Target {
        layer: Layer::Tunnel,
        far: *far,
    });
    let targets: Vec<Target> = underlay.chain(tunnel).collect();
    let (random, seed) = seed(arguments)?;
    let start = Start {
        control,
        key: &key,
        plan,
        seed,
        targets: &targets,
        program: env!("CARGO_PKG_VERSION"),
        id: format!("{random:016x}"),
        started_us: now_us(),
        lab: false,
        cancel: stop,
    };
    let mut display = live::Display::new(plan.budget);
    let run = measure::run::measure(start, &mut |event| display.show(&event));
    display.finish();
    run.map_err(|e| Failure::new(code::FAILED, e))
}

fn client_key(given: Option<&str>) -> Result<Key, Failure> {
    let client = key::of_client(given, std::io::stdin().lock())?;
    if client.on_command_line {
        format::say(format_args!(
            "a key on the command line is visible to every user of this host (ps); --key FILE and --key - are not"
        ));
    }
    Ok(client.key)
}

/// What to do about a host that cannot be reached, on which `program` is to run.
fn unreached(program: &str) -> impl FnOnce(ReachError) -> Failure {
    move |error| match error {
        ReachError::Resolve { .. } => Failure::new(code::USE, error),
        ReachError::NoAddress(_) => Failure::new(code::FAILED, error),
        ReachError::Connect { .. } => {
            let hint = format!("{error}; is `{program}` running there, and is the port open?");
            Failure::new(code::FAILED, anyhow!(hint))
        }
    }
}

/// A random number, and the seed: part of it unless one was given.
fn seed(arguments: &Measure) -> Result<(u64, Seed), Failure> {
    let random = u64::from_le_bytes(traffic::wire::key::random().context("draw a seed")?);
    let seed = arguments.lab.seed().map_or(Seed(random >> 32), Seed);
    Ok((random, seed))
}

/// µs since 1970.
fn now_us() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_micros() as u64)
}

fn show(format: Format, run: &Run) -> Result<(), Failure> {
    match format {
        Format::Text => {
            let findings = report::findings::text(&explain::judge(run), false);
            let text = format!("{}\n{findings}", report::run::text(run));
            format::text(&text)
        }
        Format::Json => format::json(run),
        Format::Jsonl => format::json_lines(&analysis::rows::rows(run)),
    }
}

/// Keeps the run in the history. What was measured is printed by then: a history that is full or
/// locked costs an error, not the run.
#[cfg(feature = "history")]
fn keep(arguments: &Measure, run: &Run) -> Result<(), Failure> {
    let asked = arguments.place.store.is_some();
    if arguments.no_store || (arguments.lab.spec().is_some() && !asked) {
        return Ok(());
    }
    let text = serde_json::to_vec(run).context("write the run as JSON")?;
    let mut labels = arguments.label.clone();
    // Not part of the run, which people show to others. Many hosts may write to one history.
    if !run.lab && !labels.iter().any(|(name, _)| name == "host") {
        labels.insert(0, ("host".to_owned(), sys::machine::host_name()));
    }
    let mut store = arguments.place.open()?;
    store.import(&mut text.as_slice(), "this run", &labels)?;
    eprintln!("pathtwin: kept as {}; see pathtwin history list", run.id);
    Ok(())
}

/// Writes the run whole or not at all, for its owner: it names hosts and addresses.
fn write(file: &Path, run: &Run) -> Result<(), Failure> {
    let text = serde_json::to_vec(run).context("write the run as JSON")?;
    format::file(file, sys::files::Readers::Owner, &text)
}
