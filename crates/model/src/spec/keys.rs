//! The table of keys with their types and defaults, used by the parser, the search for the nearest
//! key and the reference.

use std::time::Duration;

use super::{
    kind::Kind,
    nearest::nearest_key,
    reason::Reason,
    value::{Scalar, Value},
};
use crate::cell::{
    KernelName,
    bounds::{
        MAX_BUFFER, MAX_FLOWS, MAX_LOWAT, MAX_MTU, MAX_PAYLOAD, MAX_REQUESTS, MAX_SIZE, MAX_SOCKET,
        MAX_TIME, MIN_MTU_V4, MIN_PAYLOAD, MIN_PROBE, MIN_SOCKET, MIN_TIME,
    },
};

/// A group of tables with the same keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The top of the file.
    Top,
    /// `[path]`.
    Path,
    /// `[path.down]` and `[path.up]`.
    Line,
    /// `[tunnel]`.
    Tunnel,
    /// `[tunnel.down]` and `[tunnel.up]`.
    TunnelLine,
    /// `[local]`.
    Local,
    /// `[local.down]` and `[local.up]`.
    LocalLine,
    /// `[ends]`, `[ends.server]` and `[ends.client]`.
    Ends,
    /// `[traffic]`.
    Traffic,
    /// `[[cross]]`.
    Cross,
}

impl Section {
    /// All, in the order of the reference.
    pub(super) const ALL: [Self; 10] = [
        Self::Top,
        Self::Path,
        Self::Line,
        Self::Tunnel,
        Self::TunnelLine,
        Self::Local,
        Self::LocalLine,
        Self::Ends,
        Self::Traffic,
        Self::Cross,
    ];

    /// The section of the table with this dotted name; `cross.0` is the first `[[cross]]`.
    fn of(table: &str) -> Option<Self> {
        Some(match table {
            "" => Self::Top,
            "path" => Self::Path,
            "path.down" | "path.up" => Self::Line,
            "tunnel" => Self::Tunnel,
            "tunnel.down" | "tunnel.up" => Self::TunnelLine,
            "local" => Self::Local,
            "local.down" | "local.up" => Self::LocalLine,
            "ends" | "ends.server" | "ends.client" => Self::Ends,
            "traffic" => Self::Traffic,
            _ => table
                .strip_prefix("cross.")
                .and_then(index)
                .map(|_| Self::Cross)?,
        })
    }
}

fn index(text: &str) -> Option<usize> {
    let plain = !text.is_empty() && (text == "0" || !text.starts_with('0'));
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    if plain && digits {
        text.parse().ok()
    } else {
        None
    }
}

/// Default of a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fallback {
    /// This value as text.
    Text(&'static str),
    /// This number.
    Integer(i64),
    /// This boolean.
    Bool(bool),
    /// Depends on other keys; the text is for the reference.
    Rule(&'static str),
    /// None: the key is required where it applies.
    Needed(&'static str),
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The tables it belongs to.
    pub(super) sections: &'static [Section],
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) fallback: Fallback,
    pub(super) meaning: &'static str,
}

impl Key {
    /// The default, if it is a value.
    pub(super) fn default_value(&self) -> Option<Value> {
        let scalar = match self.fallback {
            Fallback::Text(text) => Scalar::Text(text.to_owned()),
            Fallback::Integer(n) => Scalar::Integer(n),
            Fallback::Bool(b) => Scalar::Bool(b),
            _ => return None,
        };
        self.kind.check(&scalar).ok()
    }
}

const fn key(
    sections: &'static [Section],
    name: &'static str,
    kind: Kind,
    fallback: Fallback,
    meaning: &'static str,
) -> Key {
    Key {
        sections,
        name,
        kind,
        fallback,
        meaning,
    }
}

const ANY: Kind = Kind::Time(Duration::ZERO, MAX_TIME);
const TOP: &[Section] = &[Section::Top];
const PATH: &[Section] = &[Section::Path];
const LINE: &[Section] = &[Section::Line];
const BOTH: &[Section] = &[Section::Path, Section::Line];
const TUNNEL: &[Section] = &[Section::Tunnel];
const STAGE: &[Section] = &[Section::Tunnel, Section::TunnelLine];
const LOCAL: &[Section] = &[Section::Local, Section::LocalLine];
const ENDS: &[Section] = &[Section::Ends];
const TRAFFIC: &[Section] = &[Section::Traffic];
const CROSS: &[Section] = &[Section::Cross];
const LOADS: &[Section] = &[Section::Traffic, Section::Cross];

const SOCKET: Kind = Kind::MaybeSize(MIN_SOCKET.0, MAX_SOCKET.0);
const MTU: Kind = Kind::Count(MIN_MTU_V4 as u64, MAX_MTU as u64);

/// Every key.
#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key(TOP, "name", Kind::Name, Fallback::Rule("the file's name"), "Name of the spec, in rows and in output folders."),
    key(TOP, "seed", Kind::Seed, Fallback::Integer(1), "Seed of the first repeat; repeat r runs with seed + r."),
    key(TOP, "repeats", Kind::Count(1, 100_000), Fallback::Integer(1), "Cells for each combination of the matrix, each with its own seed."),
    key(TOP, "duration", Kind::Time(MIN_TIME, MAX_TIME), Fallback::Text("10s"), "Measured time, after the warm-up."),
    key(TOP, "warmup", ANY, Fallback::Text("2s"), "Load before measuring starts."),
    key(TOP, "idle", ANY, Fallback::Text("1s"), "Probing without load, before the load starts."),
    key(TOP, "sample", Kind::Time(MIN_TIME, MAX_TIME), Fallback::Text("10ms"), "Interval of the TCP_INFO and queue series."),
    key(TOP, "kernel", Kind::Kernel, Fallback::Text(KernelName::CURRENT), "Kernel image of the lab: a series (`\"7.2\"`), a version, or the beginning of a hash, as `pathtwin lab kernel list` shows them; `\"current\"` is the usual one. Several of them in the matrix show what an upgrade changes."),
    key(TOP, "engine", Kind::Engine, Fallback::Text("device"), "How the path is made: `\"device\"` by one queueing discipline for each direction, where the line has a rate and the lab's kernel has it; `\"chain\"` by the kernel's own shapers and emulators on ordinary routers, which costs up to half as much again and by which the former is judged (docs/validation.md)."),
    key(TOP, "tunnel", Kind::Switch, Fallback::Rule("`\"none\"` without a `[tunnel]`"), "Short form of the table, for the matrix and `--set`: `\"none\"` (or `false`) removes the tunnel, `\"wireguard\"` adds it."),

    key(PATH, "rtt", ANY, Fallback::Text("20ms"), "Two-way propagation delay, half of it in each direction."),
    key(LINE, "delay", ANY, Fallback::Rule("half of `path.rtt`"), "One-way propagation delay of this direction."),
    key(BOTH, "rate", Kind::Rate, Fallback::Text("100mbit"), "Rate of the bottleneck, counted with Ethernet headers."),
    key(BOTH, "buffer", Kind::Buffer, Fallback::Rule("fifo and red: `\"1bdp\"`, at least 10 full packets; other queues: the kernel's default limit; policer: 10 ms at the rate, at least 10 full packets; no rate: 1000 packets"), "Capacity of the bottleneck's queue; for a policer, its burst size. A BDP is this direction's rate times the two-way delay."),
    key(BOTH, "queue", Kind::Queue, Fallback::Text("fifo"), "Kind of the bottleneck's queue. All but `fifo` need a rate."),
    key(BOTH, "loss", Kind::Loss, Fallback::Text("0%"), "Loss after the bottleneck."),
    key(BOTH, "jitter", ANY, Fallback::Text("0s"), "Half width of the uniform delay variation; at most the one-way delay. Never reorders."),
    key(BOTH, "reorder", Kind::Share, Fallback::Text("0%"), "Share of packets that skip the delay; needs a delay."),
    key(BOTH, "duplicate", Kind::Share, Fallback::Text("0%"), "Share of packets that are duplicated."),
    key(BOTH, "faults_first", Kind::Bool, Fallback::Bool(false), "Whether loss, jitter, reordering and duplicates come before the bottleneck instead of after it. Periodic loss always comes after it."),
    key(BOTH, "policer", Kind::MaybeRate, Fallback::Text("none"), "Rate of a policer in front of the bottleneck: a token bucket without a queue, which drops what exceeds it. The bottleneck keeps its own queue."),
    key(BOTH, "policer_burst", Kind::Buffer, Fallback::Rule("10 ms at the policer's rate, at least 10 full packets"), "Size of the policer's bucket, which starts full."),
    key(BOTH, "peak", Kind::MaybeRate, Fallback::Text("none"), "Peak rate of the bottleneck until its bucket is empty, then `rate`. Not for `policer` and `cake`."),
    key(BOTH, "peak_burst", Kind::Size(1, MAX_BUFFER.0), Fallback::Text("10MB"), "Size of that bucket, which starts full and fills at `rate`. Idle for a while, a path sends `peak_burst` x `peak` / (`peak` - `rate`) bytes at the peak rate."),
    key(BOTH, "rate_steps", Kind::Steps, Fallback::Text("none"), "Changes of the bottleneck's rate, counted from the start of the load: `\"5s 20mbit, 10s 100mbit, repeat 20s\"`, or `\"trace:FILE\"`. Until the first one `rate` holds. A buffer in BDP or time is at `rate`. Not for `policer`."),
    key(BOTH, "jitter_quantiles", Kind::Quantiles, Fallback::Text("none"), "Added delay by quantiles instead of `jitter`: `\"50% 1ms, 99% 20ms\"`; 0 at 0 %, linear between, at most the last one. Never reorders: what follows a delayed packet waits for it."),
    key(BOTH, "slots", Kind::MaybeTime(Duration::ZERO, "none"), Fallback::Text("none"), "Bursts, as of a radio that collects frames: packets wait for this time after the first one and leave together. On the way back it merges ACKs."),
    key(PATH, "mtu", MTU, Fallback::Integer(1500), "MTU of every link between the ends; at least 1280 with IPv6."),
    key(PATH, "ip", Kind::Ip, Fallback::Text("ipv4"), "Address family of the path, the outer one under a tunnel. `4` and `6` are accepted."),

    key(TUNNEL, "kind", Kind::Tunnel, Fallback::Text("wireguard"), "Implementation: the kernel's own WireGuard."),
    key(TUNNEL, "mtu", MTU, Fallback::Integer(1420), "MTU of the tunnel device; at least 1280 with IPv6 inside. Packets that do not fit the path with 60 bytes (outer IPv4) or 80 bytes (IPv6) on top are fragmented."),
    key(TUNNEL, "at", Kind::At, Fallback::Text("ends"), "Where it ends: on the two hosts, or on routers in front of them."),
    key(TUNNEL, "ip", Kind::Ip, Fallback::Text("ipv4"), "Address family inside."),

    key(STAGE, "rate", Kind::Rate, Fallback::Text("unlimited"), "Rate of a stage in front of the bottleneck that only packets of the tunnel pass, counted with all headers: a line that treats UDP worse, or a host too slow for the tunnel."),
    key(STAGE, "buffer", Kind::Buffer, Fallback::Rule("1 BDP at that rate, at least 10 full packets"), "Capacity of that stage's queue, counted in full packets."),
    key(STAGE, "loss", Kind::Loss, Fallback::Text("0%"), "Loss of that stage: a percentage or `gemodel`."),

    key(LOCAL, "rate", Kind::Rate, Fallback::Text("unlimited"), "Rate of a second line in series, between the client and a third host in front of the path, counted with Ethernet headers: Wi-Fi or a cable at home."),
    key(LOCAL, "buffer", Kind::Buffer, Fallback::Rule("1 BDP at that rate, at least 10 full packets"), "Capacity of its queue (fifo), counted in full packets."),
    key(LOCAL, "loss", Kind::Loss, Fallback::Text("0%"), "Its loss: a percentage or `gemodel`."),
    key(LOCAL, "shape", Kind::Shape, Fallback::Text("none"), "Rate of a shaper on that third host, the home router, at its device to the path: up on what leaves there (egress), down on what arrives (ingress, by IFB). A percentage is one of the path's rate in that direction."),
    key(LOCAL, "shape_queue", Kind::ShapeQueue, Fallback::Text("cake"), "Queue of that shaper, with the kernel's default limit; `fifo` holds 1000 packets."),

    key(ENDS, "cc", Kind::Cc, Fallback::Text("cubic"), "Congestion control of the flows this end sends."),
    key(ENDS, "qdisc", Kind::Qdisc, Fallback::Text("fq"), "Queue of the end's own device; `none` is `noqueue`."),
    key(ENDS, "shape", Kind::Shape, Fallback::Text("none"), "Rate of a shaper around `qdisc`; a percentage is one of the path's rate in the direction this end sends."),
    key(ENDS, "ecn", Kind::Bool, Fallback::Bool(false), "Whether the end requests and accepts ECN."),
    key(ENDS, "rmem", SOCKET, Fallback::Text("auto"), "Maximum receive buffer; `auto` is sized for the path."),
    key(ENDS, "wmem", SOCKET, Fallback::Text("auto"), "Maximum send buffer; `auto` is sized for the path."),
    key(ENDS, "notsent_lowat", Kind::MaybeSize(1, MAX_LOWAT.0), Fallback::Text("auto"), "Limit of unsent bytes in a socket (`tcp_notsent_lowat`); `auto` is the kernel's default."),

    key(LOADS, "kind", Kind::Load, Fallback::Text("tcp"), "`tcp`: bulk; `udp`: datagrams at a constant rate; `short`: consecutive requests, each on its own connection; `idle`: only probes; as a competitor, nothing."),
    key(LOADS, "direction", Kind::Directions, Fallback::Text("down"), "Direction of the data: `down` is server to client."),
    key(LOADS, "flows", Kind::Count(1, MAX_FLOWS), Fallback::Integer(1), "Flows in each direction; at most 4096 in a cell."),
    key(TRAFFIC, "probe", Kind::MaybeTime(MIN_PROBE, "off"), Fallback::Text("10ms"), "Interval of the latency probes, idle and beside the load."),
    key(LOADS, "rate", Kind::SomeRate, Fallback::Needed("needed for `udp`"), "Payload rate of each flow; only for `udp`."),
    key(LOADS, "payload", Kind::Count(MIN_PAYLOAD as u64, MAX_PAYLOAD as u64), Fallback::Integer(1200), "Payload bytes of a datagram; only for `udp`."),
    key(LOADS, "size", Kind::Size(1, MAX_SIZE.0), Fallback::Needed("needed for `short`"), "Size of a response; only for `short`."),
    key(LOADS, "requests", Kind::MaybeCount(1, MAX_REQUESTS as u64, "unlimited"), Fallback::Text("unlimited"), "Consecutive requests of each flow, which then waits for the next `every`; only for `short`."),
    key(LOADS, "every", Kind::MaybeTime(MIN_TIME, "once"), Fallback::Text("once"), "Time from the first of these requests to the first of the next ones, or more if they take longer; only with `requests`."),
    key(LOADS, "cc", Kind::Cc, Fallback::Rule("that of the sending end"), "Congestion control of these flows; only for `tcp` and `short`."),
    key(CROSS, "profile", Kind::Profile, Fallback::Text("none"), "Name of a kind of use, below, in place of `kind`, `direction`, `flows`, `rate`, `payload`, `size`, `requests` and `every`."),
    key(CROSS, "start", ANY, Fallback::Text("0s"), "Start, counted from the start of the load (the warm-up's start)."),
    key(CROSS, "stop", Kind::MaybeTime(Duration::ZERO, "end"), Fallback::Text("end"), "Stop, counted like `start`; `end` is that of the cell."),
];

/// Invalid keys that users are likely to try, with the alternative.
const HINTS: &[(Section, &str, &str)] = &[
    (
        Section::Line,
        "rtt",
        "rtt is the delay of both directions together; write delay, the one-way delay of this direction",
    ),
    (
        Section::Line,
        "mtu",
        "the MTU is that of the whole path; write path.mtu",
    ),
    (
        Section::Line,
        "ip",
        "the address family is that of the whole path; write path.ip",
    ),
    (
        Section::Path,
        "delay",
        "write rtt, or delay in [path.down] and [path.up]",
    ),
    (
        Section::Cross,
        "probe",
        "probes belong to the measured traffic; write traffic.probe",
    ),
    (
        Section::Traffic,
        "start",
        "the measured traffic runs for the whole cell; only [[cross]] has a start",
    ),
    (
        Section::Traffic,
        "stop",
        "the measured traffic runs for the whole cell; only [[cross]] has a stop",
    ),
];

/// Returns true if this dotted name is a table.
pub(super) fn is_table(name: &str) -> bool {
    !name.is_empty() && Section::of(name).is_some()
}

/// Index of the `[[cross]]` table of a dotted name.
pub(super) fn cross_index(name: &str) -> Option<usize> {
    let rest = name.strip_prefix("cross.")?;
    index(rest.split_once('.').map_or(rest, |(first, _)| first))
}

/// The key with this dotted name.
pub(super) fn find(dotted: &str) -> Option<&'static Key> {
    let (table, leaf) = dotted.rsplit_once('.').unwrap_or(("", dotted));
    let section = Section::of(table)?;
    KEYS.iter()
        .find(|k| k.name == leaf && k.sections.contains(&section))
}

/// Message for an unknown key, with the nearest valid one.
pub(super) fn unknown(dotted: &str) -> Reason {
    let (table, leaf) = dotted.rsplit_once('.').unwrap_or(("", dotted));
    let section = Section::of(table);
    if dotted == "cross" {
        return Reason::Elsewhere("write [[cross]], one table for each competitor");
    }
    let hint = HINTS
        .iter()
        .find(|(s, name, _)| Some(*s) == section && *name == leaf);
    if let Some((_, _, text)) = hint {
        return Reason::Elsewhere(text);
    }
    Reason::UnknownKey {
        nearest: nearest_key(dotted, all(cross_index(dotted).unwrap_or(0))),
    }
}

/// The names of all keys and tables, with those of one `[[cross]]` table.
fn all(cross: usize) -> Vec<String> {
    let cross = format!("cross.{cross}");
    let tables = [
        "",
        "path",
        "path.down",
        "path.up",
        "tunnel",
        "tunnel.down",
        "tunnel.up",
        "local",
        "local.down",
        "local.up",
        "ends",
        "ends.server",
    ];
    let tables = tables
        .into_iter()
        .chain(["ends.client", "traffic", cross.as_str()]);
    let mut names = vec!["matrix".to_owned()];
    for table in tables {
        names.push(table.to_owned());
        let section = Section::of(table);
        let keys = KEYS
            .iter()
            .filter(|k| section.is_some_and(|s| k.sections.contains(&s)));
        names.extend(keys.map(|k| dotted(table, k.name)));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The dotted name of a key in a table.
pub(super) fn dotted(table: &str, leaf: &str) -> String {
    if table.is_empty() {
        leaf.to_owned()
    } else {
        format!("{table}.{leaf}")
    }
}

/// Returns true if the value of a key is the name of a kernel, which looks like a number.
pub(super) fn is_kernel(key: &str) -> bool {
    find(key).is_some_and(|key| matches!(key.kind, Kind::Kernel))
}
