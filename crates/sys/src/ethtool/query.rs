//! Driver queries (include/uapi/linux/ethtool.h, net/ethtool/ioctl.c, Linux 7.2).
//!
//! They need no privileges. Drivers without support return `EOPNOTSUPP`.

use std::collections::BTreeMap;
use std::io;

use crate::bytes;

use super::ioctl::exchange;

const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GRINGPARAM: u32 = 0x10;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETHTOOL_GCHANNELS: u32 = 0x3c;
const ETHTOOL_GLINKSETTINGS: u32 = 0x4c;
const ETH_SS_STATS: u32 = 1;
const ETH_SS_FEATURES: u32 = 4;
/// `ETH_GSTRING_LEN`.
const NAME_LEN: usize = 32;
/// Maximum number of names in a set, above that of any driver.
const MAX_NAMES: usize = 65_536;

/// Speed and duplex of a link; absent if unknown, for example without carrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkMode {
    /// Bits a second.
    pub speed_bps: Option<u64>,
    /// True if it is full duplex.
    pub full_duplex: Option<bool>,
}

/// Ring sizes and their maximums, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rings {
    /// Receive ring.
    pub rx: u32,
    /// Largest receive ring.
    pub rx_max: u32,
    /// Transmit ring.
    pub tx: u32,
    /// Largest transmit ring.
    pub tx_max: u32,
}

/// Numbers of hardware queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounts {
    /// Receive-only.
    pub rx: u32,
    /// Transmit-only.
    pub tx: u32,
    /// Combined.
    pub combined: u32,
    /// Maximum of each of the three.
    pub max: [u32; 3],
}

/// The name of a link's driver, and the bus address of the device, such as `0000:00:03.0`.
///
/// # Errors
/// No such link, or its driver does not report them.
pub fn driver(link: &str) -> io::Result<(String, String)> {
    let info = exchange(link, &[ETHTOOL_GDRVINFO], 196)?;
    Ok((text(&info, 4, NAME_LEN), text(&info, 100, NAME_LEN)))
}

/// Speed and duplex.
///
/// # Errors
/// No such link, or its driver does not support it.
pub fn link_mode(link: &str) -> io::Result<LinkMode> {
    // A request with 0 mask words returns their number, negated; a request with that number returns
    // the settings (`ethtool_get_link_ksettings`).
    let sized = exchange(link, &[ETHTOOL_GLINKSETTINGS], 48)?;
    let words = bytes::u8_at(&sized, 15).map_or(0, u8::cast_signed);
    let words = usize::from(words.unsigned_abs());
    let masks = u32::from_ne_bytes([0, 0, 0, words as u8]);
    let settings = exchange(
        link,
        &[ETHTOOL_GLINKSETTINGS, 0, 0, masks],
        48 + 3 * 4 * words,
    )?;
    Ok(read_link_mode(&settings))
}

/// `struct ethtool_link_settings`: speed in Mbit/s, where 0 and all ones are unknown; duplex 0, 1
/// or 255.
pub(crate) fn read_link_mode(settings: &[u8]) -> LinkMode {
    let known = |&mbit: &u32| mbit != 0 && mbit != u32::MAX;
    let speed = bytes::u32_at(settings, 4).filter(known);
    LinkMode {
        speed_bps: speed.map(|mbit| u64::from(mbit) * 1_000_000),
        full_duplex: match bytes::u8_at(settings, 8) {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
    }
}

/// Ring sizes.
///
/// # Errors
/// No such link, or it has no rings.
pub fn rings(link: &str) -> io::Result<Rings> {
    let params = exchange(link, &[ETHTOOL_GRINGPARAM], 36)?;
    let at = |i: usize| bytes::u32_at(&params, i * 4).unwrap_or_default();
    Ok(Rings {
        rx: at(5),
        rx_max: at(1),
        tx: at(8),
        tx_max: at(4),
    })
}

/// Numbers of hardware queues.
///
/// # Errors
/// No such link, or its driver does not report them.
pub fn channels(link: &str) -> io::Result<ChannelCounts> {
    let params = exchange(link, &[ETHTOOL_GCHANNELS], 36)?;
    let at = |i: usize| bytes::u32_at(&params, i * 4).unwrap_or_default();
    Ok(ChannelCounts {
        rx: at(5),
        tx: at(6),
        combined: at(8),
        max: [at(1), at(2), at(4)],
    })
}

/// State of all offloads, by the kernel's names.
///
/// # Errors
/// No such link.
pub fn features(link: &str) -> io::Result<BTreeMap<String, bool>> {
    let names = names(link, ETH_SS_FEATURES)?;
    let blocks = names.len().div_ceil(32);
    let state = exchange(link, &[ETHTOOL_GFEATURES, blocks as u32], 8 + 16 * blocks)?;
    Ok(read_features(names, &state))
}

/// State of an offload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// True if the driver can switch it.
    pub available: bool,
    /// True if it was requested.
    pub requested: bool,
    /// True if it is on.
    pub active: bool,
    /// True if it cannot be switched.
    pub fixed: bool,
}

/// All offloads with their requested state, by the kernel's names.
///
/// # Errors
/// No such link.
pub fn feature_states(link: &str) -> io::Result<BTreeMap<String, Feature>> {
    let names = names(link, ETH_SS_FEATURES)?;
    let blocks = names.len().div_ceil(32);
    let state = exchange(link, &[ETHTOOL_GFEATURES, blocks as u32], 8 + 16 * blocks)?;
    let of = |i: usize| {
        let word = |n: usize| bytes::u32_at(&state, 8 + i / 32 * 16 + 4 * n);
        let bit = |n: usize| word(n).is_some_and(|word| word >> (i % 32) & 1 == 1);
        Feature {
            available: bit(0),
            requested: bit(1),
            active: bit(2),
            fixed: bit(3),
        }
    };
    let named = names.into_iter().enumerate();
    let named = named.filter(|(_, name)| !name.is_empty());
    Ok(named.map(|(i, name)| (name, of(i))).collect())
}

/// Requests offloads to be on or off, all at once; the kernel may change others as a consequence.
/// The names are the kernel's.
///
/// # Errors
/// No such link or offload, not root, or the driver refuses.
pub fn set_features(link: &str, wanted: &BTreeMap<String, bool>) -> io::Result<()> {
    let names = names(link, ETH_SS_FEATURES)?;
    let blocks = names.len().div_ceil(32);
    // `struct ethtool_sfeatures`: the number of blocks, then for each the valid bits and the
    // requested bits.
    let mut request = vec![ETHTOOL_SFEATURES, blocks as u32];
    request.resize(2 + 2 * blocks, 0);
    for (name, on) in wanted {
        let place = names.iter().position(|known| known == name);
        let i = place.ok_or_else(|| io::Error::from_raw_os_error(libc::EOPNOTSUPP))?;
        let at = 2 + i / 32 * 2;
        request[at] |= 1 << (i % 32);
        request[at + 1] |= u32::from(*on) << (i % 32);
    }
    exchange(link, &request, 8 + 8 * blocks).map(|_| ())
}

/// A block of four words for every 32 features: available, requested, active, never changed.
pub(crate) fn read_features(names: Vec<String>, state: &[u8]) -> BTreeMap<String, bool> {
    let on = |i: usize| {
        let active = bytes::u32_at(state, 8 + i / 32 * 16 + 8)?;
        Some(active >> (i % 32) & 1 == 1)
    };
    names
        .into_iter()
        .enumerate()
        .filter(|(_, name)| !name.is_empty())
        .filter_map(|(i, name)| Some((name, on(i)?)))
        .collect()
}

/// Names of the driver's counters, in the order of [`statistics`].
///
/// # Errors
/// No such link, or its driver has no counters.
pub fn statistic_names(link: &str) -> io::Result<Vec<String>> {
    names(link, ETH_SS_STATS)
}

/// The `count` counters of the driver.
///
/// # Errors
/// No such link, its driver has no counters, or their number has increased.
pub fn statistics(link: &str, count: usize) -> io::Result<Vec<u64>> {
    let stats = exchange(link, &[ETHTOOL_GSTATS, count as u32], 8 + 8 * count)?;
    let now = bytes::u32_at(&stats, 4).map_or(0, |n| n as usize);
    if now != count {
        return Err(io::Error::from_raw_os_error(libc::ESTALE));
    }
    let at = |i| bytes::u64_at(&stats, 8 + 8 * i).unwrap_or_default();
    Ok((0..count).map(at).collect())
}

fn names(link: &str, set: u32) -> io::Result<Vec<String>> {
    let mask = 1u32 << set;
    let info = exchange(link, &[ETHTOOL_GSSET_INFO, 0, mask, 0], 20)?;
    let answered = bytes::u32_at(&info, 8) == Some(mask);
    let count = bytes::u32_at(&info, 16).map_or(0, |n| n as usize);
    if !answered || count == 0 || count > MAX_NAMES {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    let head = [ETHTOOL_GSTRINGS, set, count as u32];
    let strings = exchange(link, &head, 12 + NAME_LEN * count)?;
    let at = |i| text(&strings, 12 + i * NAME_LEN, NAME_LEN);
    Ok((0..count).map(at).collect())
}

/// Text of at most `len` bytes at `offset`, up to a NUL.
pub(crate) fn text(from: &[u8], offset: usize, len: usize) -> String {
    let field = from.get(offset..).unwrap_or_default();
    let field = &field[..len.min(field.len())];
    let end = field.iter().position(|&b| b == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

#[cfg(test)]
mod tests;
