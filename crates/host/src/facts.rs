//! Facts of this host, as [`model::facts`] defines them.
//!
//! All is read in the calling thread's network namespace. Nothing is changed, and no failure is an
//! error: an unknown value is absent, and [`HostFacts::notes`] gives the reason.

mod command;
mod device;
mod host;
mod netbird;
mod path;
mod product;
mod stack;
mod status;
mod sysfs;
mod tailscale;
mod tunnel;
mod uapi;

use std::{io, net::IpAddr};

use model::{
    facts::{FACTS_SCHEMA, HostFacts, TunnelFacts},
    text,
    text::{Text, Value},
};
use sys::NetlinkError;

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

/// The tunnel on the path to an address as it is now, without the rest of the facts.
pub fn tunnel(toward: IpAddr) -> Option<TunnelFacts> {
    path::facts(toward, &mut Notes::default()).tunnel().cloned()
}

/// Returns why the kernel refused a request, for a note that names the request.
fn cause(error: &NetlinkError) -> Value {
    let system = Value::from(&error.io());
    match &error.kernel_message {
        Some(message) => Value::Text(text!(
            "{error}; the kernel reports: {message}",
            error = system,
            message = message
        )),
        None if error.io().kind() == io::ErrorKind::PermissionDenied => Value::Text(text!(
            "{error}; this needs root or CAP_NET_ADMIN in the network namespace",
            error = system
        )),
        None => system,
    }
}

/// Facts that are unknown, and why.
#[derive(Debug, Default)]
struct Notes(Vec<Text>);

impl Notes {
    fn add(&mut self, note: Text) {
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// The value, or a note on why there is none.
    fn keep<T, E>(&mut self, result: Result<T, E>, note: impl FnOnce(&E) -> Text) -> Option<T> {
        result.map_err(|error| self.add(note(&error))).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EPERM is 1, EOPNOTSUPP 95 and ENODEV 19 (include/uapi/asm-generic/errno.h).
    #[test]
    fn a_refusal_of_the_kernel_is_a_text_that_can_be_translated() {
        let denied = cause(&NetlinkError::new("get device", 1));
        let Value::Text(text) = &denied else {
            panic!("{denied:?}");
        };
        let named: Vec<_> = text.values().collect();
        let system = io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(named, [("error", &Value::from(&system))]);
        assert!(text.to_string().contains("CAP_NET_ADMIN"), "{text}");
        let lacking = cause(&NetlinkError::new("get device", 95));
        let system = io::Error::from(io::ErrorKind::Unsupported);
        assert_eq!(lacking, Value::from(&system));
    }

    #[test]
    fn what_the_kernel_says_of_its_refusal_is_kept() {
        let error = NetlinkError {
            kernel_message: Some("Unknown qdisc".to_owned()),
            ..NetlinkError::new("add qdisc", 19)
        };
        let text = cause(&error).to_string();
        assert!(
            text.ends_with("the kernel reports: Unknown qdisc"),
            "{text}"
        );
    }
}
