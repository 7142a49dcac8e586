//! Wireless LAN links (nl80211; include/uapi/linux/nl80211.h, Linux 7.2).

use crate::netlink::{Attr, Attrs, GENLMSG_LEN, Message, Netlink, NetlinkError};

const NL80211_CMD_GET_INTERFACE: u8 = 5;
const NL80211_CMD_GET_STATION: u8 = 17;
const NL80211_CMD_GET_POWER_SAVE: u8 = 62;
const NL80211_ATTR_IFINDEX: u16 = 3;
const NL80211_ATTR_STA_INFO: u16 = 21;
const NL80211_ATTR_WIPHY_FREQ: u16 = 38;
const NL80211_ATTR_PS_STATE: u16 = 93;
const NL80211_STA_INFO_SIGNAL: u16 = 7;
const NL80211_STA_INFO_TX_BITRATE: u16 = 8;
const NL80211_STA_INFO_TX_RETRIES: u16 = 11;
const NL80211_STA_INFO_TX_FAILED: u16 = 12;
const NL80211_STA_INFO_RX_BITRATE: u16 = 14;
const NL80211_RATE_INFO_BITRATE: u16 = 1;
const NL80211_RATE_INFO_BITRATE32: u16 = 5;
/// Unit of the bit rates above.
const RATE_UNIT_BPS: u64 = 100_000;

/// State of a wireless link. Values of the station are absent unless there is exactly one, as on a
/// client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wireless {
    /// Frequency of the channel, MHz.
    pub frequency_mhz: Option<u32>,
    /// True if power saving is on.
    pub power_save: Option<bool>,
    /// The associated station.
    pub station: Option<Station>,
}

/// State of the associated station of a wireless link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Station {
    /// Signal of the last frames from it, dBm.
    pub signal_dbm: Option<i8>,
    /// Bit rate of the last frames to it, bit/s.
    pub tx_bitrate_bps: Option<u64>,
    /// Bit rate of the last frames from it, bit/s.
    pub rx_bitrate_bps: Option<u64>,
    /// Frame retries.
    pub tx_retries: Option<u32>,
    /// Failed frames.
    pub tx_failed: Option<u32>,
}

/// Reads a link; `None` if it is not wireless. The socket is one of [`Netlink::generic`].
///
/// # Errors
/// The socket failed.
pub fn show(nl: &mut Netlink, ifindex: u32) -> Result<Option<Wireless>, NetlinkError> {
    let Ok(family) = nl.family("nl80211") else {
        // A kernel without wireless support has no wireless links.
        return Ok(None);
    };
    let mut wireless = Wireless::default();
    let mut interface = request(family, NL80211_CMD_GET_INTERFACE, ifindex);
    let op = format!("show the wireless link {ifindex}");
    let asked = nl.get(&mut interface, &op, |payload| {
        wireless.frequency_mhz = attribute(payload, NL80211_ATTR_WIPHY_FREQ).and_then(|a| a.u32());
    });
    match asked {
        Err(e) if e.errno == libc::ENODEV || e.errno == libc::EOPNOTSUPP => return Ok(None),
        other => other?,
    }
    let mut save = request(family, NL80211_CMD_GET_POWER_SAVE, ifindex);
    // Not supported by every driver.
    let _ = nl.get(&mut save, &op, |payload| {
        let state = attribute(payload, NL80211_ATTR_PS_STATE).and_then(|a| a.u32());
        wireless.power_save = state.map(|s| s != 0);
    });
    let mut stations = request(family, NL80211_CMD_GET_STATION, ifindex);
    let mut stations = nl.dump(&mut stations, &op, station).unwrap_or_default();
    wireless.station = stations.pop().filter(|_| stations.is_empty());
    Ok(Some(wireless))
}

fn request(family: u16, command: u8, ifindex: u32) -> Message {
    let mut m = Message::new(family, 0);
    m.raw(&[command, 0, 0, 0])
        .u32(NL80211_ATTR_IFINDEX, ifindex);
    m
}

fn attribute(payload: &[u8], kind: u16) -> Option<Attr<'_>> {
    Attrs::after(payload, GENLMSG_LEN).get(kind)
}

pub(crate) fn station(payload: &[u8]) -> Option<Station> {
    let info = attribute(payload, NL80211_ATTR_STA_INFO)?.nested();
    Some(Station {
        signal_dbm: info
            .get(NL80211_STA_INFO_SIGNAL)
            .and_then(|a| a.u8())
            .map(u8::cast_signed),
        tx_bitrate_bps: info.get(NL80211_STA_INFO_TX_BITRATE).and_then(bitrate),
        rx_bitrate_bps: info.get(NL80211_STA_INFO_RX_BITRATE).and_then(bitrate),
        tx_retries: info.get(NL80211_STA_INFO_TX_RETRIES).and_then(|a| a.u32()),
        tx_failed: info.get(NL80211_STA_INFO_TX_FAILED).and_then(|a| a.u32()),
    })
}

/// Fast rates do not fit the 16-bit attribute.
fn bitrate(info: Attr<'_>) -> Option<u64> {
    let rates = info.nested();
    let wide = rates.get(NL80211_RATE_INFO_BITRATE32).and_then(|a| a.u32());
    let narrow = || rates.get(NL80211_RATE_INFO_BITRATE)?.u16().map(u32::from);
    Some(u64::from(wide.or_else(narrow)?) * RATE_UNIT_BPS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testutil::netns;

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = station(&bytes);
        }
    }

    #[test]
    fn a_station_is_read() {
        let mut m = Message::new(30, 0);
        m.raw(&[19, 1, 0, 0]).nest(NL80211_ATTR_STA_INFO, |m| {
            m.u8(NL80211_STA_INFO_SIGNAL, (-61i8).cast_unsigned())
                .nest(NL80211_STA_INFO_TX_BITRATE, |m| {
                    m.u16(NL80211_RATE_INFO_BITRATE, 540);
                })
                .nest(NL80211_STA_INFO_RX_BITRATE, |m| {
                    m.u32(NL80211_RATE_INFO_BITRATE32, 24_020);
                })
                .u32(NL80211_STA_INFO_TX_RETRIES, 9);
        });
        let wanted = Station {
            signal_dbm: Some(-61),
            tx_bitrate_bps: Some(54_000_000),
            rx_bitrate_bps: Some(2_402_000_000),
            tx_retries: Some(9),
            tx_failed: None,
        };
        assert_eq!(station(m.payload()), Some(wanted));
    }

    #[test]
    fn loopback_is_not_wireless() {
        let Some(ns) = netns() else { return };
        assert_eq!(show(&mut ns.generic().unwrap(), 1), Ok(None));
    }
}
