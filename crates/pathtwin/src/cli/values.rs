//! Places and quantities as users of iperf3 write them.

use std::{
    net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    time::Duration,
};

use anyhow::{Context, anyhow};
use iperf3::wire;
use model::spec::quantity;

use crate::exit::{Failure, code};

/// The addresses of `iperf3://HOST[:PORT]`, or of the same without the scheme.
pub(crate) fn addresses(url: &str) -> Result<Vec<SocketAddr>, Failure> {
    let wrong = |why: &str| Failure::new(code::USE, anyhow!("{url}: {why}"));
    let place = url.strip_prefix("iperf3://").unwrap_or(url);
    let place = place.strip_suffix('/').unwrap_or(place);
    let (host, port) = match place.rsplit_once(':') {
        // An IPv6 address has more colons, and brackets if a port follows.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            let port = port.parse().map_err(|_| wrong("the port is no number"))?;
            (host, port)
        }
        _ => (place, wire::PORT),
    };
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let host = bare.unwrap_or(host);
    if host.is_empty() || host.contains('/') {
        return Err(wrong("write iperf3://HOST or iperf3://HOST:PORT"));
    }
    let found = (host, port).to_socket_addrs();
    let found = found.with_context(|| format!("find the address of {host}"))?;
    Ok(found.collect())
}

/// Where a server listens: `ADDRESS`, `ADDRESS:PORT`, `:PORT`.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    if let Ok(ip) = bare.unwrap_or(text).parse::<IpAddr>() {
        return Ok((ip, wire::PORT).into());
    }
    if let Some(Ok(port)) = text.strip_prefix(':').map(str::parse::<u16>) {
        return Ok((Ipv6Addr::UNSPECIFIED, port).into());
    }
    let hint = |_| format!("\"{text}\" is no address; write for instance 192.0.2.1:5201");
    text.parse().map_err(hint)
}

/// A span of time; a bare number is of seconds, as for iperf3.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(_) => quantity::duration(&format!("{text}s")),
        Err(_) => quantity::duration(text),
    }
}

/// A rate in bit/s, 0 for none; `50M` as for iperf3, where a letter is a power of 1000.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    match with_letter(text, 1000) {
        Some(rate) => Ok(rate),
        None => quantity::rate(text).map(|rate| rate.bps()),
    }
}

/// A size in bytes; `4M` as for iperf3, where a letter is a power of 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match with_letter(text, 1024) {
        Some(size) => Ok(size),
        None => quantity::size(text).map(|size| size.0),
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
    fn places_are_read_with_and_without_port() {
        for (text, address) in [
            ("iperf3://127.0.0.1", "127.0.0.1:5201"),
            ("127.0.0.1:7", "127.0.0.1:7"),
            ("iperf3://[::1]:7/", "[::1]:7"),
            ("[::1]", "[::1]:5201"),
            ("::1", "[::1]:5201"),
        ] {
            let found = addresses(text).ok().unwrap();
            assert_eq!(found, [address.parse().unwrap()], "{text}");
        }
        for text in ["", "iperf3://", "127.0.0.1:x", "a/b", ":7"] {
            assert!(addresses(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_server_listens_where_it_is_told() {
        for (text, address) in [
            (":7", "[::]:7"),
            ("127.0.0.1", "127.0.0.1:5201"),
            ("::1", "[::1]:5201"),
            ("[::1]:7", "[::1]:7"),
        ] {
            assert_eq!(listen(text), Ok(address.parse().unwrap()), "{text}");
        }
        assert!(listen("here").is_err());
    }

    #[test]
    fn quantities_are_read_as_in_specs_and_as_for_iperf3() {
        assert_eq!(rate("50M"), Ok(50_000_000));
        assert_eq!(rate("50mbit"), Ok(50_000_000));
        assert_eq!(rate("0"), Ok(0));
        assert_eq!(size("4M"), Ok(4 << 20));
        assert_eq!(size("4MB"), Ok(4_000_000));
        assert_eq!(time("3"), Ok(Duration::from_secs(3)));
        assert_eq!(time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        for text in ["", "M", "-1", "5X", "99999999999999T"] {
            assert!(rate(text).is_err(), "{text}");
            assert!(size(text).is_err(), "{text}");
        }
    }
}
