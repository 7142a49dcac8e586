//! Settings for remedies of findings and of an Advice.

use std::net::IpAddr;

use model::{
    cause::CauseCode,
    change::{CONGESTION_CONTROL, Origin, Queue, Setting, parse::offload},
    facts::HostFacts,
    findings::Findings,
    net::Side,
    prefix::Prefix,
    remedy::{Action, CcScope, Flow, LimitKind, Remedy},
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

/// Reason why an action is not a setting of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoSetting {
    /// It names no device, and there is none on the route.
    Device,
    /// It names no size.
    Size,
    /// It names no rate.
    Rate,
    /// It names no number of processors.
    Processors,
    /// Programs set it for their own sockets.
    OfPrograms,
    /// Nothing is changed.
    Nothing,
    /// A setting that `tune` lacks.
    NotYet,
    /// Not a setting.
    NotOfHost,
}

impl NoSetting {
    fn text(self) -> Text {
        match self {
            Self::Device => text!("its device is not known"),
            Self::Size => text!("its size is not known"),
            Self::Rate => text!("its rate is not known"),
            Self::Processors => text!("the number of processors is not known"),
            Self::OfPrograms => text!("a program sets it for its own sockets"),
            Self::Nothing => text!("there is nothing to do"),
            Self::NotYet => text!("tune does not change this yet"),
            Self::NotOfHost => text!("it is no setting of a host"),
        }
    }
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
    /// The devices of this host on the routes to the other end: to its address on the path itself,
    /// and to that in the tunnel.
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

    fn device(&self, action: &Action) -> Option<String> {
        let open = match action {
            Action::TunnelMtu { .. } => &self.tunnel,
            _ => &self.line,
        };
        action.device().map(str::to_owned).or_else(|| open.clone())
    }
}

/// The settings of one end for remedies that belong together, as those of an Advice.
pub fn settings_of_all(remedies: &[Remedy], side: Side, place: &Place) -> Remedies {
    let mut all = Remedies::default();
    for remedy in remedies.iter().filter(|r| r.on.side() == Some(side)) {
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

/// The settings of one end for the findings of a Run: of each finding the first remedy, which is
/// the most effective, if it belongs to that end.
pub fn settings_of(findings: &Findings, side: Side) -> Remedies {
    let mut all = Remedies::default();
    for finding in &findings.findings {
        for remedy in &finding.remedies {
            if remedy.on.side() != Some(side) {
                all.not.push(text!(
                    "{code}: {remedy} belongs to the {host}, not to this host",
                    code = &finding.code,
                    remedy = remedy.sentence(),
                    host = remedy.on
                ));
                continue;
            }
            match settings(&remedy.action, &Place::default()) {
                Ok(settings) => {
                    for setting in settings {
                        add(&mut all, setting, &finding.code, side);
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

/// The first finding that proposes a value for a place wins: findings are in order of importance.
fn add(all: &mut Remedies, setting: Setting, code: &CauseCode, side: Side) {
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
    let origin = Origin {
        finding: code.clone(),
        side,
    };
    all.settings.push((setting, Some(origin)));
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

/// The settings of an action, or why it has none.
fn settings(action: &Action, place: &Place) -> Result<Vec<Setting>, NoSetting> {
    let device = || place.device(action).ok_or(NoSetting::Device);
    let route = |to, cc: &String| Setting::RouteCongestionControl {
        to: Prefix::host(to),
        table: None,
        cc: cc.clone(),
    };
    let one = |setting| Ok(vec![setting]);
    match action {
        Action::CongestionControl { cc, scope } => match scope {
            CcScope::Host => one(parameter(CONGESTION_CONTROL, cc)),
            CcScope::Route(to) => one(route(to.toward, cc)),
            CcScope::Socket => match place.toward {
                Some(toward) => one(route(toward, cc)),
                None => Err(NoSetting::OfPrograms),
            },
        },
        Action::Queue { queue, .. } => one(Setting::Queue {
            device: device()?,
            queue: (*queue).into(),
        }),
        Action::Shaper { .. } => Ok(vec![shaper(action, device()?)?]),
        Action::QueueLimit { limit, packets, .. } => match limit {
            LimitKind::Backlog => one(parameter(
                "net.core.netdev_max_backlog",
                &packets.to_string(),
            )),
            LimitKind::FqFlow => one(Setting::Queue {
                device: device()?,
                queue: Queue::Fq(model::change::Fq {
                    flow_limit_packets: Some(*packets),
                    limit_packets: None,
                }),
            }),
            LimitKind::DeviceQueue => one(Setting::QueueLength {
                device: device()?,
                packets: *packets,
            }),
            LimitKind::ReceiveRing => one(Setting::Rings {
                device: device()?,
                rx: Some(*packets),
                tx: None,
            }),
        },
        Action::SocketBuffer {
            buffer,
            keep,
            max_bytes,
        } => {
            let max = max_bytes.ok_or(NoSetting::Size)?;
            let [min, default] = keep.unwrap_or(buffer.defaults());
            one(parameter(
                buffer.sysctl(),
                &format!("{min} {default} {max}"),
            ))
        }
        Action::UdpBuffer { bytes } => Ok(["rmem_max", "wmem_max", "rmem_default", "wmem_default"]
            .iter()
            .map(|name| parameter(&format!("net.core.{name}"), &bytes.to_string()))
            .collect()),
        Action::TunnelMtu { bytes, .. } => one(Setting::Mtu {
            device: device()?,
            bytes: bytes.ok_or(NoSetting::Size)?,
        }),
        Action::LinkMtu { bytes, .. } => one(Setting::Mtu {
            device: device()?,
            bytes: *bytes,
        }),
        Action::MtuProbing => one(parameter("net.ipv4.tcp_mtu_probing", "1")),
        Action::Ecn { on } => one(parameter("net.ipv4.tcp_ecn", if *on { "1" } else { "2" })),
        Action::NotsentLowat { bytes } => {
            one(parameter("net.ipv4.tcp_notsent_lowat", &bytes.to_string()))
        }
        Action::Sysctl { name, value } => one(parameter(name, value)),
        Action::Keep => Err(NoSetting::Nothing),
        Action::MssClamp { bytes } => one(Setting::MssClamp {
            bytes: bytes.and_then(|bytes| u16::try_from(bytes).ok()),
        }),
        Action::Offload { feature, on, .. } => one(Setting::Offload {
            device: device()?,
            feature: offload(feature).to_owned(),
            on: *on,
        }),
        Action::ReceiveSteering { cpus, .. } => one(Setting::ReceiveSteering {
            device: device()?,
            cpus: cpus.ok_or(NoSetting::Processors)?,
        }),
        Action::DeviceQueues { count, .. } => one(Setting::Channels {
            device: device()?,
            rx: None,
            tx: None,
            combined: Some(*count),
        }),
        Action::RemoveShaper { .. } => Err(NoSetting::NotYet),
        Action::FreeBuffer { .. }
        | Action::Relieve { .. }
        | Action::Tunnel { .. }
        | Action::MoreFlows { .. }
        | Action::FeedSender
        | Action::KeepOrder
        | Action::Radio
        | Action::AskProvider { .. }
        | Action::Measure { .. }
        | Action::FreeText { .. } => Err(NoSetting::NotOfHost),
    }
}

/// An egress or ingress shaper of the device.
fn shaper(action: &Action, device: String) -> Result<Setting, NoSetting> {
    let Action::Shaper {
        rate_bps,
        queue,
        flow,
        ..
    } = action
    else {
        return Err(NoSetting::NotOfHost);
    };
    let mut queue = Queue::shaper(rate_bps.ok_or(NoSetting::Rate)?, *queue);
    if let (Queue::Cake(cake), Flow::Ingress) = (&mut queue, flow) {
        cake.ingress = Some(true);
    }
    Ok(match flow {
        Flow::Egress => Setting::Queue { device, queue },
        Flow::Ingress => Setting::Ingress { device, queue },
    })
}

fn parameter(name: &str, value: &str) -> Setting {
    Setting::Sysctl {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}
