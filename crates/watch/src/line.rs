//! Traffic of others on the line, and whether it is metered, from the state of this host.

use std::{net::IpAddr, process::Command};

use analysis::flow;
use model::counter::growth;
use sys::{
    Netlink,
    link::{self, LinkCounters},
    route::{self, Query},
};

/// A line that carries less than this, bit/s, is quiet, at any rate.
const QUIET_BPS: f64 = 500_000.0;
/// Share of its rate above which it is busy: a tenth moves a goodput by a tenth.
const BUSY: f64 = 0.1;

/// State of a line before a load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Rate of other traffic in the busier direction, bit/s; absent = unknown.
    pub others_bps: Option<f64>,
    /// True if it is billed by the byte.
    pub metered: bool,
}

impl Line {
    /// Returns true if nothing else uses a line of this rate that would disturb a load, or be
    /// disturbed.
    pub fn is_quiet(&self, rate_bps: Option<f64>) -> bool {
        let most = rate_bps.map_or(QUIET_BPS, |rate| (BUSY * rate).max(QUIET_BPS));
        self.others_bps.is_none_or(|others| others <= most)
    }
}

/// The device over which an address is reached, with its counters now.
pub(crate) struct Device {
    /// Its name.
    pub(crate) name: String,
    index: u32,
    counters: LinkCounters,
}

impl Device {
    /// The device toward an address; `None` if the kernel does not report it.
    pub(crate) fn toward(to: IpAddr) -> Option<Self> {
        let mut netlink = Netlink::route().ok()?;
        let index = route::lookup(&mut netlink, Query::to(to)).ok()?.link?;
        let link = link::show(&mut netlink, index).ok()?;
        Some(Self {
            name: link.name,
            index,
            counters: link.counters,
        })
    }

    /// Returns its rate since then in the busier direction, bit/s.
    pub(crate) fn rate_bps(&self, span_s: f64) -> Option<f64> {
        let mut netlink = Netlink::route().ok()?;
        let now = link::show(&mut netlink, self.index).ok()?.counters;
        let received = growth(self.counters.rx_bytes, now.rx_bytes)?;
        let sent = growth(self.counters.tx_bytes, now.tx_bytes)?;
        flow::rate_bps(received.max(sent) as f64, span_s * 1e6)
    }

    /// Returns true if the system considers it metered: a modem by its type, otherwise according to
    /// NetworkManager (`guess-yes` counts).
    pub(crate) fn is_metered(&self) -> bool {
        let uevent = format!("/sys/class/net/{}/uevent", self.name);
        let uevent = std::fs::read_to_string(uevent).unwrap_or_default();
        if uevent.lines().any(|line| line == "DEVTYPE=wwan") {
            return true;
        }
        let output = Command::new("nmcli")
            .args(["-g", "GENERAL.METERED", "device", "show", &self.name])
            .output();
        output.is_ok_and(|output| output.stdout.trim_ascii().starts_with(b"yes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_busy_above_a_tenth_of_its_rate() {
        let line = |bps| Line {
            others_bps: Some(bps),
            metered: false,
        };
        assert!(line(4e6).is_quiet(Some(50e6)) && !line(6e6).is_quiet(Some(50e6)));
        assert!(line(4e5).is_quiet(None) && !line(6e5).is_quiet(None));
        assert!(Line::default().is_quiet(None));
    }

    #[test]
    fn the_device_toward_loopback_is_lo_and_costs_nothing() {
        let device = Device::toward([127, 0, 0, 1].into()).expect("a device");
        assert_eq!(device.name, "lo");
        assert!(device.rate_bps(1.0).is_some());
        assert!(!device.is_metered());
    }
}
