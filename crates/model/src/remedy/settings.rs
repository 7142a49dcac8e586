//! Settings of a host for remedies: the only table from an action to the kernel, of which `tune`
//! applies the settings and [`commands`](super::commands) prints their commands.

use std::net::IpAddr;

use super::{Action, Buffer, CcScope, Discipline, Flow, LimitKind};
use crate::{
    change::{CONGESTION_CONTROL, Fq, Queue, Setting, parse::offload},
    prefix::Prefix,
    text,
    text::Text,
};

/// Reason why an action is not a setting of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSetting {
    /// It names no device, and the host has none for it.
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
    /// Not a setting.
    NotOfHost,
}

impl NoSetting {
    /// The reason, for a report in any language.
    pub fn text(self) -> Text {
        match self {
            Self::Device => text!("its device is not known"),
            Self::Size => text!("its size is not known"),
            Self::Rate => text!("its rate is not known"),
            Self::Processors => text!("the number of processors is not known"),
            Self::OfPrograms => text!("a program sets it for its own sockets"),
            Self::Nothing => text!("there is nothing to do"),
            Self::NotOfHost => text!("it is no setting of a host"),
        }
    }
}

impl Action {
    /// The settings of a host for this action, in order. `open` is the device if the action names
    /// none; `toward` is the other end, for settings of a single socket.
    ///
    /// # Errors
    /// It is no setting of a host, or a value of it is unknown.
    pub fn settings(
        &self,
        open: Option<&str>,
        toward: Option<IpAddr>,
    ) -> Result<Vec<Setting>, NoSetting> {
        let one = |setting| Ok(vec![setting]);
        match self {
            Self::CongestionControl { cc, scope } => one(congestion(cc, scope, toward)?),
            Self::SocketBuffer {
                buffer,
                keep,
                max_bytes,
            } => {
                let max = max_bytes.ok_or(NoSetting::Size)?;
                one(socket_buffer(*buffer, *keep, &max.to_string()))
            }
            Self::UdpBuffer { bytes } => Ok(udp_buffers(*bytes)),
            Self::MtuProbing => one(parameter("net.ipv4.tcp_mtu_probing", "1")),
            // 1 also requests ECN, 2 only accepts it (Documentation/networking/ip-sysctl.rst,
            // Linux 6.12).
            Self::Ecn { on } => one(parameter("net.ipv4.tcp_ecn", if *on { "1" } else { "2" })),
            Self::NotsentLowat { bytes } => {
                one(parameter("net.ipv4.tcp_notsent_lowat", &bytes.to_string()))
            }
            Self::QueueLimit {
                limit: LimitKind::Backlog,
                packets,
                ..
            } => one(parameter(
                "net.core.netdev_max_backlog",
                &packets.to_string(),
            )),
            Self::Sysctl { name, value } => one(parameter(name, value)),
            Self::MssClamp { bytes } => one(Setting::MssClamp {
                bytes: bytes.and_then(|bytes| u16::try_from(bytes).ok()),
            }),
            Self::Queue { .. }
            | Self::Shaper { .. }
            | Self::RemoveShaper { .. }
            | Self::QueueLimit { .. }
            | Self::TunnelMtu { .. }
            | Self::LinkMtu { .. }
            | Self::Offload { .. }
            | Self::ReceiveSteering { .. }
            | Self::DeviceQueues { .. } => {
                let device = self.device().or(open).ok_or(NoSetting::Device)?;
                one(self.of_device(device.to_owned())?)
            }
            Self::Keep => Err(NoSetting::Nothing),
            Self::FreeBuffer { .. }
            | Self::Relieve { .. }
            | Self::Tunnel { .. }
            | Self::MoreFlows { .. }
            | Self::FeedSender
            | Self::KeepOrder
            | Self::Radio
            | Self::AskProvider { .. }
            | Self::Measure { .. }
            | Self::FreeText { .. } => Err(NoSetting::NotOfHost),
        }
    }

    /// The setting of a device.
    fn of_device(&self, device: String) -> Result<Setting, NoSetting> {
        Ok(match self {
            Self::Queue { queue, .. } => Setting::Queue {
                device,
                queue: (*queue).into(),
            },
            // The device's own default may be a plain queue, as on a veth pair.
            Self::RemoveShaper { .. } => Setting::Queue {
                device,
                queue: Discipline::FqCodel.into(),
            },
            Self::Shaper {
                rate_bps,
                queue,
                flow,
                ..
            } => {
                let queue = Queue::shaper(rate_bps.ok_or(NoSetting::Rate)?, *queue);
                shaper(device, queue, *flow)
            }
            Self::QueueLimit { limit, packets, .. } => queue_limit(device, *limit, *packets)?,
            Self::TunnelMtu { bytes, .. } => Setting::Mtu {
                device,
                bytes: bytes.ok_or(NoSetting::Size)?,
            },
            Self::LinkMtu { bytes, .. } => Setting::Mtu {
                device,
                bytes: *bytes,
            },
            Self::Offload { feature, on, .. } => Setting::Offload {
                device,
                feature: offload(feature).to_owned(),
                on: *on,
            },
            Self::ReceiveSteering { cpus, .. } => Setting::ReceiveSteering {
                device,
                cpus: cpus.ok_or(NoSetting::Processors)?,
            },
            Self::DeviceQueues { count, .. } => Setting::Channels {
                device,
                rx: None,
                tx: None,
                combined: Some(*count),
            },
            _ => return Err(NoSetting::NotOfHost),
        })
    }
}

fn congestion(cc: &str, scope: &CcScope, toward: Option<IpAddr>) -> Result<Setting, NoSetting> {
    let to = match scope {
        CcScope::Host => return Ok(parameter(CONGESTION_CONTROL, cc)),
        CcScope::Route(to) => to.toward,
        CcScope::Socket => toward.ok_or(NoSetting::OfPrograms)?,
    };
    Ok(Setting::RouteCongestionControl {
        to: Prefix::host(to),
        table: None,
        cc: cc.to_owned(),
    })
}

/// The limits of a TCP buffer: minimum and default are kept.
pub(super) fn socket_buffer(buffer: Buffer, keep: Option<[u64; 2]>, max: &str) -> Setting {
    let [min, default] = keep.unwrap_or(buffer.defaults());
    parameter(buffer.sysctl(), &format!("{min} {default} {max}"))
}

/// Defaults and maxima, in both directions (Documentation/admin-guide/sysctl/net.rst, Linux 6.12).
fn udp_buffers(bytes: u64) -> Vec<Setting> {
    ["rmem_max", "wmem_max", "rmem_default", "wmem_default"]
        .map(|name| parameter(&format!("net.core.{name}"), &bytes.to_string()))
        .into()
}

/// An egress or ingress shaper of the device.
fn shaper(device: String, mut queue: Queue, flow: Flow) -> Setting {
    if let (Queue::Cake(cake), Flow::Ingress) = (&mut queue, flow) {
        cake.ingress = Some(true);
    }
    match flow {
        Flow::Egress => Setting::Queue { device, queue },
        Flow::Ingress => Setting::Ingress { device, queue },
    }
}

fn queue_limit(device: String, limit: LimitKind, packets: u32) -> Result<Setting, NoSetting> {
    Ok(match limit {
        LimitKind::FqFlow => Setting::Queue {
            device,
            queue: Queue::Fq(Fq {
                flow_limit_packets: Some(packets),
                limit_packets: None,
            }),
        },
        LimitKind::DeviceQueue => Setting::QueueLength { device, packets },
        LimitKind::ReceiveRing => Setting::Rings {
            device,
            rx: Some(packets),
            tx: None,
        },
        // Of the host, not of a device.
        LimitKind::Backlog => return Err(NoSetting::NotOfHost),
    })
}

fn parameter(name: &str, value: &str) -> Setting {
    Setting::Sysctl {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}
