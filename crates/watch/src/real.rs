//! Measuring: sessions with far ends.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use measure::{
    group::probes,
    key,
    plans::{self, PlanFileError},
    reach::{self, FarEnd, ReachError},
    run::{Event, Start},
};
use model::{
    facts,
    net::{Direction, Layer},
    plan::Plan,
    run::{Asked, Invalid, LayerAddress, Run},
    text,
    text::Text,
    units::Seed,
    watch::WatchFigure,
};
use stats::Random;
use traffic::wire::Key;

use crate::{
    config::PathConfig,
    figures::{self, Figure, Probed},
    line::{Device, Line},
    message,
    moment::Moment,
    plan::{self, TooSmall},
    schedule::PROBES,
    watcher::{Measured, Postponed, Work},
};

/// Time between two probes of a group.
const BETWEEN: Duration = Duration::from_millis(100);
/// Observation time of a line's counters before a load.
const COUNTED: Duration = Duration::from_secs(2);
/// Share of its payload that a run has moved if the rest does not suffice for another load.
const SPENT: f64 = 0.9;

/// Error of a measurement.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub(crate) enum RealError {
    /// The far end cannot be reached.
    Reach(#[from] ReachError),
    /// The session failed.
    Far(#[from] measure::far::FarError),
    /// The key is missing or unusable.
    Key(#[from] key::KeyError),
    /// The plan is missing or invalid.
    Plan(#[from] PlanFileError),
    /// Another watch loads the far end's line.
    Slot,
    /// The service is to end.
    Stopped,
}

impl RealError {
    /// The error with its values, for reports in any language.
    pub(crate) fn text(&self) -> Text {
        match self {
            Self::Reach(error) => text!(
                "{error}; is `pathtwin serve` running there, and is the port open?",
                error = error.text()
            ),
            Self::Far(error) => error.text(),
            Self::Key(error) => text!(
                "{error}; name its file in the config: key = \"FILE\"",
                error = error.text()
            ),
            Self::Plan(error) => error.text(),
            Self::Slot => Postponed::Slot.text(),
            Self::Stopped => text!("stopped"),
        }
    }
}

/// The far end of a path, and how it is reached.
struct End {
    key: Key,
    far: FarEnd,
}

impl End {
    fn find(path: &PathConfig) -> Result<Self, RealError> {
        let key = key(path)?;
        let wants = |layer| path.layers.is_empty() || path.layers.contains(&layer);
        let via: &[IpAddr] = match wants(Layer::Tunnel) {
            true => &path.via,
            false => &[],
        };
        let mut far = FarEnd::find(&path.host, None, via)?;
        if !wants(Layer::Underlay) {
            far.targets.retain(|target| target.layer != Layer::Underlay);
        }
        Ok(Self { key, far })
    }
}

fn key(path: &PathConfig) -> Result<Key, RealError> {
    if path.open {
        return Ok(Key::OPEN);
    }
    if let Some(file) = &path.key {
        let name = file.to_string_lossy();
        return Ok(key::of_client(Some(&name), io::empty())?.key);
    }
    match key::known(&path.host)? {
        Some(key) => Ok(key),
        None => Ok(key::of_client(None, io::empty())?.key),
    }
}

/// The plan of a path that has one by name or file.
pub(crate) fn full_plan(path: &PathConfig) -> Result<Plan, PlanFileError> {
    match path.plan.as_str() {
        "quick" => Ok(plans::quick()),
        "default" => Ok(plans::default()),
        "thorough" => Ok(plans::thorough()),
        file => plans::read(Path::new(file)),
    }
}

/// Reads the state of a path's line before a load.
pub(crate) fn line(path: &PathConfig, alive: &mut dyn FnMut()) -> Line {
    let address = reach::host(&path.host, None).ok();
    let address = address.and_then(|all| all.first().map(SocketAddr::ip));
    let Some(device) = address.and_then(Device::toward) else {
        return Line::default();
    };
    alive();
    std::thread::sleep(COUNTED);
    Line {
        others_bps: device.rate_bps(COUNTED.as_secs_f64()),
        metered: device.is_metered(),
    }
}

/// A group of probes on each layer.
pub(crate) fn probe(path: &PathConfig, program: &str) -> Result<Vec<Probed>, RealError> {
    let end = End::find(path)?;
    let with = (&end.key, program);
    let groups = probes(end.far.control, with, &end.far.targets, (PROBES, BETWEEN))?;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let probed = groups.into_iter().map(|group| Probed {
        layer: group.layer,
        family: group.family,
        rtt_s: group.rtt_ns.into_iter().map(seconds).collect(),
        lost: group.lost,
    });
    Ok(probed.collect())
}

/// Dependencies of a run.
pub(crate) struct Runner<'a> {
    /// Version of this program.
    pub(crate) program: &'a str,
    /// Set when the service is to end.
    pub(crate) stop: &'a AtomicBool,
}

impl Runner<'_> {
    /// Runs a load or a full plan of at most this many payload bytes, and returns its results and
    /// the run.
    pub(crate) fn run(
        &self,
        path: &PathConfig,
        (work, payload, rate_bps): (Work, u64, Option<f64>),
        random: &mut Random,
        alive: &mut dyn FnMut(),
    ) -> Result<(Measured, Run), RealError> {
        let plan = match work {
            Work::Full => plan::within(full_plan(path)?, path, payload),
            _ => plan::short(path, payload, rate_bps),
        };
        let end = End::find(path)?;
        let start = Start {
            control: end.far.control,
            key: &end.key,
            plan: &plan,
            seed: Seed(random.next_u64() >> 32),
            targets: &end.far.targets,
            unreached: end.far.unreached,
            third: None,
            slot: true,
            program: self.program,
            id: format!("{:016x}", random.next_u64()),
            started_us: Moment::now().wall_us,
            lab: false,
            cancel: self.stop,
        };
        let mut moved = 0;
        let run = measure::run::measure(start, &mut |event| {
            alive();
            match event {
                Event::Live(live) => moved = moved.max(live.bytes),
                Event::Moved(bytes) => moved = moved.max(bytes),
                _ => {}
            }
        });
        let mut run = run.map_err(|error| match error.is_busy() {
            true => RealError::Slot,
            false => error.into(),
        })?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(RealError::Stopped);
        }
        run.asked = Some(Asked {
            host: path.host.clone(),
            port: None,
            via: path.via.clone(),
            open: path.open,
        });
        let mut measured = Measured {
            facts: facts::named(&run),
            ..measured(&run, moved, work)
        };
        let is_spent = moved as f64 >= SPENT * payload as f64;
        if work != Work::Full && is_spent && lacks_goodput(&run, &measured.figures) {
            measured.cut_bps = shown_bps(&run);
            let rate_bps = rate_bps.into_iter().chain(measured.cut_bps);
            measured.too_small = TooSmall::of(path, rate_bps.reduce(f64::max));
        }
        Ok((measured, run))
    }
}

/// Results of a run but its facts and its place in the history.
fn measured(run: &Run, moved: u64, work: Work) -> Measured {
    // A step that failed has moved an unknown number of bytes.
    let failed = |why: &Invalid| matches!(why, Invalid::Failed { .. });
    let lost_count = run.cut_short.is_some()
        || run
            .samples
            .iter()
            .any(|sample| sample.invalid.iter().any(failed));
    let causes = match work {
        Work::Full => message::causes(&explain::judge(run)),
        _ => Vec::new(),
    };
    Measured {
        payload: (!lost_count).then_some(moved),
        figures: figures::of_run(run),
        causes,
        ..Measured::default()
    }
}

/// Whether a layer of a run has no goodput in one of the directions.
fn lacks_goodput(run: &Run, figures: &[(Figure, f64)]) -> bool {
    let has = |layer: &LayerAddress, direction| {
        let is_of = |figure: &Figure| {
            figure.kind == WatchFigure::Goodput
                && (figure.layer, figure.family) == (layer.layer, layer.family)
                && figure.direction == Some(direction)
        };
        figures.iter().any(|(figure, _)| is_of(figure))
    };
    let both = [Direction::Down, Direction::Up];
    let mut layers = run.layers.iter();
    layers.any(|layer| !both.into_iter().all(|direction| has(layer, direction)))
}

/// The rate of the line as shown by loads that do not count, bit/s.
fn shown_bps(run: &Run) -> Option<f64> {
    let loads = run.samples.iter().filter(|sample| !sample.valid);
    let flows = loads.filter_map(|s| s.tcp.as_ref()).flat_map(|t| &t.flows);
    flows
        .filter_map(|flow| flow.delivery_rate_p50_bps)
        .reduce(f64::max)
}
