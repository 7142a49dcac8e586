//! Settings as options of `tune`, for use on another host.

use super::{CONGESTION_CONTROL, Queue, Setting, setting::amounts};
use crate::remedy::shell::word;

impl Setting {
    /// The options of `tune plan` and `tune apply` that mean this setting, as words of a shell.
    pub fn options(&self) -> String {
        let of = |option: &str, device: &str, value: &str| {
            format!("--{option} {}", word(&format!("{device}={value}"), "value"))
        };
        match self {
            Self::Sysctl { name, value } => match name.as_str() {
                CONGESTION_CONTROL => of("set", "cc", value),
                name => of("set", name, value),
            },
            Self::RouteCongestionControl { to, cc, .. } => {
                format!("{} --scope route:{to}", of("set", "cc", cc))
            }
            Self::Queue { device, queue } => of("queue", device, &queue.to_string()),
            Self::Ingress { device, queue } => of("shape-ingress", device, &shaper(queue)),
            Self::MssClamp { bytes } => {
                let size = bytes.map_or_else(|| "mtu".to_owned(), |bytes| bytes.to_string());
                format!("--mss-clamp {size}")
            }
            Self::Offload {
                device,
                feature,
                on,
            } => {
                let state = if *on { "on" } else { "off" };
                of("offload", device, &format!("{feature} {state}"))
            }
            Self::ReceiveSteering { device, cpus } => {
                of("receive-steering", device, &cpus.to_string())
            }
            Self::TransmitSteering { device, cpus } => {
                of("transmit-steering", device, &cpus.to_string())
            }
            Self::Rings { device, rx, tx } => {
                of("rings", device, &amounts(&[("rx", *rx), ("tx", *tx)]))
            }
            Self::Channels {
                device,
                rx,
                tx,
                combined,
            } => {
                let counts = [("rx", *rx), ("tx", *tx), ("combined", *combined)];
                of("channels", device, &amounts(&counts))
            }
            Self::Module { name } => format!("--module {}", word(name, "module")),
            Self::Mtu { device, bytes } => of("mtu", device, &bytes.to_string()),
            Self::QueueLength { device, packets } => {
                of("queue-length", device, &packets.to_string())
            }
        }
    }
}

/// `RATE DISCIPLINE`.
fn shaper(queue: &Queue) -> String {
    let rate = queue.rate_bps().unwrap_or_default();
    let rate = crate::units::Rate::from_bps(rate);
    match queue {
        Queue::Htb(htb) => format!("{rate} {}", htb.queue.name()),
        queue => format!("{rate} {}", queue.name()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Splits a command line like a shell.
    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (n, part) in text.split('\'').enumerate() {
            match n % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    #[test]
    fn options_read_again_are_the_setting() {
        type Parse = fn(&str) -> Result<Setting, super::super::SettingError>;
        let all: [(&str, Parse, &str); 13] = [
            (
                "--set",
                |t| Setting::parse_set(t, super::super::parse::Scope::Host),
                "net.ipv4.tcp_rmem=4096 131072 6291456",
            ),
            (
                "--set",
                |t| Setting::parse_set(t, super::super::parse::Scope::Host),
                "cc=bbr",
            ),
            (
                "--queue",
                Setting::parse_queue,
                "eth0=cake bandwidth=19mbit rtt=50ms",
            ),
            (
                "--shape-ingress",
                Setting::parse_shape_ingress,
                "eth0=19500kbit cake",
            ),
            (
                "--shape-ingress",
                Setting::parse_shape_ingress,
                "eth0=20mbit fq_codel",
            ),
            ("--offload", Setting::parse_offload, "eth0=rx-gro off"),
            ("--mtu", Setting::parse_mtu, "wg0=1400"),
            ("--mss-clamp", Setting::parse_mss_clamp, "mtu"),
            (
                "--transmit-steering",
                Setting::parse_transmit_steering,
                "eth0=4",
            ),
            ("--rings", Setting::parse_rings, "eth0=rx=4096 tx=1024"),
            ("--rings", Setting::parse_rings, "eth0=tx=512"),
            ("--channels", Setting::parse_channels, "eth0=combined=4"),
            ("--module", Setting::parse_module, "tcp_bbr"),
        ];
        for (option, parse, text) in all {
            let setting = parse(text).unwrap();
            let words = words(&setting.options());
            assert_eq!(words[0], option);
            assert_eq!(parse(&words[1]).unwrap(), setting, "{words:?}");
        }
    }

    #[test]
    fn a_route_is_named_as_a_scope() {
        let scope = "route:10.0.0.0/8".parse().unwrap();
        let setting = Setting::parse_set("cc=bbr", scope).unwrap();
        assert_eq!(setting.options(), "--set 'cc=bbr' --scope route:10.0.0.0/8");
    }
}
