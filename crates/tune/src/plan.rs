//! Planning of a Change from settings: old values, refusals, warnings. Nothing is written.

use model::{
    capacity::LineCapacity,
    change::{Change, ChangeId, Origin, Saved, Setting, State, Step},
    remedy::Flow,
    text,
    text::Text,
};

use crate::{
    error::{Refusal, RefusalReason, TuneError},
    holds::holds,
    host::Host,
};

/// Request for a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The settings in the order in which they are applied, with their origin.
    pub settings: Vec<(Setting, Option<Origin>)>,
    /// Measured capacity of this host's line.
    pub line: LineCapacity,
    /// True to allow shapers far below that.
    pub force: bool,
    /// Targets, as [`Prober`](crate::Prober) takes them, to which new connections must succeed
    /// before and after.
    pub probes: Vec<String>,
    /// Version of the program.
    pub program: String,
    /// The time by this host's clock, seconds since 1970; absent = unknown. For display only: it
    /// may be wrong.
    pub created_unix_s: Option<u64>,
}

/// Reads the old values of settings and checks that each can be set and undone. Settings that hold
/// already become no step.
///
/// # Errors
/// [`TuneError::Refused`] with every setting that cannot be changed, and why; the host cannot be
/// examined.
pub fn plan(host: &mut dyn Host, request: &Request, id: ChangeId) -> Result<Change, TuneError> {
    let mut refusals = contradictions(&request.settings);
    if !request.force {
        let settings = request.settings.iter().map(|(setting, _)| setting);
        refusals.extend(settings.filter_map(|setting| starves(setting, request.line)));
    }
    let mut warnings = Vec::new();
    let mut steps = Vec::new();
    for (setting, origin) in &with_modules(host, &request.settings) {
        match step(host, setting, origin.clone(), &mut warnings) {
            Ok(step) => steps.extend(step),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if !refusals.is_empty() {
        return Err(TuneError::Refused(refusals));
    }
    order(&mut steps);
    if request.probes.is_empty() && steps.iter().any(is_larger_mtu) {
        warnings.push(text!(
            "a larger MTU may lose large packets while small ones pass: name a host with --probe, \
             so that a new connection sends a large one"
        ));
    }
    Ok(Change {
        schema: State::Planned.schema(),
        program: request.program.clone(),
        id,
        state: State::Planned,
        scope: host.scope()?,
        created_unix_s: request.created_unix_s,
        controller: None,
        keeper: None,
        deadline_boottime_ns: None,
        probes: request.probes.clone(),
        steps,
        files: Vec::new(),
        warnings,
        events: Vec::new(),
        aside: false,
        undone_because: None,
    })
}

fn step(
    host: &mut dyn Host,
    setting: &Setting,
    origin: Option<Origin>,
    warnings: &mut Vec<Text>,
) -> Result<Option<Step>, Refusal> {
    let unreadable = |error| Refusal::unreadable(setting, error);
    let link = match setting.device() {
        None => None,
        Some(device) => match host.link(device).map_err(unreadable)? {
            Some(link) => Some(link),
            None => {
                let reason = RefusalReason::NoDevice(device.to_owned());
                return Err(Refusal::new(setting, reason));
            }
        },
    };
    let old = host.read(setting).map_err(unreadable)?;
    let found = host.check(setting, &old)?;
    if holds(setting, &old) && !may_differ(setting, &old) {
        warnings.push(text!(
            "{setting} is already in effect; nothing to do",
            setting = setting
        ));
        return Ok(None);
    }
    warnings.extend(found);
    if let Some(capability) = host.lacks(setting) {
        warnings.push(text!(
            "{setting} needs {capability}, which this user lacks",
            setting = setting,
            capability = capability
        ));
    }
    Ok(Some(Step {
        setting: setting.clone(),
        old,
        new: None,
        link,
        origin,
    }))
}

fn is_larger_mtu(step: &Step) -> bool {
    match (&step.setting, &step.old) {
        (Setting::Mtu { bytes, .. }, Saved::Mtu { bytes: old, .. }) => bytes > old,
        _ => false,
    }
}

/// A queue of the same kind may have other options, which are not compared; a ring may be larger
/// than requested without having been rounded up.
fn may_differ(setting: &Setting, old: &Saved) -> bool {
    match (setting, old) {
        (Setting::Queue { .. }, _) => true,
        (Setting::Rings { rx, tx, .. }, Saved::Rings { rx: a, tx: b }) => {
            rx.is_some_and(|rx| rx != *a) || tx.is_some_and(|tx| tx != *b)
        }
        _ => false,
    }
}

type Wanted = Vec<(Setting, Option<Origin>)>;

/// The settings, preceded by the modules that they need: loading one is a separate step, so that it
/// is undone, too.
fn with_modules(host: &mut dyn Host, settings: &Wanted) -> Wanted {
    let mut all = Wanted::new();
    for (setting, origin) in settings {
        if let Some(name) = host.module(setting) {
            let module = Setting::Module { name };
            let is_given = |(s, _): &(Setting, _)| *s == module;
            if !all.iter().chain(settings).any(is_given) {
                all.push((module, origin.clone()));
            }
        }
        all.push((setting.clone(), origin.clone()));
    }
    all
}

/// Two values for one place.
fn contradictions(settings: &[(Setting, Option<Origin>)]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (n, (setting, _)) in settings.iter().enumerate() {
        if settings[..n].iter().any(|(s, _)| s.is_same_place(setting)) {
            refusals.push(Refusal::new(setting, RefusalReason::Twice));
        }
    }
    refusals
}

/// Least share of the measured capacity that a shaper leaves: below it, the unit is likely wrong,
/// and the sessions of the user starve with the rest.
const LEAST: f64 = 0.5;

/// Returns the refusal of a shaper far below the capacity of the line.
fn starves(setting: &Setting, line: LineCapacity) -> Option<Refusal> {
    let (queue, flow) = match setting {
        Setting::Queue { queue, .. } => (queue, Flow::Egress),
        Setting::Ingress { queue, .. } => (queue, Flow::Ingress),
        _ => return None,
    };
    let (rate_bps, measured_bps) = (queue.rate_bps()?, line.of(flow)?);
    let reason = RefusalReason::Starves {
        rate_bps,
        measured_bps: measured_bps as u64,
    };
    ((rate_bps as f64) < LEAST * measured_bps).then(|| Refusal::new(setting, reason))
}

/// The default queue discipline is last, so that it is undone first: a queue that returns to the
/// kernel's default would otherwise get the new one. Modules are first, as others need them; then
/// numbers of queues, so that all queues are configured, and restored only after each setting has
/// its old value.
fn order(steps: &mut [Step]) {
    steps.sort_by_key(|step| match &step.setting {
        Setting::Module { .. } => 0,
        Setting::Channels { .. } => 1,
        Setting::Sysctl { name, .. } if name == "net.core.default_qdisc" => 3,
        _ => 2,
    });
}
