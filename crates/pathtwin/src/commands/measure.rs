//! `pathtwin measure`.

// A build without the lab measures between hosts only.
#[cfg_attr(not(feature = "lab"), path = "measure/no_lab.rs")]
mod in_lab;
#[cfg(feature = "lab")]
pub(crate) use in_lab::first_cell;
mod iperf3;
mod known;
mod live;
mod third;

use std::{
    net::IpAddr,
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use anyhow::{Context, anyhow};
use measure::{
    key, plans,
    reach::{self, ReachError},
    run::{Start, Third, usual_estimate},
};
#[cfg(feature = "history")]
use model::history;
use model::{
    plan::{Budget, Plan},
    run::Run,
    units::Seed,
};
use report::answer::Screen;
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
    show(arguments, &run)?;
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

/// A far end with `pathtwin serve`.
pub(crate) struct Far<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: Option<u16>,
    /// Its addresses inside tunnels.
    pub(crate) via: &'a [IpAddr],
    pub(crate) key: Option<&'a str>,
    /// True if it needs no key.
    pub(crate) open: bool,
}

/// Progress display of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// On standard error.
    Shown,
    /// It is one of many.
    Hidden,
}

/// A reachable far end.
pub(crate) struct Reached {
    name: String,
    key: Key,
    /// True if the key was given and is not stored yet.
    is_new: bool,
    far: reach::FarEnd,
    /// A third point to probe in addition to the path.
    third: Option<Third>,
}

impl Far<'_> {
    /// Finds its addresses.
    ///
    /// # Errors
    /// No address answers, or no key is known.
    pub(crate) fn reach(&self) -> Result<Reached, Failure> {
        let name = known::name(self.host, self.port);
        let key = if self.open {
            Key::OPEN
        } else {
            client_key(self.key, &name)?
        };
        let far = reach::FarEnd::find(self.host, self.port, self.via)
            .map_err(unreached("pathtwin serve"))?;
        for tunnel in &far.unreached {
            let why = &tunnel.why;
            format::say(format_args!(
                "the tunnel is not measured: {why}; is the tunnel up, and does `pathtwin serve` \
                 listen on that address?"
            ));
        }
        Ok(Reached {
            name,
            key,
            is_new: self.key.is_some() && !self.open,
            far,
            third: None,
        })
    }
}

impl Reached {
    /// Number of layers that are measured.
    pub(crate) fn layers(&self) -> usize {
        self.far.layers()
    }

    /// The address from which this host reaches it.
    #[cfg(feature = "lab")]
    pub(crate) fn own_address(&self) -> std::io::Result<IpAddr> {
        self.far.own_address()
    }

    /// Returns the address at which its sessions are opened.
    #[cfg(feature = "lab")]
    pub(crate) fn control(&self) -> std::net::SocketAddr {
        self.far.control
    }

    /// Runs a plan.
    ///
    /// # Errors
    /// No session could be opened, or there is no result.
    pub(crate) fn measure(
        &self,
        plan: &Plan,
        seed_given: Option<u64>,
        progress: Progress,
        stop: &'static AtomicBool,
    ) -> Result<Run, Failure> {
        let (random, seed) = seed(seed_given)?;
        let start = Start {
            control: self.far.control,
            key: &self.key,
            plan,
            seed,
            targets: &self.far.targets,
            unreached: self.far.unreached.clone(),
            third: self.third.as_ref(),
            slot: false,
            program: env!("CARGO_PKG_VERSION"),
            id: format!("{random:016x}"),
            started_us: now_us(),
            lab: false,
            cancel: stop,
        };
        let run = match progress {
            Progress::Hidden => measure::run::measure(start, &mut |_| {}),
            Progress::Shown => {
                let mut display = live::Display::new(plan.budget);
                let run = measure::run::measure(start, &mut |event| display.show(&event));
                display.finish();
                run
            }
        };
        if run.is_ok() && self.is_new {
            known::remember(&self.name, &self.key);
        }
        run.map_err(|e| Failure::new(code::FAILED, e))
    }
}

fn client_key(given: Option<&str>, host: &str) -> Result<Key, Failure> {
    if let Some(known) = known::of_host(given, host)? {
        return Ok(known);
    }
    let client = key::of_client(given, std::io::stdin().lock())?;
    if client.on_command_line {
        format::say(format_args!(
            "a key on the command line is visible to every user of this host (ps); --key FILE and --key - are not"
        ));
    }
    Ok(client.key)
}

/// Returns a hint for a host that cannot be reached, on which `program` should run.
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
fn seed(given: Option<u64>) -> Result<(u64, Seed), Failure> {
    let random = u64::from_le_bytes(traffic::wire::key::random().context("draw a seed")?);
    let seed = given.map_or(Seed(random >> 32), Seed);
    Ok((random, seed))
}

/// µs since 1970.
fn now_us() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_micros() as u64)
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
    eprintln!("pathtwin: kept as {}; see pathtwin history list", run.id);
    Ok(())
}

/// Writes the run atomically, readable by its owner only, since it names hosts and addresses.
fn write(file: &Path, run: &Run) -> Result<(), Failure> {
    let text = serde_json::to_vec(run).context("write the run as JSON")?;
    format::file(file, sys::files::Readers::Owner, &text)
}
