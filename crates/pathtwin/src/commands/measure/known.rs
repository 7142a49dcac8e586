//! Keys of far ends, remembered for each host that one opened a session with.

use measure::key;
use traffic::wire::Key;

use crate::{exit::Failure, format};

/// The name under which a host's key is stored.
pub(super) fn name(host: &str, port: Option<u16>) -> String {
    match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// The key that opened a session with a host before, if none is given in another way.
pub(super) fn of_host(given: Option<&str>, host: &str) -> Result<Option<Key>, Failure> {
    if given.is_some() || std::env::var_os(key::VARIABLE).is_some() {
        return Ok(None);
    }
    Ok(key::known(host)?)
}

/// Stores a key that opened a session. A failure is only a warning, since the measurement is
/// possible.
pub(super) fn remember(host: &str, key: &Key) {
    match key::remember(host, key) {
        Ok(true) => format::say(format_args!(
            "the key of {host} is remembered: the next time no --key is needed"
        )),
        Ok(false) => {}
        Err(error) => format::say(format_args!("the key is not remembered: {error}")),
    }
}
