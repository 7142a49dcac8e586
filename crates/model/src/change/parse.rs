//! Settings as text: `cc=bbr`, `net.ipv4.tcp_ecn=1`, `eth0=fq_codel target=5ms`.

use super::{CONGESTION_CONTROL, Queue, Setting, SettingError, Shaper, device::of_device};
use crate::{capacity::LineCapacity, cell::is_cc, prefix::Prefix, remedy::Flow};

/// Maximum length of a value of a kernel parameter, bytes.
const LONGEST_VALUE: usize = 256;

/// Sockets to which a congestion control applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All new sockets of the host.
    Host,
    /// Sockets connected to a prefix.
    Route(Prefix),
}

impl std::str::FromStr for Scope {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        match text.split_once(':') {
            None if text == "host" => Ok(Self::Host),
            Some(("route", prefix)) => prefix
                .parse()
                .map(|prefix: Prefix| Self::Route(prefix.network()))
                .map_err(SettingError::from),
            _ => Err(SettingError::Scope(text.to_owned())),
        }
    }
}

impl Setting {
    /// Reads `cc=NAME`, whose sockets `scope` selects, or `PARAMETER=VALUE`.
    ///
    /// # Errors
    /// The text has another form, or a name is invalid.
    pub fn parse_set(text: &str, scope: Scope) -> Result<Self, SettingError> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| SettingError::NoValue(text.to_owned()))?;
        let value = value.trim();
        if name == "cc" {
            return congestion_control(value, scope);
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-/".contains(&b);
        if !name.contains('.') || !name.bytes().all(plain) {
            return Err(SettingError::Parameter(name.to_owned()));
        }
        let printable = value.bytes().all(|b| (b' '..=b'~').contains(&b));
        if value.is_empty() || value.len() > LONGEST_VALUE || !printable {
            return Err(SettingError::Value(name.to_owned()));
        }
        Ok(Self::Sysctl {
            name: name.to_owned(),
            value: value.split_whitespace().collect::<Vec<_>>().join(" "),
        })
    }

    /// Reads `DEVICE=DISCIPLINE [option=value …]`.
    ///
    /// # Errors
    /// The text has another form, or the discipline or an option is unknown.
    pub fn parse_queue(text: &str) -> Result<Self, SettingError> {
        let (device, queue) = of_device(text)?;
        let queue: Queue = queue.parse()?;
        Ok(Self::Queue { device, queue })
    }

    /// Reads `DEVICE=RATE [DISCIPLINE]`: an egress shaper of the device; cake if no discipline is
    /// named.
    ///
    /// # Errors
    /// The text has another form, or a share as its rate.
    pub fn parse_shape(text: &str) -> Result<Self, SettingError> {
        let shaper: Shaper = text.parse()?;
        shaper.setting(Flow::Egress, LineCapacity::default())
    }

    /// Reads `DEVICE=RATE [DISCIPLINE]`: an ingress shaper of the device.
    ///
    /// # Errors
    /// The text has another form, or a share as its rate.
    pub fn parse_shape_ingress(text: &str) -> Result<Self, SettingError> {
        let shaper: Shaper = text.parse()?;
        shaper.setting(Flow::Ingress, LineCapacity::default())
    }

    /// Reads `mtu` or a number of bytes.
    ///
    /// # Errors
    /// The text has another form, or the number is not a valid MSS.
    pub fn parse_mss_clamp(text: &str) -> Result<Self, SettingError> {
        if text == "mtu" {
            return Ok(Self::MssClamp { bytes: None });
        }
        // Minimum packet size of every IPv4 host (RFC 791), less 40 bytes of headers.
        let bytes = text.parse().ok().filter(|bytes| *bytes >= 536_u16);
        let wrong = || SettingError::MssClamp(text.to_owned());
        let bytes = Some(bytes.ok_or_else(wrong)?);
        Ok(Self::MssClamp { bytes })
    }

    /// Reads `DEVICE=FEATURE on` or `off`: a name of the kernel, or gro, gso, tso, lro.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse_offload(text: &str) -> Result<Self, SettingError> {
        let (device, rest) = of_device(text)?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [feature, state @ ("on" | "off")] = words[..] else {
            return Err(SettingError::Offload(text.to_owned()));
        };
        Ok(Self::Offload {
            device,
            feature: offload(feature).to_owned(),
            on: state == "on",
        })
    }

    /// Reads `DEVICE=PROCESSORS`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse_receive_steering(text: &str) -> Result<Self, SettingError> {
        let (device, cpus) = of_device(text)?;
        let cpus = number(cpus)?;
        match cpus {
            0..=8192 => Ok(Self::ReceiveSteering { device, cpus }),
            _ => Err(SettingError::Processors(cpus)),
        }
    }

    /// Reads `DEVICE=PROCESSORS`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse_transmit_steering(text: &str) -> Result<Self, SettingError> {
        match Self::parse_receive_steering(text)? {
            Self::ReceiveSteering { device, cpus } => Ok(Self::TransmitSteering { device, cpus }),
            other => Ok(other),
        }
    }

    /// Reads `DEVICE=rx=N tx=N`, or one of both.
    ///
    /// # Errors
    /// The text has another form; a ring without a place.
    pub fn parse_rings(text: &str) -> Result<Self, SettingError> {
        let wrong = || SettingError::Rings(text.to_owned());
        let (device, rest) = of_device(text)?;
        let [rx, tx] = amounts(rest, ["rx", "tx"]).ok_or_else(wrong)?;
        match [rx, tx].contains(&Some(0)) {
            true => Err(wrong()),
            false => Ok(Self::Rings { device, rx, tx }),
        }
    }

    /// Reads `DEVICE=combined=N`, or `rx=N tx=N`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse_channels(text: &str) -> Result<Self, SettingError> {
        let (device, rest) = of_device(text)?;
        let [rx, tx, combined] = amounts(rest, ["rx", "tx", "combined"])
            .ok_or_else(|| SettingError::Channels(text.to_owned()))?;
        Ok(Self::Channels {
            device,
            rx,
            tx,
            combined,
        })
    }

    /// Reads the name of a module; the kernel writes all of them with underscores.
    ///
    /// # Errors
    /// The text is not a valid module name.
    pub fn parse_module(text: &str) -> Result<Self, SettingError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
        // MODULE_NAME_LEN (include/linux/moduleparam.h, Linux 6.18) on 64-bit machines.
        if text.is_empty() || text.len() > 55 || text.starts_with('-') || !text.bytes().all(plain) {
            return Err(SettingError::Module(text.to_owned()));
        }
        let name = text.replace('-', "_");
        Ok(Self::Module { name })
    }

    /// Reads `DEVICE=on` or `off`: whether received UDP packets that the host forwards are
    /// aggregated. Aggregation by lists would take precedence, so it is turned off
    /// (net/ipv4/udp_offload.c: `udp_gro_receive`, Linux 6.18).
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse_udp_gro_forwarding(text: &str) -> Result<Vec<Self>, SettingError> {
        let (device, state) = of_device(text)?;
        let offload = |feature: &str, on| Self::Offload {
            device: device.clone(),
            feature: feature.to_owned(),
            on,
        };
        match state.trim() {
            "on" => Ok(vec![
                offload("rx-gro-list", false),
                offload("rx-udp-gro-forwarding", true),
            ]),
            "off" => Ok(vec![offload("rx-udp-gro-forwarding", false)]),
            _ => Err(SettingError::OfDevice(text.to_owned())),
        }
    }

    /// Reads `DEVICE=BYTES`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse_mtu(text: &str) -> Result<Self, SettingError> {
        let (device, bytes) = of_device(text)?;
        let bytes = number(bytes)?;
        Ok(Self::Mtu { device, bytes })
    }

    /// Reads `DEVICE=PACKETS`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse_queue_length(text: &str) -> Result<Self, SettingError> {
        let (device, packets) = of_device(text)?;
        let packets = number(packets)?;
        Ok(Self::QueueLength { device, packets })
    }
}

fn congestion_control(name: &str, scope: Scope) -> Result<Setting, SettingError> {
    if !is_cc(name) {
        return Err(SettingError::CongestionControl(name.to_owned()));
    }
    let cc = name.to_owned();
    Ok(match scope {
        Scope::Host => Setting::Sysctl {
            name: CONGESTION_CONTROL.to_owned(),
            value: cc,
        },
        Scope::Route(to) => Setting::RouteCongestionControl {
            to,
            table: None,
            cc,
        },
    })
}

/// The kernel's name of an offload for one of `ethtool` (net/ethtool/common.c, Linux 6.18).
pub fn offload(name: &str) -> &str {
    match name {
        "gro" | "generic-receive-offload" => "rx-gro",
        "gso" | "generic-segmentation-offload" => "tx-generic-segmentation",
        "tso" | "tcp-segmentation-offload" => "tx-tcp-segmentation",
        "lro" | "large-receive-offload" => "rx-lro",
        kernel => kernel,
    }
}

/// `name=N` words, each name at most once and at least one of them.
fn amounts<const N: usize>(text: &str, names: [&str; N]) -> Option<[Option<u32>; N]> {
    let mut all = [None; N];
    for word in text.split_whitespace() {
        let (name, value) = word.split_once('=')?;
        let at = names.iter().position(|known| *known == name)?;
        if all[at].replace(value.parse().ok()?).is_some() {
            return None;
        }
    }
    all.iter().any(Option::is_some).then_some(all)
}

fn number(text: &str) -> Result<u32, SettingError> {
    text.trim()
        .parse()
        .map_err(|_| SettingError::Number(text.to_owned()))
}
