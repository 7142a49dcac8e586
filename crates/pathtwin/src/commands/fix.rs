//! `pathtwin fix`.

mod hosts;

use std::{
    io::{IsTerminal, Write},
    os::fd::AsFd,
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use ::measure::plans;
use ::tune::Allowed;
use ::twin::{Budget, turns};
use anyhow::{Context, anyhow};
use model::{
    advice::{Advice, Tried},
    cell::Cell,
    findings::Findings,
    job,
    net::Layer,
    plan::Plan,
    run::Run,
    text::Text,
    twin::Twin,
};
use serde::Serialize;

use super::{
    measure::{Far, Progress, Reached},
    twin::open_lab,
};
#[cfg(feature = "history")]
use crate::commands::tune::prove::recorded;
use crate::{
    cli::{fix::Fix, twin::TwinForm},
    exit::{Failure, code},
    format,
    in_lab::{self, InLab},
};

/// All that was found and done.
#[derive(Serialize)]
struct Fixed<'a> {
    findings: &'a Findings,
    advice: &'a Advice,
    changes: &'a [job::ProveOutput],
}

/// Results of the lab for the path.
struct Known {
    /// `None` if the lab was not used.
    twin: Option<Twin>,
    advice: Advice,
    /// Plan measured in each turn of a proof.
    turns: Plan,
}

pub(crate) fn fix(arguments: &Fix) -> Result<ExitCode, Failure> {
    format::check(arguments.out.as_deref())?;
    if arguments.lab.is_none() {
        let others = || arguments.far_ssh.iter().chain(&arguments.router_ssh);
        privileged(others().next().is_some())?;
        for login in others() {
            hosts::ready(login)?;
        }
    }
    #[cfg(feature = "history")]
    if model::history::is_kept(arguments.lab.is_some(), arguments.place.store.is_some()) {
        let remedy = "nothing was changed, because the outcome could not be kept; use another \
                      history (--store FILE)";
        arguments.place.check(remedy)?;
    }
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let has_no_budget = arguments.budget_time.is_some_and(|time| time.is_zero());
    let lab = match arguments.lab.is_none() && has_no_budget {
        true => None,
        false => Some(open_lab(!arguments.no_cache, arguments.jobs)?),
    };
    let in_lab = lab.as_ref().map(|lab| InLab {
        lab,
        goal: arguments.proof.goal.into(),
        keep: &arguments.proof.keep,
        at_a_cost: arguments.at_a_cost,
        budget: arguments.budget_time.map_or(in_lab::USUAL, Budget::Of),
        pairs: arguments.proof.pairs,
        stop,
    });
    let on = place(arguments, in_lab)?;
    let is_text = arguments.output == TwinForm::Text;
    let run = measured(arguments, &on, stop)?;
    let findings = explain::judge(&run);
    if is_text {
        format::text(&heading(
            "What is wrong",
            &report::findings::text(&findings, false),
        ))?;
    }
    // Every change has its risk.
    let is_unneeded = findings.names_no_cause() && !arguments.anyway;
    if is_text && is_unneeded {
        let why = match findings.is_healthy() {
            true => "Nothing is wrong",
            false => "No cause was found",
        };
        format::text(&format!(
            "{why}, so nothing is tried; --anyway tries remedies.\n"
        ))?;
    }
    let known = known(arguments, in_lab.filter(|_| !is_unneeded), &run)?;
    if let Some(twin) = known.twin.as_ref().filter(|_| is_text) {
        let twin = format!("The twin: {}.\n\n", twin.text);
        let advice = report::advice::text(&known.advice);
        format::text(&heading("What would help", &format!("{twin}{advice}")))?;
    }
    let allowed = Allowed {
        at_a_cost: arguments.at_a_cost,
        router: on.has_router(arguments),
    };
    let offers = ::tune::offers(&known.advice, &findings, allowed);
    let tries = ::tune::until_kept(&offers, |offer, best| -> Result<_, Failure> {
        let agreed = || agreed(arguments, best, stop);
        let output = match &on {
            On::Lab(lab, cell) => in_guest(*lab, cell, &known.turns, best, agreed)?,
            On::Hosts(far) => {
                let found = hosts::Found {
                    run: &run,
                    turns: &known.turns,
                    advice: offer,
                    best,
                };
                hosts::prove(arguments, far, &found, stop, agreed)?
            }
        };
        let Some(output) = output else {
            format::say(format_args!("nothing was changed"));
            return Ok(None);
        };
        if is_text {
            format::text(&heading("What it did", &report::proof::text(&output)))?;
        }
        #[cfg(feature = "history")]
        recorded(
            &arguments.place,
            &run.path(),
            arguments.lab.is_some(),
            &output,
        )?;
        Ok(Some(output))
    })?;
    if !tries.left_changed().is_empty() {
        let left = Text::list(tries.left_changed().iter().cloned());
        let error = anyhow!("undone, but not as before: {left}");
        return Err(Failure::new(code::FAILED, error));
    }
    if !is_text {
        format::json(&Fixed {
            findings: &findings,
            advice: &known.advice,
            changes: &tries.done,
        })?;
    }
    let is_in_vain = tries.is_in_vain();
    #[cfg(feature = "page")]
    page(arguments, run, findings, known, tries.done)?;
    Ok(match is_in_vain {
        true => ExitCode::from(code::VERDICT),
        false => ExitCode::SUCCESS,
    })
}

/// Reports missing privileges before anything is measured. With another host to change it is only a
/// message, since all changes may be there.
fn privileged(has_others: bool) -> Result<(), Failure> {
    let needs = "to set parameters, routes, queues, offloads and MTUs of this host needs \
                 CAP_NET_ADMIN, and to load modules CAP_SYS_MODULE";
    match (sys::privilege::has_net_admin(), has_others) {
        (true, _) => Ok(()),
        (false, true) => {
            format::say(format_args!(
                "note: {needs}, which this user lacks: only other hosts can be changed"
            ));
            Ok(())
        }
        (false, false) => {
            let error = anyhow!(
                "nothing was measured: {needs}, which this user lacks; run it as root, or let \
                 `pathtwin measure` and `pathtwin advise` only say what would help"
            );
            Err(Failure::new(code::LACKS, error))
        }
    }
}

/// Writes the report page, with the measurements before and after.
#[cfg(feature = "page")]
fn page(
    arguments: &Fix,
    run: Run,
    findings: Findings,
    known: Known,
    changes: Vec<job::ProveOutput>,
) -> Result<(), Failure> {
    let Some(file) = &arguments.out else {
        return Ok(());
    };
    let documents = report::documents::Documents {
        run: Some((run, findings)),
        causes: explain::titles(),
        // Without a twin there is no advice to show.
        advice: known.twin.is_some().then_some(known.advice),
        twin: known.twin,
        changes,
        ..report::documents::Documents::default()
    };
    let lang = report::page::Lang::English;
    let html = report::page::html(&documents, lang, env!("CARGO_PKG_VERSION"));
    format::file(file, sys::files::Readers::ByUmask, html.as_bytes())?;
    format::say(format_args!("the page is in {}", file.display()));
    Ok(())
}

/// Returns the results of the lab; without a budget, the lab is not used.
fn known(arguments: &Fix, lab: Option<InLab<'_>>, run: &Run) -> Result<Known, Failure> {
    let Some(lab) = lab else {
        let proof = &arguments.proof;
        let program = env!("CARGO_PKG_VERSION");
        return Ok(Known {
            twin: None,
            advice: Advice::untried(&run.id, program, proof.goal.into(), &proof.keep),
            // A tunnel is the last layer, and the one to be fixed.
            turns: plans::turns(run.layers.last().map_or(Layer::Underlay, |l| l.layer)),
        });
    };
    let twin = lab.twin(run)?;
    Ok(Known {
        advice: lab.advice(&twin)?,
        turns: turns(&twin),
        twin: Some(twin),
    })
}

/// Lab path or real hosts to fix.
enum On<'a> {
    Lab(InLab<'a>, Box<Cell>),
    Hosts(Reached),
}

impl On<'_> {
    /// Returns true if a router of the path can be changed.
    fn has_router(&self, arguments: &Fix) -> bool {
        match self {
            Self::Lab(_, cell) => cell.path.local.is_some(),
            Self::Hosts(_) => arguments.router_ssh.is_some(),
        }
    }
}

fn place<'a>(arguments: &Fix, lab: Option<InLab<'a>>) -> Result<On<'a>, Failure> {
    let (Some(spec), Some(lab)) = (&arguments.lab, lab) else {
        let end = &arguments.far;
        let far = Far {
            host: arguments.host.as_deref().unwrap_or_default(),
            port: end.port,
            via: &end.via,
            key: end.key.as_deref(),
            open: end.open,
        };
        return Ok(On::Hosts(far.reach()?));
    };
    let cell = cell(arguments, spec)?;
    lab.lab.check(std::slice::from_ref(&cell))?;
    Ok(On::Lab(lab, Box::new(cell)))
}

/// The first cell of the spec.
fn cell(arguments: &Fix, spec: &Path) -> Result<Cell, Failure> {
    let spec = super::lab::run::read_spec(spec, &arguments.cells)?;
    super::measure::first_cell(&spec)
}

fn measured(arguments: &Fix, on: &On<'_>, stop: &'static AtomicBool) -> Result<Run, Failure> {
    let plan = match arguments.long {
        true => plans::default(),
        false => plans::quick(),
    };
    match on {
        On::Lab(lab, cell) => lab.measure(cell, &plan),
        On::Hosts(far) => far.measure(&plan, arguments.cells.seed, Progress::Shown, stop),
    }
}

/// Proves the remedy on the lab path; `None` if it is not agreed to.
fn in_guest(
    lab: InLab<'_>,
    cell: &Cell,
    turns: &Plan,
    best: &Tried,
    agreed: impl FnOnce() -> Result<bool, Failure>,
) -> Result<Option<job::ProveOutput>, Failure> {
    if !agreed()? {
        return Ok(None);
    }
    format::say(format_args!(
        "\"{}\" is applied and measured in {} turns or more",
        best.name,
        2 * lab.pairs
    ));
    lab.prove(cell, turns, best).map(Some)
}

fn agreed(arguments: &Fix, best: &Tried, stop: &AtomicBool) -> Result<bool, Failure> {
    Ok(arguments.yes || is_wanted(best, stop)?)
}

/// Longest time between two looks at the flag of Ctrl-C: a signal that comes just before the wait
/// does not end it.
const NAP: Duration = Duration::from_millis(200);

/// The one question. Ctrl-C is no answer: reading would go on after the signal.
fn is_wanted(best: &Tried, stop: &AtomicBool) -> Result<bool, Failure> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        let error = anyhow!("nobody can be asked here: --yes applies what is advised");
        return Err(Failure::new(code::USE, error));
    }
    let mut out = std::io::stderr().lock();
    let asked = write!(
        out,
        "Apply \"{}\", and keep it if it helps? [y/N] ",
        best.name
    );
    asked.and_then(|()| out.flush()).context("ask")?;
    while sys::wait::readable(&[input.as_fd()], NAP).context("wait for the answer")? != [true] {
        if stop.load(Ordering::Relaxed) {
            let error = anyhow!("nothing was changed: stopped before the answer");
            return Err(Failure::new(code::INTERRUPTED, error));
        }
    }
    let mut answer = String::new();
    input.read_line(&mut answer).context("read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn heading(title: &str, text: &str) -> String {
    format!("== {title} ==\n{text}\n")
}
