//! Measurements that ndt7 sends as text (ndt7 protocol v0.11.0, "Measurement message").

use std::{net::TcpStream, os::fd::AsFd, time::Duration};

use serde_json::{Value, json};
use sys::tcp_info::{self, TcpInfo};

/// Origin and subject of a measurement message.
pub(super) struct Speaker {
    /// `download` or `upload`.
    pub(super) test: &'static str,
    /// The connection, which is in the first message only.
    pub(super) connection: Value,
}

impl Speaker {
    /// For a connection. `wall_us`: the time, µs since 1970.
    pub(super) fn new(test: &'static str, stream: &TcpStream, wall_us: u64, id: &str) -> Self {
        let address =
            |a: std::io::Result<std::net::SocketAddr>| a.map(|a| a.to_string()).unwrap_or_default();
        let connection = json!({
            "Client": address(stream.peer_addr()),
            "Server": address(stream.local_addr()),
            "UUID": id,
            "StartTime": report::time::iso(wall_us),
            // An addition: the sender, including the congestion control that the client may have
            // chosen with ?cc=.
            "CongestionControl": sys::socket::congestion(stream).ok(),
        });
        Self { test, connection }
    }

    /// The state after this many bytes of payload.
    pub(super) fn measurement(&self, stream: &TcpStream, elapsed: Duration, bytes: u64) -> Vec<u8> {
        let elapsed_us = elapsed.as_micros() as u64;
        let mut message = json!({
            "AppInfo": {"ElapsedTime": elapsed_us, "NumBytes": bytes},
            "ConnectionInfo": self.connection,
            "Origin": "server",
            "Test": self.test,
        });
        if let Ok(info) = tcp_info::read(stream.as_fd()) {
            message["TCPInfo"] = tcp(&info, elapsed_us);
        }
        message.to_string().into_bytes()
    }
}

/// The kernel's view in the names of ndt7: times in µs. Unknown values are absent.
fn tcp(info: &TcpInfo, elapsed_us: u64) -> Value {
    let mut all = json!({
        "ElapsedTime": elapsed_us,
        "RTT": info.rtt_us,
        "RTTVar": info.rttvar_us,
        "SndCwnd": info.snd_cwnd,
        "SndMSS": info.snd_mss,
    });
    for (name, value) in [
        ("BusyTime", info.busy_time_us),
        ("BytesAcked", info.bytes_acked),
        ("BytesReceived", info.bytes_received),
        ("BytesSent", info.bytes_sent),
        ("BytesRetrans", info.bytes_retrans),
        ("MinRTT", info.min_rtt_us.map(u64::from)),
        ("RWndLimited", info.rwnd_limited_us),
        ("SndBufLimited", info.sndbuf_limited_us),
        ("DeliveryRate", info.delivery_rate_bytes_s),
    ] {
        if let Some(value) = value {
            all[name] = value.into();
        }
    }
    all
}
