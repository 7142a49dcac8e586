//! The settings that the user names, or that documents propose.

use std::{
    net::IpAddr,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, anyhow};
use model::{
    advice::{Advice, Change as Predicted},
    capacity::{LineCapacity, PathCapacity},
    change::{Change, Origin, QueueOf, Setting, SettingError, Shaper},
    findings::Findings,
    remedy::{Flow, Location, Remedy},
};
use tune::{Live, Operation, Place, Remedies, Request, TuneError};

use crate::{
    cli::tune::{End, Settings},
    document,
    exit::{Failure, code},
    format,
};

pub(crate) type Wanted = Vec<(Setting, Option<Origin>)>;

/// The plan of the settings that the user names, and the changes of figures that an Advice
/// predicts of exactly these.
pub(super) fn planned(settings: &Settings) -> Result<(Change, Vec<Predicted>), Failure> {
    let proposed = Proposed::of(settings)?;
    let line = proposed.line;
    let predicted = proposed.predicted.clone();
    let proposals = proposed.settings.clone();
    let all = wanted(settings, proposed)?;
    let is_advised = all == proposals;
    let plan = planned_as(Request {
        settings: all,
        probes: settings.probe.clone(),
        line,
        force: settings.force,
        ..Request::default()
    })?;
    Ok((plan, if is_advised { predicted } else { Vec::new() }))
}

/// The plan of settings of this host.
///
/// # Errors
/// As [`tune::plan`]; the kernel has no random numbers.
#[cfg(feature = "lab")]
pub(crate) fn plan_of(settings: Wanted) -> Result<Change, TuneError> {
    planned_as(Request {
        settings,
        ..Request::default()
    })
}

fn planned_as(request: Request) -> Result<Change, TuneError> {
    let request = Request {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        created_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .map(|since| since.as_secs()),
        ..request
    };
    let id = tune::fresh_id().map_err(Operation::MakeId.failed())?;
    let mut change = tune::plan(&mut Live::open()?, &request, id)?;
    let writers = tune::writers(&change, Path::new("/"));
    change.warnings.extend(writers);
    Ok(change)
}

/// The given settings, before those that documents propose.
fn wanted(settings: &Settings, proposed: Proposed) -> Result<Wanted, Failure> {
    let all =
        given(settings, proposed.line).map_err(|error| Failure::new(code::USE, anyhow!(error)))?;
    if all.is_empty() && settings.findings.is_none() && settings.advice.is_none() {
        let why = "no setting to change; for example --set cc=bbr, --queue eth0=fq_codel";
        return Err(Failure::new(code::USE, anyhow!(why)));
    }
    let mut all: Wanted = all.into_iter().map(|setting| (setting, None)).collect();
    for (setting, origin) in proposed.settings {
        match all.iter().find(|(given, _)| given.is_same_place(&setting)) {
            Some((given, _)) if *given != setting => {
                format::say(format_args!("not changed: {setting} ({given} is given)"));
            }
            Some(_) => {}
            None => all.push((setting, origin)),
        }
    }
    Ok(all)
}

/// The settings of options.
fn given(settings: &Settings, line: LineCapacity) -> Result<Vec<Setting>, SettingError> {
    let mut all = Vec::new();
    for text in &settings.set {
        all.push(Setting::parse_set(text, settings.scope)?);
    }
    all.extend(queues(settings, line)?);
    let named = [
        &settings.mss_clamp,
        &settings.offload,
        &settings.receive_steering,
        &settings.transmit_steering,
        &settings.rings,
        &settings.channels,
        &settings.module,
        &settings.queue_length,
        &settings.mtu,
    ];
    all.extend(named.into_iter().flatten().cloned());
    let several = settings.udp_gro_forwarding.iter();
    all.extend(several.flat_map(|several| several.0.iter().cloned()));
    Ok(all)
}

/// The queues of devices, and the shapers with their queues.
fn queues(settings: &Settings, line: LineCapacity) -> Result<Vec<Setting>, SettingError> {
    let mut all = Vec::new();
    let egress = settings.shape.iter().map(|s| (s.clone(), Flow::Egress));
    let ingress = settings.shape_ingress.iter();
    let ingress = ingress.map(|s| (s.clone(), Flow::Ingress));
    let mut shapers: Vec<(Shaper, Flow)> = egress.chain(ingress).collect();
    for queue in &settings.queue {
        match queue {
            QueueOf::Device(setting) => all.push(setting.clone()),
            QueueOf::Shapers(queue) if shapers.is_empty() => {
                return Err(SettingError::NoShaper(queue.name()));
            }
            QueueOf::Shapers(queue) => {
                for (shaper, _) in &mut shapers {
                    *shaper = shaper.clone().with_queue(*queue)?;
                }
            }
        }
    }
    for (shaper, flow) in shapers {
        all.push(shaper.setting(flow, line)?);
    }
    Ok(all)
}

/// What a document proposes for this host, and the capacity of its line.
#[derive(Default)]
struct Proposed {
    settings: Wanted,
    line: LineCapacity,
    predicted: Vec<Predicted>,
}

impl Proposed {
    fn of(settings: &Settings) -> Result<Self, Failure> {
        let Some(end) = settings.end else {
            return Ok(Self::default());
        };
        match (&settings.findings, &settings.advice, settings.toward) {
            (Some(name), ..) => Self::of_findings(name, end.into()),
            (None, Some(name), Some(toward)) => Self::of_advice(name, end.into(), toward),
            _ => Ok(Self::default()),
        }
    }

    fn of_findings(name: &str, host: Location) -> Result<Self, Failure> {
        let findings = Findings::parse(&text_of(name)?)
            .with_context(|| name.to_owned())
            .map_err(|e| Failure::new(code::USE, e))?;
        let remedies = tune::settings_of(&findings, host);
        for not in &remedies.not {
            format::say(format_args!("not changed: {not}"));
        }
        Ok(Self {
            settings: remedies.settings,
            line: capacity(findings.capacity, host),
            predicted: Vec::new(),
        })
    }

    /// The remedies that an Advice has for this end, with the devices on the route to the other.
    fn of_advice(name: &str, host: Location, toward: IpAddr) -> Result<Self, Failure> {
        let advice = Advice::parse(&text_of(name)?)
            .with_context(|| name.to_owned())
            .map_err(|e| Failure::new(code::USE, e))?;
        let Some(best) = advice.advised() else {
            format::say(format_args!("the advice is to change nothing"));
            return Ok(Self::default());
        };
        let found = remedies_of_host(&best.remedies, host, toward, toward)?;
        // The prediction is of all remedies together.
        let is_whole = found.not.is_empty() && best.remedies.iter().all(|r| r.on == host);
        Ok(Self {
            settings: found.settings,
            line: capacity(advice.capacity, host),
            predicted: match is_whole {
                true => best.changes.clone(),
                false => Vec::new(),
            },
        })
    }
}

/// What an end sends or receives; unknown of a router, whose place on the path is not known.
fn capacity(path: PathCapacity, host: Location) -> LineCapacity {
    host.side()
        .map_or_else(LineCapacity::default, |side| path.of_end(side))
}

/// The settings of a host for remedies. `line` is the other end's address on the path itself,
/// `toward` that of the connections.
#[cfg(feature = "lab")]
pub(crate) fn of_host(
    remedies: &[Remedy],
    host: Location,
    line: IpAddr,
    toward: IpAddr,
) -> Result<Wanted, Failure> {
    Ok(remedies_of_host(remedies, host, line, toward)?.settings)
}

/// The same with the remedies that are no settings, which are reported.
fn remedies_of_host(
    remedies: &[Remedy],
    host: Location,
    line: IpAddr,
    toward: IpAddr,
) -> Result<Remedies, Failure> {
    let mut live = Live::open().map_err(TuneError::from)?;
    let tunnel = (toward != line).then_some(toward);
    let place = Place::of(&mut live, Some(line), tunnel).map_err(TuneError::from)?;
    let found = tune::settings_of_all(remedies, host, &place);
    for not in &found.not {
        format::say(format_args!("not changed: {not}"));
    }
    Ok(found)
}

impl From<End> for Location {
    fn from(end: End) -> Self {
        match end {
            End::Near => Location::Near,
            End::Far => Location::Far,
            End::Router => Location::Router,
        }
    }
}

pub(super) fn text_of(name: &str) -> Result<Vec<u8>, Failure> {
    document::file(name)
        .unwrap_or_else(|| Err(Failure::new(code::USE, anyhow!("{name}: no such file"))))
}
