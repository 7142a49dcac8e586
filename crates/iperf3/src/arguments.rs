//! Arguments in the form of iperf3: hosts and quantities.

use std::{
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    time::Duration,
};

use model::spec::quantity::{self, QuantityError};

use crate::wire::PORT;

/// Error in an argument.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    /// No host.
    #[error("{0}: write iperf3://HOST or iperf3://HOST:PORT")]
    Host(String),
    /// The port is not a 16-bit number.
    #[error("{0}: the port is no number from 0 to 65535")]
    Port(String),
    /// The name of a host has no address.
    #[error("cannot find the address of {host}: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// Not an address to listen on.
    #[error("{0:?} is no address; write for instance 192.0.2.1:5201")]
    Listen(String),
    /// Not a time, a rate or a size.
    #[error("{0}")]
    Quantity(#[from] QuantityError),
}

/// The addresses of `iperf3://HOST[:PORT]`, or the same without the scheme, in the resolver's
/// order. Without a port in it, it is `port`, else that of iperf3.
///
/// # Errors
/// The text has another form, or the host has no address.
pub fn addresses(url: &str, port: Option<u16>) -> Result<Vec<SocketAddr>, ArgumentError> {
    let place = url.strip_prefix("iperf3://").unwrap_or(url);
    let place = place.strip_suffix('/').unwrap_or(place);
    let default = port.unwrap_or(PORT);
    let (host, port) = match place.rsplit_once(':') {
        // An IPv6 address has more colons, and brackets if a port follows.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            let port = port.parse();
            (host, port.map_err(|_| ArgumentError::Port(url.to_owned()))?)
        }
        _ => (place, default),
    };
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let host = bare.unwrap_or(host);
    if host.is_empty() || host.contains('/') {
        return Err(ArgumentError::Host(url.to_owned()));
    }
    let found = (host, port).to_socket_addrs();
    let found = found.map_err(|source| ArgumentError::Resolve {
        host: host.to_owned(),
        source,
    })?;
    Ok(found.collect())
}

/// The address of a server: `ADDRESS`, `ADDRESS:PORT`, or `:PORT` for every address.
///
/// # Errors
/// The text has another form.
pub fn listen(text: &str) -> Result<SocketAddr, ArgumentError> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    if let Ok(ip) = bare.unwrap_or(text).parse::<IpAddr>() {
        return Ok((ip, PORT).into());
    }
    if let Some(Ok(port)) = text.strip_prefix(':').map(str::parse::<u16>) {
        return Ok((Ipv6Addr::UNSPECIFIED, port).into());
    }
    text.parse()
        .map_err(|_| ArgumentError::Listen(text.to_owned()))
}

/// A time; a bare number is in seconds, as for iperf3.
///
/// # Errors
/// The text is neither that nor a time of a spec.
pub fn time(text: &str) -> Result<Duration, ArgumentError> {
    let time = match text.parse::<f64>() {
        Ok(_) => quantity::duration(&format!("{text}s")),
        Err(_) => quantity::duration(text),
    };
    Ok(time?)
}

/// A rate in bit/s, 0 for none; `50M` as for iperf3, where a letter is a power of 1000.
///
/// # Errors
/// The text is neither that nor a rate of a spec.
pub fn rate(text: &str) -> Result<u64, ArgumentError> {
    match with_letter(text, 1000) {
        Some(rate) => Ok(rate),
        None => Ok(quantity::rate(text)?.bps()),
    }
}

/// A size in bytes; `4M` as for iperf3, where a letter is a power of 1024.
///
/// # Errors
/// The text is neither that nor a size of a spec.
pub fn size(text: &str) -> Result<u64, ArgumentError> {
    match with_letter(text, 1024) {
        Some(size) => Ok(size),
        None => Ok(quantity::size(text)?.0),
    }
}

fn with_letter(text: &str, thousand: u64) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(thousand.pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_with_and_without_port() {
        for (text, address) in [
            ("iperf3://127.0.0.1", "127.0.0.1:5201"),
            ("127.0.0.1:7", "127.0.0.1:7"),
            ("iperf3://[::1]:7/", "[::1]:7"),
            ("[::1]", "[::1]:5201"),
            ("::1", "[::1]:5201"),
        ] {
            let found = addresses(text, None).unwrap();
            assert_eq!(found, [address.parse().unwrap()], "{text}");
        }
        for (text, address) in [
            ("iperf3://[::1]", "[::1]:9"),
            ("127.0.0.1:7", "127.0.0.1:7"),
        ] {
            let found = addresses(text, Some(9)).unwrap();
            assert_eq!(found, [address.parse().unwrap()], "{text}");
        }
        for text in ["", "iperf3://", "127.0.0.1:x", "a/b", ":7"] {
            assert!(addresses(text, None).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_to_listen_on_may_lack_host_or_port() {
        for (text, address) in [
            (":7", "[::]:7"),
            ("127.0.0.1", "127.0.0.1:5201"),
            ("::1", "[::1]:5201"),
            ("[::1]:7", "[::1]:7"),
        ] {
            assert_eq!(listen(text).unwrap(), address.parse().unwrap(), "{text}");
        }
        assert!(listen("here").is_err());
    }

    #[test]
    fn quantities_are_read_as_in_specs_and_as_for_iperf3() {
        assert_eq!(rate("50M").unwrap(), 50_000_000);
        assert_eq!(rate("50mbit").unwrap(), 50_000_000);
        assert_eq!(rate("0").unwrap(), 0);
        assert_eq!(size("4M").unwrap(), 4 << 20);
        assert_eq!(size("4MB").unwrap(), 4_000_000);
        assert_eq!(time("3").unwrap(), Duration::from_secs(3));
        assert_eq!(time("0.5").unwrap(), Duration::from_millis(500));
        assert_eq!(time("250ms").unwrap(), Duration::from_millis(250));
        for text in ["", "M", "-1", "5X", "99999999999999T"] {
            assert!(rate(text).is_err(), "{text}");
            assert!(size(text).is_err(), "{text}");
        }
    }
}
