//! Client of the control socket of userspace WireGuard (the cross-platform interface of
//! wireguard.com/xplatform).

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use sys::wireguard::{DeviceState, Key, PeerState};

use super::status::{hex, prefix};

/// Timeout of a reply.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum size of a reply, bytes.
const LONGEST: u64 = 32 * 1024 * 1024;
/// BoringTun reports the age of a handshake where the interface specifies its time
/// (boringtun/src/device/api.rs). Values below this are ages: as a time it is in September 2001.
const FIRST_TIME: u64 = 1_000_000_000;

/// Connects to a device's socket; on most systems the two folders are the same.
pub(super) fn socket(device: &str) -> Option<UnixStream> {
    let folders = ["/var/run/wireguard", "/run/wireguard"];
    let mut paths = folders.iter().map(|f| format!("{f}/{device}.sock"));
    paths.find_map(|path| UnixStream::connect(path).ok())
}

/// Queries the state of the device.
pub(super) fn query(mut socket: UnixStream) -> std::io::Result<String> {
    socket.set_read_timeout(Some(TIMEOUT))?;
    socket.set_write_timeout(Some(TIMEOUT))?;
    socket.write_all(b"get=1\n\n")?;
    let mut bytes = Vec::new();
    let mut part = [0; 16 * 1024];
    // The daemon leaves the connection open; an empty line ends the reply.
    while !bytes.ends_with(b"\n\n") && (bytes.len() as u64) < LONGEST {
        match socket.read(&mut part)? {
            0 => break,
            len => bytes.extend_from_slice(&part[..len]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses the answer to `get=1`, and ignores private and preshared keys in it. `now_s` is the time
/// in seconds since 1970. `None` if the daemon reports an error.
pub fn parse(answer: &str, now_s: u64) -> Option<DeviceState> {
    let mut state = DeviceState::default();
    for line in answer.lines() {
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        match key {
            "errno" if value != "0" => return None,
            "public_key" => {
                let public_key: Key = hex(value)?.try_into().ok()?;
                state.peers.push(PeerState {
                    public_key,
                    ..PeerState::default()
                });
            }
            "listen_port" => state.listen_port = value.parse().ok()?,
            "fwmark" => state.fwmark = mark(value)?,
            _ => {
                if let Some(peer) = state.peers.last_mut() {
                    of_peer(peer, key, value, now_s);
                }
            }
        }
    }
    Some(state)
}

/// Decimal by the specification; some daemons write hexadecimal.
fn mark(value: &str) -> Option<u32> {
    match value.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    }
}

fn of_peer(peer: &mut PeerState, key: &str, value: &str, now_s: u64) {
    match key {
        "endpoint" => peer.endpoint = value.parse().ok(),
        "persistent_keepalive_interval" => peer.keepalive_s = value.parse().unwrap_or_default(),
        "allowed_ip" => peer.allowed_ips.extend(prefix(value)),
        "rx_bytes" => peer.rx_bytes = value.parse().unwrap_or_default(),
        "tx_bytes" => peer.tx_bytes = value.parse().unwrap_or_default(),
        "last_handshake_time_sec" => {
            let value: u64 = value.parse().unwrap_or_default();
            let time = match value {
                0 => 0,
                age if age < FIRST_TIME => now_s.saturating_sub(age),
                time => time,
            };
            peer.last_handshake = (time > 0).then(|| Duration::from_secs(time));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: u64 = 1_700_000_100;

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "([a-z_]{1,12}=[0-9a-f:./]{0,20}\n){0,10}\\PC{0,50}") {
            let _ = parse(&text, NOW);
        }
    }

    fn answer(handshake: &str) -> String {
        format!(
            "private_key={0}\nlisten_port=51820\nfwmark=51820\npublic_key={1}\npreshared_key={0}\n\
             protocol_version=1\nendpoint=[2001:db8::7]:51821\nlast_handshake_time_sec={handshake}\n\
             last_handshake_time_nsec=250000000\ntx_bytes=8192\nrx_bytes=4096\n\
             persistent_keepalive_interval=25\nallowed_ip=10.9.0.0/24\nallowed_ip=fd00::/64\n\
             public_key={0}\nlast_handshake_time_sec=0\nallowed_ip=10.9.0.7/32\nerrno=0\n\n",
            "00".repeat(32),
            "0102".repeat(16),
        )
    }

    /// In the form of wireguard-go (device/uapi.go).
    #[test]
    fn peers_of_wireguard_go() {
        let state = parse(&answer("1700000000"), NOW).unwrap();
        assert_eq!((state.listen_port, state.fwmark), (51820, 51820));
        let [first, second] = &state.peers[..] else {
            panic!("{state:?}");
        };
        assert_eq!(first.public_key[..2], [1, 2]);
        assert_eq!(first.endpoint, Some("[2001:db8::7]:51821".parse().unwrap()));
        assert_eq!(first.keepalive_s, 25);
        assert_eq!(
            first.last_handshake,
            Some(Duration::from_secs(1_700_000_000))
        );
        assert_eq!(first.allowed_ips.len(), 2);
        assert_eq!((second.last_handshake, second.endpoint), (None, None));
        assert_eq!(state.public_key, None);
    }

    #[test]
    fn boringtun_reports_the_age_of_a_handshake() {
        let state = parse(&answer("100"), NOW).unwrap();
        let time = Duration::from_secs(1_700_000_000);
        assert_eq!(state.peers[0].last_handshake, Some(time));
    }

    #[test]
    fn an_error_is_not_a_state() {
        assert_eq!(parse("errno=13\n\n", NOW), None);
    }
}
