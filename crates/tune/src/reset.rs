//! Settings at which drivers reset the link of a device, and the time until it carries packets
//! again.

use std::{net::IpAddr, time::Duration};

use model::change::{Change, Setting};

use crate::{live::Live, probe::addresses};

/// Default time in which a change must be confirmed or prolonged.
pub const CONNECTIVITY: Duration = Duration::from_secs(60);

/// Time for a switch with spanning tree to forward again after its link was reset (IEEE 802.1D:
/// twice the forward delay of 15 s), and as much for DHCP and a VPN.
pub(crate) const RESET: Duration = Duration::from_secs(60);

/// Time in which a change must be confirmed unless the user names one: longer if a step resets the
/// link that the connections to a probe use.
pub fn window(host: &mut Live, plan: &Change) -> Duration {
    let reset = plan.steps.iter().filter(|step| resets_link(&step.setting));
    let mut devices = reset.filter_map(|step| step.link);
    match devices.any(|device| is_in_use(host, device, &plan.probes)) {
        true => CONNECTIVITY + RESET,
        false => CONNECTIVITY,
    }
}

/// Returns true if drivers reset the link for it.
pub(crate) fn resets_link(setting: &Setting) -> bool {
    matches!(
        setting,
        Setting::Offload { .. } | Setting::Rings { .. } | Setting::Channels { .. }
    )
}

/// Without a probe, nobody knows which device is in use; so it is if that is unknown of a probe.
fn is_in_use(host: &mut Live, device: u32, probes: &[String]) -> bool {
    let resolved = probes.iter().map(|probe| addresses(probe).ok());
    let resolved: Option<Vec<_>> = resolved.collect();
    let addresses: Vec<IpAddr> = resolved
        .into_iter()
        .flatten()
        .flatten()
        .map(|address| address.ip())
        .collect();
    addresses.is_empty() || addresses.iter().any(|to| host.may_use(device, *to))
}
