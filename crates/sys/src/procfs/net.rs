//! Counters of the network stack.

use std::collections::BTreeMap;

/// Values in these files that are not counters: settings and gauges.
const NOT_COUNTERS: [&str; 9] = [
    "IpForwarding",
    "IpDefaultTTL",
    "TcpRtoAlgorithm",
    "TcpRtoMin",
    "TcpRtoMax",
    "TcpMaxConn",
    "TcpCurrEstab",
    "MPTcpExtMPCurrEstab",
    "MPTcpExtBlackhole",
];

/// Reads `snmp` or `netstat`: a line of names, then a line of values, each after the same `Group:`.
/// The names are those of nstat, such as `TcpExtTCPTimeouts`.
pub fn counters(text: &str) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let lines: Vec<&str> = text.lines().collect();
    for [names, values] in lines.as_chunks().0 {
        let (Some((group, names)), Some((same, values))) =
            (names.split_once(':'), values.split_once(':'))
        else {
            continue;
        };
        if group != same {
            continue;
        }
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            keep(&mut all, format!("{group}{name}"), value);
        }
    }
    all
}

/// Reads `snmp6`: a name and a value a line.
pub fn counters6(text: &str) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(value)) = (words.next(), words.next()) {
            keep(&mut all, name.to_owned(), value);
        }
    }
    all
}

fn keep(all: &mut BTreeMap<String, u64>, name: String, value: &str) {
    if let Ok(value) = value.parse()
        && !NOT_COUNTERS.contains(&name.as_str())
    {
        all.insert(name, value);
    }
}

/// Counters of one processor's input queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Softnet {
    /// Number of the processor.
    pub cpu: u32,
    /// Packets handled.
    pub processed: u32,
    /// Packets dropped because the queue was full (`net.core.netdev_max_backlog`).
    pub dropped: u32,
    /// Number of times the budget or time was exhausted (`net.core.netdev_budget`).
    pub time_squeeze: u32,
    /// Packets received from other processors (receive packet steering).
    pub received_rps: u32,
    /// Packets of large flows dropped early (`net.core.flow_limit_cpu_bitmap`).
    pub flow_limit: u32,
}

/// Reads `softnet_stat`: a line of hexadecimal words for each processor (net/core/net-procfs.c:
/// `softnet_seq_show`, Linux 7.2). The 13th word is the processor's number since Linux 5.10;
/// before, lines are counted.
pub fn softnet(text: &str) -> Vec<Softnet> {
    let mut all = Vec::new();
    for (line, words) in text.lines().enumerate() {
        let words: Vec<u32> = words
            .split_whitespace()
            .map_while(|word| u32::from_str_radix(word, 16).ok())
            .collect();
        let [processed, dropped, time_squeeze, ..] = words[..] else {
            continue;
        };
        let at = |i: usize| words.get(i).copied();
        all.push(Softnet {
            cpu: at(12).unwrap_or(u32::try_from(line).unwrap_or(u32::MAX)),
            processed,
            dropped,
            time_squeeze,
            received_rps: at(9).unwrap_or_default(),
            flow_limit: at(10).unwrap_or_default(),
        });
    }
    all
}

/// A UDP socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpSocket {
    /// Local port.
    pub port: u16,
    /// Bytes waiting to be read.
    pub rx_queue_bytes: u64,
    /// Inode of the socket.
    pub inode: u64,
    /// Datagrams dropped at the socket since its creation.
    pub drops: u64,
}

/// Reads `udp` or `udp6` (net/ipv4/udp.c: `udp4_format_sock`, Linux 7.2).
pub fn udp_sockets(text: &str) -> Vec<UdpSocket> {
    text.lines().skip(1).filter_map(udp_socket).collect()
}

/// `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ref
/// pointer drops`
fn udp_socket(line: &str) -> Option<UdpSocket> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (_, port) = words.get(1)?.rsplit_once(':')?;
    let (_, rx_queue) = words.get(4)?.split_once(':')?;
    Some(UdpSocket {
        port: u16::from_str_radix(port, 16).ok()?,
        rx_queue_bytes: u64::from_str_radix(rx_queue, 16).ok()?,
        inode: words.get(9)?.parse().ok()?,
        drops: words.get(12)?.parse().ok()?,
    })
}
