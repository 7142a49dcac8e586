//! Remedies on the ends of a path by the real `tune`: applied, measured in turns, kept or undone.

use std::{
    error::Error as _,
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Duration,
};

use anyhow::{Context, anyhow};
use model::{
    change::{Change, ChangeId, ProcessId},
    job::{Prove, ProveOutput},
    net::Side,
    proof::Acted,
    run::Run,
    text,
};
use sys::process::Process;
use testbed::Node;
use tune::{
    Arm, BootClock, Criteria, Env, Folder, Host, Live, MeasureError, NewTcp, Place, ProveError,
    Request, TuneError, Turns, Unobserved,
};

use crate::{
    Engine,
    measure::{Ends, watchdog},
};

/// First argument of this program as the keeper of a change.
pub(crate) const KEEPER: &str = "keep";

/// Folder of the journals: memory of the guest.
const JOURNALS: &str = "/tmp/tune";

/// Time for the first turn; then each turn has its own.
const WINDOW: Duration = Duration::from_secs(60);

/// Applies, proves, and keeps or undoes.
pub(crate) fn run(engine: Engine<'_>, job: &Prove) -> anyhow::Result<ProveOutput> {
    // Of devices the keeper needs the null one.
    sys::boot::mount("devtmpfs", "/dev", "").context("mount the devices")?;
    sys::boot::mount("tmpfs", "/tmp", "mode=1777").context("mount memory for journals")?;
    let ends = Ends::open(engine, &job.cell, &job.program)?;
    let limit = Duration::from_nanos(job.limit_ns);
    let late = ProveOutput {
        error: Some(format!("still at work after {limit:?} of virtual time")),
        ..ProveOutput::default()
    };
    watchdog(engine, limit, late);
    let mut bench = Bench {
        engine,
        job,
        ends: &ends,
        limit,
        sites: Vec::new(),
    };
    let mut output = ProveOutput::default();
    if let Err(error) = bench.apply(&mut output) {
        output.error = Some(format!("{error:#}"));
        bench.settle(false);
    } else if !bench.sites.is_empty() {
        bench.prove(&mut output);
    }
    output.changes = bench.changes();
    output.left_changed = bench.left_changed(&output.changes);
    ends.close();
    Ok(output)
}

/// A host whose settings are changed.
struct Site<'a> {
    side: Side,
    node: &'a Node,
    folder: Folder,
    id: ChangeId,
}

struct Bench<'a> {
    engine: Engine<'a>,
    job: &'a Prove,
    ends: &'a Ends,
    limit: Duration,
    /// The far end first: it is confirmed first, too.
    sites: Vec<Site<'a>>,
}

impl<'a> Bench<'a> {
    /// Plans for both ends before either is changed.
    fn apply(&mut self, output: &mut ProveOutput) -> anyhow::Result<()> {
        let bed = &self.ends.bed;
        let ends = [
            (Side::Far, bed.far(), bed.near()),
            (Side::Near, bed.near(), bed.far()),
        ];
        let mut plans = Vec::new();
        for (side, node, other) in ends {
            let wanted = node.ns.run(|| self.wanted(side, other))??;
            output.not_applied.extend(wanted.not);
            if wanted.settings.is_empty() {
                continue;
            }
            let request = Request {
                settings: wanted.settings,
                probes: Vec::new(),
                program: self.job.program.clone(),
            };
            let id = ChangeId::from_random(self.bytes(side));
            let planned = node
                .ns
                .run(|| tune::plan(&mut Live::open()?, &request, id))?;
            match planned {
                Ok(plan) if plan.steps.is_empty() => {
                    let name = node.name;
                    output
                        .not_applied
                        .push(text!("{host}: it is so already", host = name));
                }
                Ok(plan) => plans.push((side, node, plan)),
                Err(TuneError::Refused(all)) => {
                    let name = node.name;
                    let all = all.iter().map(|refusal| {
                        text!(
                            "{host}: {source}",
                            host = name,
                            source = refusal.to_string()
                        )
                    });
                    output.not_applied.extend(all);
                    return Ok(());
                }
                Err(error) => return Err(anyhow!(error)),
            }
        }
        for (side, node, plan) in plans {
            let folder =
                Folder::open(&Path::new(JOURNALS).join(side.to_string().replace(' ', "-")))?;
            self.sites.push(Site {
                side,
                node,
                folder,
                id: plan.id.clone(),
            });
            let site = self.sites.last().context("no host")?;
            site.with(|env| apply(env, &plan))
                .context("apply the change")?;
            site.with(|env| tune::prolong(env, Some(plan.id.as_str()), &mut NewTcp, self.limit))?;
        }
        Ok(())
    }

    /// Ids that are the same for the same seed, as all results of a guest: there is nobody in it
    /// from whom they should be kept.
    fn bytes(&self, side: Side) -> [u8; 16] {
        let mut bytes = [u8::from(side == Side::Far); 16];
        // Mixed, so that the first digits differ (the multiplier of splitmix64).
        let seed = self.job.cell.seed.0.wrapping_add(u64::from(bytes[0]) + 1);
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bytes[..8].copy_from_slice(&mixed.to_be_bytes());
        bytes
    }

    /// The settings of one end. A shaper belongs to the line, not to a tunnel over it.
    fn wanted(&self, side: Side, other: &Node) -> anyhow::Result<tune::Remedies> {
        let mut host = Live::open()?;
        let mut device =
            |to: Option<std::net::IpAddr>| to.map(|to| host.device_toward(to)).transpose();
        let line = device(other.underlay.or(other.address))?;
        let tunnel = match self.job.cell.tunnel {
            Some(_) => device(other.address)?,
            None => None,
        };
        let place = Place {
            line,
            tunnel,
            toward: other.address,
        };
        Ok(tune::settings_of_all(&self.job.remedies, side, &place))
    }

    fn prove(&mut self, output: &mut ProveOutput) {
        let ids: Vec<ChangeId> = self.sites.iter().map(|site| site.id.clone()).collect();
        let criteria = Criteria {
            goal: self.job.goal,
            predicted: self.job.predicted.clone(),
            keep: self.job.keep.clone(),
            pairs: self.job.pairs,
            program: self.job.program.clone(),
        };
        match tune::prove(self, &ids, &criteria) {
            Ok(proof) => {
                self.settle(proof.decision.is_kept());
                output.proof = Some(Box::new(proof));
            }
            Err(error) => {
                self.settle(false);
                output.error = Some(whole(&error));
            }
        }
    }

    /// Confirms all or undoes all.
    fn settle(&self, keep: bool) {
        for site in &self.sites {
            let id = Some(site.id.as_str());
            let done = site.with(|env| match keep {
                true => tune::confirm(env, id, &mut NewTcp).map(|_| ()),
                false => tune::undo(env, id).map(|_| ()),
            });
            // The journal says how it ended.
            if let Err(error) = done {
                eprintln!("pathtwin-guest: {}: {error}", site.node.name);
            }
        }
    }

    fn changes(&self) -> Vec<Change> {
        let read = |site: &Site<'_>| site.folder.read(&site.id).ok();
        self.sites.iter().filter_map(read).collect()
    }

    /// Settings of an undone change that are not what they were.
    fn left_changed(&self, changes: &[Change]) -> Option<String> {
        let mut left = Vec::new();
        for (site, change) in self.sites.iter().zip(changes) {
            if change.state.is_kept() {
                continue;
            }
            let now = site.node.ns.run(|| -> Result<Vec<_>, tune::HostError> {
                let mut host = Live::open()?;
                change.steps.iter().map(|s| host.read(&s.setting)).collect()
            });
            match now {
                Ok(Ok(now)) => {
                    let steps = change.steps.iter().zip(now);
                    let other = steps.filter(|(step, now)| step.old != *now);
                    left.extend(other.map(|(step, _)| step.setting.to_string()));
                }
                _ => left.push(site.node.name.to_owned()),
            }
        }
        (!left.is_empty()).then(|| left.join("; "))
    }
}

impl Turns for Bench<'_> {
    fn set(&mut self, on: bool) -> Result<(), TuneError> {
        for site in &self.sites {
            let id = Some(site.id.as_str());
            site.with(|env| match on {
                true => tune::set_again(env, id),
                false => tune::set_aside(env, id),
            })?;
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<Run, MeasureError> {
        let run = self
            .ends
            .measure(self.engine, &self.job.plan, &self.job.cell);
        run.map_err(Into::into)
    }

    fn evidence(&mut self, run: &Run) -> Vec<Acted> {
        let of = |site: &Site<'_>| {
            let change = site.folder.read(&site.id).ok()?;
            let read = site.node.ns.run(|| {
                let mut host = Live::open().ok()?;
                Some(tune::evidence(&mut host, &change, site.side, run))
            });
            read.ok().flatten()
        };
        self.sites.iter().filter_map(of).flatten().collect()
    }
}

impl Site<'_> {
    /// Calls `act` on this host.
    fn with<T>(
        &self,
        act: impl FnOnce(&mut Env<'_>) -> Result<T, TuneError>,
    ) -> Result<T, TuneError> {
        let done = self.node.ns.run(|| {
            act(&mut Env {
                folder: &self.folder,
                host: &mut Live::open()?,
                clock: &BootClock,
                observer: &mut Unobserved,
            })
        });
        done.unwrap_or_else(|error| {
            let op = format!("enter {}", self.node.name);
            Err(tune::HostError::Io { op, error }.into())
        })
    }
}

/// An error with its causes, except those that its text has already.
fn whole(error: &ProveError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let own = error.to_string();
        if !text.contains(&own) {
            text = format!("{text}: {own}");
        }
        cause = error.source();
    }
    text
}

fn apply(env: &mut Env<'_>, plan: &Change) -> Result<(), TuneError> {
    let own = Process::own().map_err(TuneError::NoKeeper)?;
    let folder = env.folder.path().to_owned();
    let mut arm = Arm {
        window: WINDOW,
        controller: ProcessId {
            pid: own.pid,
            start_ticks: own.start_ticks,
        },
        keeper: &mut |id| {
            // Born in the namespace of this thread.
            let mut command = Command::new("/proc/self/exe");
            command.arg(KEEPER).arg(&folder).arg(id.as_str());
            tune::start_keeper(command)
        },
        prober: &mut NewTcp,
    };
    tune::apply(env, plan, &mut arm).map(|_| ())
}

/// The keeper of a change, in a process of its own.
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
