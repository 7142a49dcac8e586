//! Settings for remedies of findings and of an Advice.

use std::net::IpAddr;

use model::{
    cause::CauseCode,
    change::{Origin, Setting},
    facts::HostFacts,
    findings::Findings,
    remedy::{Action, Location, NoSetting, Remedy, RemedyClass},
    text,
    text::Text,
};

use crate::{error::HostError, live::Live};

/// Remedies of some findings that can be applied, and those that cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remedies {
    /// Settings of the end, with the finding that proposes each.
    pub settings: Vec<(Setting, Option<Origin>)>,
    /// Remedies left to the user, with the reason.
    pub not: Vec<Text>,
}

/// Facts of a host that remedies leave open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// The device on the route to the other end.
    pub line: Option<String>,
    /// The tunnel's device, if there is one.
    pub tunnel: Option<String>,
    /// The other end: settings for a single socket are applied to connections to it.
    pub toward: Option<IpAddr>,
}

impl Place {
    /// The devices of this host on the routes to the other end: to its address on the underlay, and
    /// to its address in the tunnel.
    ///
    /// # Errors
    /// There is no route to it.
    pub fn of(
        host: &mut Live,
        line: Option<IpAddr>,
        tunnel: Option<IpAddr>,
    ) -> Result<Self, HostError> {
        let mut device = |to: Option<IpAddr>| to.map(|to| host.device_toward(to)).transpose();
        Ok(Self {
            line: device(line)?,
            tunnel: device(tunnel)?,
            toward: tunnel.or(line),
        })
    }

    /// The same for another host, from its reported facts.
    pub fn of_facts(facts: &HostFacts, toward: IpAddr) -> Self {
        let layers = facts.path.iter().flat_map(|path| &path.layers);
        // Each tunnel adds a layer: the last one is the line.
        let mut devices = layers.filter_map(|layer| Some(layer.devices.first()?.name.clone()));
        let first = devices.next();
        let last = devices.next_back();
        Self {
            tunnel: last.is_some().then(|| first.clone()).flatten(),
            line: last.or(first),
            toward: Some(toward),
        }
    }

    /// The device of an action that names none.
    fn open(&self, action: &Action) -> Option<&str> {
        match action {
            Action::TunnelMtu { .. } => self.tunnel.as_deref(),
            _ => self.line.as_deref(),
        }
    }
}

/// The settings of one host for a group of remedies, such as those of an Advice.
pub fn settings_of_all(remedies: &[Remedy], host: impl Into<Location>, place: &Place) -> Remedies {
    let host = host.into();
    let mut all = Remedies::default();
    for remedy in remedies.iter().filter(|r| r.on == host) {
        match settings(&remedy.action, place) {
            Ok(settings) => all.settings.extend(settings.into_iter().map(|s| (s, None))),
            Err(why) => all.not.push(text!(
                "{remedy} ({why})",
                remedy = remedy.sentence(),
                why = why.text()
            )),
        }
    }
    all
}

/// The settings of one host for the findings of a Run: of each finding the first remedy, which is
/// the most effective, if it belongs to that host.
pub fn settings_of(findings: &Findings, host: Location) -> Remedies {
    let mut all = Remedies::default();
    for finding in &findings.findings {
        for remedy in &finding.remedies {
            if remedy.on != host {
                all.not.push(belongs_elsewhere(&finding.code, remedy, host));
                continue;
            }
            match settings(&remedy.action, &Place::default()) {
                Ok(settings) => {
                    for setting in settings {
                        add(&mut all, setting, &finding.code, host);
                    }
                    break;
                }
                Err(why) => {
                    all.not.push(text!(
                        "{code}: {remedy} ({why})",
                        code = &finding.code,
                        remedy = remedy.sentence(),
                        why = why.text()
                    ));
                }
            }
        }
    }
    all
}

/// The reason why a remedy is not for `this` host.
fn belongs_elsewhere(code: &CauseCode, remedy: &Remedy, this: Location) -> Text {
    let is_forwarded_only = this == Location::Router
        && remedy.on.side().is_some()
        && remedy.class() == RemedyClass::CongestionControl;
    if remedy.on == Location::Elsewhere {
        return text!(
            "{code}: {remedy} is not a setting of one host of the path",
            code = code,
            remedy = remedy.sentence()
        );
    }
    match is_forwarded_only {
        true => text!(
            "{code}: {remedy} belongs to the {host}: connections use the congestion control of the \
             host that sends, never that of a router that forwards them",
            code = code,
            remedy = remedy.sentence(),
            host = remedy.on
        ),
        false => text!(
            "{code}: {remedy} belongs to the {host}, not to this host",
            code = code,
            remedy = remedy.sentence(),
            host = remedy.on
        ),
    }
}

/// The first finding that proposes a value for a place wins: findings are in order of importance.
fn add(all: &mut Remedies, setting: Setting, code: &CauseCode, host: Location) {
    if let Some((held, _)) = all.settings.iter().find(|(s, _)| s.is_same_place(&setting)) {
        if *held != setting {
            all.not.push(text!(
                "{code}: {setting} (a more important finding has {held})",
                code = code,
                setting = &setting,
                held = held
            ));
        }
        return;
    }
    let origin = host.side().map(|side| Origin {
        finding: code.clone(),
        side,
    });
    all.settings.push((setting, origin));
}

/// Returns true if an action is a change of a host's settings that can be made, if its device is
/// known.
pub(crate) fn is_a_setting(action: &Action) -> bool {
    let anywhere = Place {
        line: Some("line".to_owned()),
        tunnel: Some("tunnel".to_owned()),
        toward: Some(IpAddr::from([127, 0, 0, 1])),
    };
    settings(action, &anywhere).is_ok()
}

/// The settings of an action, or the reason why it has none.
fn settings(action: &Action, place: &Place) -> Result<Vec<Setting>, NoSetting> {
    action.settings(place.open(action), place.toward)
}
