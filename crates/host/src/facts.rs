//! Facts of the host this runs on, as [`model::facts`] holds them.
//!
//! All is read in the calling thread's network namespace. Nothing is changed, and nothing that
//! fails is an error: what stays unknown is absent, and [`HostFacts::notes`] says why.

mod command;
mod device;
mod host;
mod netbird;
mod path;
mod stack;
mod status;
mod sysfs;
mod tailscale;
mod tunnel;
mod uapi;

use std::net::IpAddr;

use model::facts::{FACTS_SCHEMA, HostFacts, TunnelFacts};

pub use netbird::parse as parse_netbird;
pub use status::{PeerStatus, Status};
pub use tailscale::parse as parse_tailscale;
pub use uapi::parse as parse_uapi;

/// Takes the facts of this host, and of the way to an address if there is one.
///
/// It may start `netbird status --json` or `tailscale status --json` where such a tunnel is on the
/// way, and waits up to three seconds for each.
pub fn collect(toward: Option<IpAddr>) -> HostFacts {
    let mut notes = Notes::default();
    let mut facts = host::facts(&mut notes);
    facts.schema = FACTS_SCHEMA;
    facts.path = toward.map(|to| path::facts(to, &mut notes));
    facts.notes = notes.0;
    facts
}

/// The tunnel on the way to an address as it is now, without the rest of the facts.
pub fn tunnel(toward: IpAddr) -> Option<TunnelFacts> {
    path::facts(toward, &mut Notes::default()).tunnel().cloned()
}

/// What could not be found out, and why.
#[derive(Debug, Default)]
struct Notes(Vec<String>);

impl Notes {
    fn add(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// The value, or a note that says why there is none.
    fn keep<T, E: std::fmt::Display>(&mut self, result: Result<T, E>) -> Option<T> {
        result.map_err(|e| self.add(e.to_string())).ok()
    }
}
