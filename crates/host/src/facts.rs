//! Facts of this host, as [`model::facts`] defines them.
//!
//! All is read in the calling thread's network namespace. Nothing is changed, and no failure is an
//! error: an unknown value is absent, and [`HostFacts::notes`] gives the reason.

mod command;
mod device;
mod host;
mod netbird;
mod notes;
mod path;
mod product;
mod stack;
mod status;
mod sysfs;
mod tailscale;
mod tunnel;
mod uapi;

use std::net::IpAddr;

use model::facts::{FACTS_SCHEMA, HostFacts, TunnelFacts};

use notes::Notes;

pub use netbird::parse as parse_netbird;
pub use status::{PeerStatus, Status};
pub use tailscale::parse as parse_tailscale;
pub use uapi::parse as parse_uapi;

/// Collects the facts of this host, and of the path to an address if one is given.
///
/// It may run `netbird status --json` or `tailscale status --json` where such a tunnel is on the
/// path, and waits up to three seconds for each.
pub fn collect(toward: Option<IpAddr>) -> HostFacts {
    let mut notes = Notes::default();
    let mut facts = host::facts(&mut notes);
    facts.schema = FACTS_SCHEMA;
    facts.path = toward.map(|to| path::facts(to, &mut notes));
    facts.notes = notes.0;
    facts
}

/// The present tunnel on the path to an address, without the rest of the facts.
pub fn tunnel(toward: IpAddr) -> Option<TunnelFacts> {
    path::facts(toward, &mut Notes::default()).tunnel().cloned()
}

/// The first router on the route to an address; `None` if the address is on-link, or the kernel
/// does not report it.
pub fn gateway(toward: IpAddr) -> Option<IpAddr> {
    let mut netlink = sys::Netlink::route().ok()?;
    let query = sys::route::Query::to(toward);
    sys::route::lookup(&mut netlink, query).ok()?.via
}
