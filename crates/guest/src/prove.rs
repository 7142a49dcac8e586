//! Remedies on the ends of a path, and on the router of its near end if it has one, by the real
//! `tune`: applied, measured with and without in turns, kept or undone.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use ::measure::far::FarError;
use anyhow::{Context, anyhow};
use model::{
    change::{Change, ChangeId, ProcessId, Setting},
    job::{Prove, ProveOutput},
    remedy::Location,
    text,
    text::Text,
};
use testbed::Node;
use tune::{
    BootClock, Criteria, Env, Folder, Host, HostError, Live, LocalHost, Machine, MeasureError,
    Operation, Place, Request, Site, Sites, TuneError, Unobserved,
};

use crate::{
    Engine,
    measure::{Ends, watchdog},
};

/// First argument of this program as the keeper of a change.
pub(crate) const KEEPER: &str = "keep";

/// Folder of the journals: memory of the guest.
const JOURNALS: &str = "/tmp/tune";

/// Applies, proves, and keeps or undoes.
pub(crate) fn run(engine: Engine<'_>, job: &Prove) -> anyhow::Result<ProveOutput> {
    // Of devices the keeper needs the null one.
    sys::boot::mount("devtmpfs", "/dev", "").context("mount the devices")?;
    sys::boot::mount("tmpfs", "/tmp", "mode=1777").context("mount memory for journals")?;
    let ends = Ends::open(engine, &job.cell, &job.program)?;
    let limit = Duration::from_nanos(job.limit_ns);
    let late = ProveOutput {
        error: Some(text!(
            "still at work after {n} s of virtual time",
            n = model::text::Value::Count(limit.as_secs_f64())
        )),
        ..ProveOutput::default()
    };
    watchdog(engine, limit, late);
    let mut output = ProveOutput::default();
    let bench = Bench {
        engine,
        job,
        ends: &ends,
        limit,
    };
    match bench.planned(&mut output) {
        Ok(Some(hosts)) => bench.prove(&hosts, &mut output),
        Ok(None) => {}
        Err(error) => output.error = Some(error_text(&error)),
    }
    ends.close();
    Ok(output)
}

/// A host of the path: a namespace with separate journals.
struct Namespace<'a> {
    node: &'a Node,
    folder: PathBuf,
}

impl Machine for Namespace<'_> {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn enter<T>(&self, act: impl FnOnce() -> T) -> Result<T, HostError> {
        let enter = Operation::Enter(self.node.name.to_owned());
        self.node.ns.run(act).map_err(enter.failed())
    }

    fn keeper(&self, id: &ChangeId) -> io::Result<ProcessId> {
        let mut command = Command::new("/proc/self/exe");
        command.arg(KEEPER).arg(&self.folder).arg(id.as_str());
        tune::start_keeper(command)
    }
}

/// From the far end to the near one.
type Hosts<'a> = Vec<LocalHost<Namespace<'a>>>;

struct Bench<'a> {
    engine: Engine<'a>,
    job: &'a Prove,
    ends: &'a Ends,
    limit: Duration,
}

impl<'a> Bench<'a> {
    /// Plans for all hosts; none if one of them refuses.
    fn planned(&self, output: &mut ProveOutput) -> anyhow::Result<Option<Hosts<'a>>> {
        let bed = &self.ends.bed;
        let far = Some((Location::Far, bed.far()));
        let router = bed.third().map(|node| (Location::Router, node));
        let near = Some((Location::Near, bed.near()));
        let mut hosts = Hosts::new();
        for (on, node) in [far, router, near].into_iter().flatten() {
            match self.planned_of(on, node, output)? {
                Some(host) => hosts.push(host),
                None => return Ok(None),
            }
        }
        output.elsewhere = self.on_routers(&hosts)?;
        Ok(Some(hosts))
    }

    fn planned_of(
        &self,
        on: Location,
        node: &'a Node,
        output: &mut ProveOutput,
    ) -> anyhow::Result<Option<LocalHost<Namespace<'a>>>> {
        let wanted = node.ns.run(|| self.wanted(on))??;
        output.not_applied.extend(wanted.not);
        let is_wanted = !wanted.settings.is_empty();
        let request = Request {
            settings: wanted.settings,
            probes: Vec::new(),
            program: self.job.program.clone(),
            created_unix_s: unix_s(),
            ..Request::default()
        };
        let id = ChangeId::from_random(self.bytes(on));
        let planned = node
            .ns
            .run(|| tune::plan(&mut Live::open()?, &request, id))?;
        let name = node.name;
        match planned {
            Ok(plan) => {
                if is_wanted && plan.steps.is_empty() {
                    let so = text!("{host}: already set", host = name);
                    output.not_applied.push(so);
                }
                let folder = Path::new(JOURNALS).join(on.to_string().replace(' ', "-"));
                Ok(Some(LocalHost::new(Namespace { node, folder }, on, plan)))
            }
            Err(TuneError::Refused(all)) => {
                let all = all
                    .iter()
                    .map(|refusal| text!("{host}: {source}", host = name, source = refusal.text()));
                output.not_applied.extend(all);
                Ok(None)
            }
            Err(error) => Err(anyhow!(error)),
        }
    }

    /// Settings of the ends that would have no effect on the first router of the path.
    fn on_routers(&self, hosts: &Hosts<'_>) -> anyhow::Result<Vec<Text>> {
        let mut between = self.ends.bed.hosts.iter();
        let is_router = |node: &&Node| node.address.is_none() && node.underlay.is_none();
        let Some(router) = between.find(is_router) else {
            return Ok(Vec::new());
        };
        let steps = hosts.iter().flat_map(|host| &host.planned().steps);
        let settings: Vec<&Setting> = steps.map(|step| &step.setting).collect();
        let without = router.ns.run(|| -> Vec<Text> {
            let without = settings.into_iter().filter_map(tune::without_effect_here);
            without.collect()
        })?;
        let named = |why| text!("the router {host}: {why}", host = router.name, why = why);
        Ok(without.into_iter().map(named).collect())
    }

    /// Ids derived from the seed, as all results of a guest must be reproducible; inside a guest
    /// they need not be unguessable.
    fn bytes(&self, on: Location) -> [u8; 16] {
        let mut bytes = [on as u8; 16];
        // Mixed, so that the first digits differ (the multiplier of splitmix64).
        let seed = self.job.cell.seed.0.wrapping_add(u64::from(bytes[0]) + 1);
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bytes[..8].copy_from_slice(&mixed.to_be_bytes());
        bytes
    }

    /// The settings of one host. A shaper belongs to the line, not to a tunnel over it.
    fn wanted(&self, on: Location) -> anyhow::Result<tune::Remedies> {
        let bed = &self.ends.bed;
        let (line, tunnel) = match on.side().map(|side| bed.end(side.other())) {
            Some(other) => (
                other.underlay.or(other.address),
                self.job.cell.tunnel.as_ref().and(other.address),
            ),
            // The router is on the path itself, below a tunnel.
            None => (bed.far_on_path(), None),
        };
        let place = Place::of(&mut Live::open()?, line, tunnel)?;
        Ok(tune::settings_of_all(&self.job.remedies, on, &place))
    }

    fn prove(&self, hosts: &Hosts<'_>, output: &mut ProveOutput) {
        let sites = Sites::new(hosts.iter().map(|host| host as &dyn Site));
        if !sites.is_empty() {
            self.in_turns(&sites, output);
        }
        output.changes = sites.changes();
        output.left_changed = left_changed(hosts);
    }

    fn in_turns(&self, sites: &Sites<'_>, output: &mut ProveOutput) {
        if let Err(error) = sites.apply(self.limit) {
            output.error = Some(text!("apply the change: {error}", error = error.text()));
            return;
        }
        let criteria = Criteria {
            goal: self.job.goal,
            predicted: self.job.predicted.clone(),
            keep: self.job.keep.clone(),
            at_a_cost: self.job.at_a_cost,
            pairs: self.job.pairs,
            program: self.job.program.clone(),
        };
        let mut measure = || {
            let run = self
                .ends
                .measure(self.engine, &self.job.plan, &self.job.cell);
            let run = run.map_err(|error| MeasureError::new(error_text(&error), error))?;
            run.map_err(|error| MeasureError::new(error.text(), error))
        };
        let settled = sites.prove(&mut measure, &criteria);
        match settled.output(Vec::new()) {
            Ok(done) => output.proof = done.proof,
            Err(error) => output.error = Some(error.text()),
        }
    }
}

/// Settings of undone changes that differ from their old values.
fn left_changed(hosts: &Hosts<'_>) -> Vec<Text> {
    let of = |host: &LocalHost<Namespace<'_>>| {
        let change: Change = host.change()?;
        let name = host.machine().node.name;
        Some(match host.left_changed(&change) {
            Ok(left) => left.iter().map(|setting| setting.text()).collect(),
            Err(error) => vec![text!(
                "{host}: {source}",
                host = name,
                source = error.text()
            )],
        })
    };
    let left: Vec<Vec<Text>> = hosts.iter().filter_map(of).collect();
    left.concat()
}

/// An error as a text: translatable if it is about the settings of a host or of the far end,
/// otherwise English.
fn error_text(error: &anyhow::Error) -> Text {
    let of_change = error.downcast_ref::<TuneError>().map(TuneError::text);
    let of_host = || error.downcast_ref::<HostError>().map(HostError::text);
    let of_far = || error.downcast_ref::<FarError>().map(FarError::text);
    of_change
        .or_else(of_host)
        .or_else(of_far)
        .unwrap_or_else(|| Text::plain(format!("{error:#}")))
}

/// Virtual time since 1970.
fn unix_s() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().map(|d| d.as_secs())
}

/// The keeper of a change, in a separate process.
pub(crate) fn keeper(folder: Option<OsString>, id: Option<OsString>) -> ExitCode {
    let kept = || -> anyhow::Result<()> {
        sys::process::ignore_requests_to_end()?;
        let folder = PathBuf::from(folder.context("no folder")?);
        let id: ChangeId = id
            .and_then(|id| id.into_string().ok())
            .context("no id")?
            .parse()?;
        let mut env = Env {
            folder: &Folder::open(&folder)?,
            host: &mut Live::open()? as &mut dyn Host,
            clock: &BootClock,
            observer: &mut Unobserved,
        };
        tune::keep(&mut env, &id, &mut |word| {
            let mut out = std::io::stdout().lock();
            out.write_all(&[word]).and_then(|()| out.flush())
        })?;
        Ok(())
    };
    ExitCode::from(u8::from(kept().is_err()))
}
