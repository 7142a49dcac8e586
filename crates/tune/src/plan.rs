//! Settings to a planned Change: old values, refusals, warnings. Nothing is written.

use model::{
    change::{CHANGE_SCHEMA, Change, ChangeId, Origin, Setting, State, Step},
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
    /// Targets, as `host:port`, to which new TCP connections must succeed before and after.
    pub probes: Vec<String>,
    /// Version of the program.
    pub program: String,
    /// The time by this host's clock, seconds since 1970; absent = it has none. For people only:
    /// it may be wrong.
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
    let mut warnings = Vec::new();
    let mut steps = Vec::new();
    for (setting, origin) in &request.settings {
        match step(host, setting, origin.clone(), &mut warnings) {
            Ok(step) => steps.extend(step),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if !refusals.is_empty() {
        return Err(TuneError::Refused(refusals));
    }
    order(&mut steps);
    Ok(Change {
        schema: CHANGE_SCHEMA,
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
    if holds(setting, &old) && !is_queue(setting) {
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

/// A queue of the same kind may have other options, which are not compared.
fn is_queue(setting: &Setting) -> bool {
    matches!(setting, Setting::Queue { .. })
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

/// The default queue discipline comes last, so that it is undone first: a queue that goes back to
/// the kernel's default would otherwise get the new one.
fn order(steps: &mut [Step]) {
    let is_default = |step: &Step| matches!(&step.setting, Setting::Sysctl { name, .. } if name == "net.core.default_qdisc");
    steps.sort_by_key(is_default);
}
