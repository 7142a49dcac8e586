//! `pathtwin measure`.

mod far;
#[cfg(feature = "lab")]
mod in_lab;
mod iperf3;
mod keep;
mod known;
mod live;
// A build without the lab measures between hosts only.
#[cfg(not(feature = "lab"))]
mod no_lab;
mod third;

use std::{
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Context, anyhow};
use measure::{plans, run::usual_estimate};
use model::{
    plan::{Budget, Plan},
    run::Run,
};
use report::answer::Screen;

use crate::{
    cli::{Format, measure::Measure},
    commands::iperf3::client,
    exit::{Failure, code},
    format,
};

#[cfg(feature = "tune")]
pub(crate) use far::Reached;
pub(crate) use far::{Far, Progress};
#[cfg(feature = "lab")]
pub(crate) use in_lab::first_cell;
use keep::Kept;

pub(crate) fn measure(arguments: &Measure) -> Result<ExitCode, Failure> {
    let server = arguments
        .host
        .as_deref()
        .filter(|host| host.starts_with("iperf3://"));
    if arguments.iperf3.is_requested() {
        return one_test(arguments, server);
    }
    let plan = plan(arguments)?;
    if arguments.dry_run {
        return dry_run(arguments, &plan);
    }
    keep::check(arguments)?;
    if is_long(arguments, &plan) {
        format::say(format_args!(
            "this plan takes minutes and may send gigabytes; --quick takes about a minute, and \
             --budget-time and --budget-bytes set limits"
        ));
    }
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let run = match (arguments.lab.spec(), server) {
        (Some(spec), _) => arguments.lab.measure(spec, plan, stop)?,
        (None, Some(server)) => iperf3::run(arguments, server, &plan, stop)?,
        (None, None) => between_hosts(arguments, &plan, stop)?,
    };
    let kept = Kept::new(arguments, &run);
    show(arguments, &run, &kept)?;
    // Its error comes after the answer, which it must not take away.
    kept.said(&run)?;
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

/// Returns true if a load on hosts is neither short nor limited nor the user's own plan.
fn is_long(arguments: &Measure, plan: &Plan) -> bool {
    let is_limited = plan.budget.bytes.is_some() || plan.budget.time_s.is_some();
    let is_chosen = arguments.quick || arguments.thorough || arguments.plan.is_some();
    !is_limited && !is_chosen && arguments.lab.spec().is_none()
}

/// One test with an iperf3 server instead of a plan.
fn one_test(arguments: &Measure, server: Option<&str>) -> Result<ExitCode, Failure> {
    let Some(server) = server else {
        let host = arguments.host.as_deref().unwrap_or("HOST");
        let why = anyhow!(
            "-R, -t, -P and the like are for one test with an iperf3 server (iperf3://{host}); a \
             plan measures both directions: leave them out, or see --plan and --budget-time"
        );
        return Err(Failure::new(code::USE, why));
    };
    client(server, arguments.port, &arguments.iperf3, arguments.output)
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

fn show(arguments: &Measure, run: &Run, kept: &Kept) -> Result<(), Failure> {
    match arguments.output {
        Format::Text => format::text(&people(arguments, run, kept)),
        Format::Json => format::json(run),
        Format::Jsonl => format::json_lines(&analysis::rows::rows(run)),
    }
}

/// Prints the answer first; on a terminal nothing else unless requested.
fn people(arguments: &Measure, run: &Run, kept: &Kept) -> String {
    let findings = explain::judge(run);
    let screen = format::screen();
    let more = report::answer::more(kept.name.as_deref());
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
