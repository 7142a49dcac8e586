//! `pathtwin measure`.

mod far;
#[cfg(feature = "lab")]
mod in_lab;
mod iperf3;
mod known;
mod live;
// A build without the lab measures between hosts only.
#[cfg(not(feature = "lab"))]
mod no_lab;
mod third;

use std::{
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Context, anyhow};
use measure::{plans, run::usual_estimate};
#[cfg(feature = "history")]
use model::history;
use model::{
    plan::{Budget, Plan},
    run::Run,
};
use report::answer::Screen;

use crate::cli::measure::Measure;
#[cfg(feature = "history")]
use crate::say::say;
use crate::{
    cli::Format,
    commands::iperf3 as one_test,
    exit::{Failure, code},
    format,
};

#[cfg(feature = "tune")]
pub(crate) use far::Reached;
pub(crate) use far::{Far, Progress};
#[cfg(feature = "lab")]
pub(crate) use in_lab::first_cell;

pub(crate) fn measure(arguments: &Measure) -> Result<ExitCode, Failure> {
    let server = arguments
        .host
        .as_deref()
        .filter(|host| host.starts_with("iperf3://"));
    if let Some(server) = server.filter(|_| arguments.iperf3.is_requested()) {
        return one_test::client(server, arguments.port, &arguments.iperf3, arguments.output);
    }
    let plan = plan(arguments)?;
    if arguments.dry_run {
        return dry_run(arguments, &plan);
    }
    format::check(arguments.out.as_deref())?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let run = match (arguments.lab.spec(), server) {
        (Some(spec), _) => arguments.lab.measure(spec, plan, stop)?,
        (None, Some(server)) => iperf3::run(arguments, server, &plan, stop)?,
        (None, None) => between_hosts(arguments, &plan, stop)?,
    };
    let file = arguments.out.as_deref();
    let written = file.map_or(Ok(()), |file| write(file, &run));
    show(arguments, &run)?;
    // Its error comes after the answer, which it must not take away.
    written?;
    #[cfg(feature = "history")]
    keep(arguments, &run)?;
    if stop.load(Ordering::Relaxed) && run.cut_short.is_some() {
        return Ok(ExitCode::from(code::INTERRUPTED));
    }
    if let Some(why) = report::shortfall::sentence(&run) {
        return Err(Failure::new(code::FAILED, anyhow!("{why}")));
    }
    Ok(ExitCode::from(match &run.cut_short {
        Some(_) => code::FAILED,
        None => 0,
    }))
}

fn plan(arguments: &Measure) -> Result<Plan, Failure> {
    let mut plan = match &arguments.plan {
        Some(file) => plans::read(file).map_err(|e| Failure::new(code::USE, e))?,
        None if arguments.quick => plans::quick(),
        None if arguments.thorough => plans::thorough(),
        None => plans::default(),
    };
    plan.budget = plan.budget.replaced_by(Budget {
        bytes: arguments.budget_bytes.map(|b| b.0),
        time_s: arguments.budget_time.map(|t| t.as_secs_f64()),
    });
    Ok(plan)
}

fn dry_run(arguments: &Measure, plan: &Plan) -> Result<ExitCode, Failure> {
    let layers = match arguments.lab.layers()? {
        Some(layers) => layers,
        None => 1 + usize::from(!arguments.via.is_empty()),
    };
    let estimate = usual_estimate(plan, layers);
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
    let far = Far {
        host: arguments.host.as_deref().unwrap_or_default(),
        port: arguments.port,
        via: &arguments.via,
        key: arguments.key.as_deref(),
        open: arguments.open,
    };
    let mut reached = far.reach()?;
    reached.third = third::find(&arguments.third, reached.far.control.ip())?;
    reached.measure(plan, arguments.lab.seed(), Progress::Shown, stop)
}

fn show(arguments: &Measure, run: &Run) -> Result<(), Failure> {
    match arguments.output {
        Format::Text => format::text(&people(arguments, run)),
        Format::Json => format::json(run),
        Format::Jsonl => format::json_lines(&analysis::rows::rows(run)),
    }
}

/// Prints the answer first; on a terminal nothing else unless requested.
fn people(arguments: &Measure, run: &Run) -> String {
    let findings = explain::judge(run);
    let screen = format::screen();
    let more = more(arguments, run);
    let next = explain::next(run, &findings);
    let room = screen.unwrap_or(Screen::MIN);
    let answer = report::answer::text(run, &findings, next.as_ref(), room, &more);
    let tables = match screen {
        Some(_) if !arguments.all => return answer,
        Some(screen) => report::run::text_within(run, screen.width),
        None => report::run::text(run),
    };
    let findings = report::findings::text(&findings, arguments.all);
    format!("{answer}\n{tables}\n{findings}")
}

/// The commands that show the rest of a run.
fn more(arguments: &Measure, run: &Run) -> String {
    let file = arguments.out.as_ref();
    let name = file.map(|file| file.display().to_string());
    let name = name.or_else(|| is_kept(arguments).then(|| run.id.clone()));
    report::answer::more(name.as_deref())
}

#[cfg(feature = "history")]
fn is_kept(arguments: &Measure) -> bool {
    let is_named = arguments.place.store.is_some();
    !arguments.no_store && history::is_kept(arguments.lab.spec().is_some(), is_named)
}

#[cfg(not(feature = "history"))]
fn is_kept(_: &Measure) -> bool {
    false
}

/// Stores the run in the history. The run was already printed: if the history is full or locked,
/// only an error is reported.
#[cfg(feature = "history")]
fn keep(arguments: &Measure, run: &Run) -> Result<(), Failure> {
    if !is_kept(arguments) {
        return Ok(());
    }
    let text = serde_json::to_vec(run).context("write the run as JSON")?;
    let labels = history::labels_of(run.lab, &arguments.label, sys::machine::host_name);
    let mut store = arguments.place.open()?;
    store.import(&mut text.as_slice(), "this run", &labels)?;
    say!("pathtwin: kept as {}; see pathtwin history list", run.id);
    Ok(())
}

/// Writes the run atomically, readable by its owner only, since it names hosts and addresses.
fn write(file: &Path, run: &Run) -> Result<(), Failure> {
    let text = serde_json::to_vec(run).context("write the run as JSON")?;
    format::file(file, sys::files::Readers::Owner, &text)
}
