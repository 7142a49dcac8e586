//! Common parts of the status documents of NetBird and Tailscale.

use std::net::{IpAddr, SocketAddr};

use model::facts::{Product, TunnelPath};
use serde_json::Value;

/// Status of a product and of the peer that an address belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The product.
    pub product: Product,
    /// Its version.
    pub version: Option<String>,
    /// True if it has a device in the kernel; false = a network stack in its process.
    pub has_device: Option<bool>,
    /// The peer.
    pub peer: Option<PeerStatus>,
}

/// A product's status of one peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerStatus {
    /// Direct, relayed or idle.
    pub path: Option<TunnelPath>,
    /// Name or address of the relay in use.
    pub relay: Option<String>,
    /// Transport to the relay.
    pub relay_transport: Option<String>,
    /// Its address, if packets go directly to it.
    pub endpoint: Option<SocketAddr>,
    /// Time of the last handshake, seconds since 1970.
    pub handshake_s: Option<u64>,
    /// First characters of its public key in base64.
    pub key: Option<String>,
}

/// A text that is neither empty nor `-`, which means none.
pub(super) fn text<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of.get(name)?
        .as_str()
        .filter(|t| !t.is_empty() && *t != "-")
}

/// The elements of a list; Go's `null` has none.
pub(super) fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The peer with the longest prefix that contains an address, as chosen by WireGuard; `len_of`
/// returns the length of a peer's prefix.
pub(super) fn closest<T>(
    peers: impl IntoIterator<Item = T>,
    len_of: impl Fn(&T) -> Option<u8>,
) -> Option<T> {
    let with_len = |peer: T| Some((len_of(&peer)?, peer));
    let found = peers.into_iter().filter_map(with_len);
    found.max_by_key(|(len, _)| *len).map(|(_, peer)| peer)
}

/// Length of the longest of some prefixes that contain an address.
pub(super) fn longest(
    prefixes: impl IntoIterator<Item = (IpAddr, u8)>,
    address: IpAddr,
) -> Option<u8> {
    let containing = prefixes
        .into_iter()
        .filter(|&(net, len)| contains(net, len, address));
    containing.map(|(_, len)| len).max()
}

/// The prefixes among the values of a document; a bare address is a prefix of full length.
pub(super) fn prefixes<'a>(
    values: impl IntoIterator<Item = &'a Value>,
) -> impl Iterator<Item = (IpAddr, u8)> {
    values
        .into_iter()
        .filter_map(Value::as_str)
        .filter_map(prefix)
}

/// An address with the length of its prefix.
pub(super) fn prefix(text: &str) -> Option<(IpAddr, u8)> {
    let (net, len) = text.split_once('/').unwrap_or((text, ""));
    let net: IpAddr = net.parse().ok()?;
    let full = if net.is_ipv4() { 32 } else { 128 };
    let len = if len.is_empty() {
        full
    } else {
        len.parse().ok().filter(|&l| l <= full)?
    };
    Some((net, len))
}

/// Returns true if a prefix contains an address.
pub(super) fn contains(net: IpAddr, len: u8, address: IpAddr) -> bool {
    let (net, address, bits) = match (net, address) {
        (IpAddr::V4(n), IpAddr::V4(a)) => (u128::from(n.to_bits()), u128::from(a.to_bits()), 32),
        (IpAddr::V6(n), IpAddr::V6(a)) => (n.to_bits(), a.to_bits(), 128),
        _ => return false,
    };
    let host_bits = u32::from(bits - len.min(bits));
    (net ^ address).checked_shr(host_bits).unwrap_or(0) == 0
}

/// Seconds since 1970 of a time in Go's format (RFC 3339); `None` for Go's zero time, in the year
/// 1.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(['T', 't'])?;
    let mut date = date.splitn(3, '-').map(|n| n.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, zone) = zone(time)?;
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let mut clock = clock.splitn(3, ':').map(|n| n.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let possible = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    if !possible {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone;
    u64::try_from(seconds).ok().filter(|&s| s > 0)
}

/// Splits the offset from UTC, seconds, from a time.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let at = time.rfind(['+', '-'])?;
    let (clock, zone) = time.split_at(at);
    let (hours, minutes) = zone[1..].split_once(':')?;
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = i64::from(hours) * 3600 + i64::from(minutes) * 60;
    Some((
        clock,
        if zone.starts_with('-') {
            -seconds
        } else {
            seconds
        },
    ))
}

/// Days from 1970-01-01 in the Gregorian calendar, for years from 1970 on; the year begins in
/// March, so that the leap day is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

/// The first eight characters in base64 (RFC 4648) of a key: enough to distinguish peers.
pub(super) fn short_key(key: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let triples = key.as_chunks::<3>().0.iter().take(2);
    triples
        .flat_map(|t| {
            let bits = u32::from(t[0]) << 16 | u32::from(t[1]) << 8 | u32::from(t[2]);
            [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift & 63) as usize] as char)
        })
        .collect()
}

/// Bytes of hexadecimal digits.
pub(super) fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "\\PC{0,40}") {
            let _ = (seconds(&text), prefix(&text), hex(&text), zone(&text));
        }

        /// Also of years that no calendar has.
        #[test]
        fn any_numbers_are_a_time_or_none(
            date in proptest::array::uniform3(any::<i64>()),
            clock in proptest::array::uniform3(any::<i64>()),
            zone in "[+-][0-9]{1,3}:[0-9]{1,3}|Z",
        ) {
            let ([a, b, c], [d, e, f]) = (date.map(i64::unsigned_abs), clock);
            prop_assert_eq!(seconds(&format!("{a}-{b}-{c}T{d}:{e}:{f}{zone}")), None);
        }

        #[test]
        fn an_address_is_in_its_own_prefixes(bits in any::<u128>(), len in 0u8..=128) {
            let six = IpAddr::from(bits.to_be_bytes());
            prop_assert!(contains(six, len, six));
            let four = IpAddr::from((bits as u32).to_be_bytes());
            prop_assert!(contains(four, len.min(32), four));
            prop_assert!(!contains(four, 0, six));
        }

        #[test]
        fn a_flipped_bit_inside_the_prefix_leaves_it(bits in any::<u32>(), flip in 0u32..32) {
            let (net, other) = (IpAddr::from(bits.to_be_bytes()), IpAddr::from((bits ^ 1 << flip).to_be_bytes()));
            prop_assert!(!contains(net, 32 - flip as u8, other));
            prop_assert!(contains(net, 31 - flip as u8, other));
        }
    }

    /// By `date -u -d TIME +%s`.
    #[test]
    fn times_of_go() {
        assert_eq!(seconds("2024-02-29T12:34:56.789Z"), Some(1_709_210_096));
        assert_eq!(seconds("2025-06-01T02:00:00+02:00"), Some(1_748_736_000));
        assert_eq!(seconds("2025-05-31T17:00:00.5-07:00"), Some(1_748_736_000));
        assert_eq!(seconds("0001-01-01T00:00:00Z"), None);
        assert_eq!(seconds("2024-13-01T00:00:00Z"), None);
    }

    /// RFC 4648 section 10: `foobar` is `Zm9vYmFy`.
    #[test]
    fn a_short_key_is_the_beginning_of_the_base64() {
        assert_eq!(short_key(b"foobar and more"), "Zm9vYmFy");
        assert_eq!(hex("666f6f"), Some(b"foo".to_vec()));
        assert_eq!(hex("zz"), None);
    }
}
