//! Plan of a testbed as a value.

use model::{
    cell::{Cell, Line, PathEngine, Quantiles, TunnelAt},
    net::{Direction, IpVersion, Side},
};

use crate::queues::{self, Timers};

/// A host of the path: a network namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its name; also the name by which programs reach it.
    pub name: &'static str,
    /// True if it forwards.
    pub router: bool,
    /// Settings to write, by dotted name.
    pub sysctls: Vec<(String, String)>,
}

/// Treatment of the packets that one device of a link sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Hand them on at once.
    Wire,
    /// The host's own queue.
    End,
    /// The bottleneck of a direction.
    Bottleneck(Direction),
    /// The delay of a direction, with its faults.
    Delay(Direction),
    /// Both of them, by one queueing discipline.
    Path(Direction),
    /// Stage passed only by packets of the tunnel.
    Tunnel(Direction),
    /// The line in front of the near end.
    Local(Direction),
    /// The shapers of the host behind that line: what it sends, and what it gets.
    Router,
}

/// A link between host `n` and host `n + 1` of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Number of its network.
    pub number: u8,
    /// Treatment by the device on the near end's side (it sends up).
    pub near_side: Stage,
    /// Treatment by the device on the far end's side (it sends down).
    pub far_side: Stage,
    /// Address families on it.
    pub families: Vec<IpVersion>,
}

/// The whole path.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The hosts from the near end to the far one.
    pub hosts: Vec<Host>,
    /// The links between neighbours.
    pub links: Vec<Link>,
    /// Ends of the tunnel, as indexes of `hosts`.
    pub tunnel: Option<(usize, usize)>,
    /// True if senders may hand segments of several packets to the path: only where the bottleneck
    /// splits them before it counts them.
    pub segmentation: bool,
}

/// A host's device towards the near end, and the one towards the far end: programs on the hosts see
/// these names, like the host names.
pub(crate) const DEVICES: [&str; 2] = ["to-client", "to-server"];

/// Numbers of the links between `near` and `far`.
pub(crate) const MIDDLE: [u8; 2] = [3, 6];

/// Name of the host behind the line in front of the near end.
pub(crate) const THIRD: &str = "third";

/// Number of the link on which that host faces the near end.
pub(crate) const THIRD_LINK: u8 = 8;

impl Plan {
    /// The plan for a cell.
    pub fn new(cell: &Cell, timers: Timers) -> Self {
        let routers = cell
            .tunnel
            .as_ref()
            .is_some_and(|t| t.at == TunnelAt::Routers);
        let path = cell.path.ip;
        let inner = cell.tunnel.as_ref().map_or(path, |t| t.ip);
        let mut hosts = vec![end(Side::Near, cell)];
        let mut links = Vec::new();
        if routers {
            hosts.push(router("client-router"));
            links.push(link(1, Stage::End, Stage::Wire, inner));
        }
        // Names of the two in the middle, for `lab exec`; the ends are the client and the server.
        let (down, up) = (stages(cell, Direction::Down), stages(cell, Direction::Up));
        let inner_links = down.len() - 1;
        let outward = if routers { Stage::Wire } else { Stage::End };
        let mut first = outward;
        if cell.path.local.is_some() {
            links.extend(local_links(outward, path));
            hosts.extend(["local", "local", THIRD].map(router));
            first = Stage::Router;
        }
        let number = if links.iter().any(|l| l.number == 2) {
            9
        } else {
            2
        };
        hosts.push(router("near"));
        hosts.extend((1..inner_links).map(|_| router("middle")));
        hosts.push(router("far"));
        // Each router sends one direction's packets to the next and the other's to the one before.
        links.push(link(number, first, down[inner_links], path));
        for (index, number) in (0..inner_links).zip(MIDDLE) {
            links.push(link(number, up[index], down[inner_links - 1 - index], path));
        }
        links.push(link(4, up[inner_links], outward, path));
        if routers {
            hosts.push(router("server-router"));
            links.push(link(5, Stage::Wire, Stage::End, inner));
        }
        hosts.push(end(Side::Far, cell));
        if path == IpVersion::V4 && inner == IpVersion::V4 {
            hosts.iter_mut().for_each(without_ipv6);
        }
        let last = hosts.len() - 1;
        let tunnel = cell.tunnel.as_ref().map(|t| match t.at {
            TunnelAt::Ends => (0, last),
            TunnelAt::Routers => (1, last - 1),
        });
        let lines = [&cell.path.down, &cell.path.up];
        let staged = inner_links > 1;
        let segmentation = timers == Timers::Exact
            && lines.into_iter().all(|line| cuts_segments(cell, line))
            && !staged
            && cell.path.local.is_none();
        Self {
            hosts,
            links,
            tunnel,
            segmentation,
        }
    }

    /// The networks `host` reaches through a neighbour, each with the side that neighbour is on.
    pub fn remote_networks(&self, host: usize) -> Vec<(u8, Side)> {
        let mut networks = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            // Link n joins hosts n and n + 1.
            if index + 1 < host {
                networks.push((link.number, Side::Near));
            } else if index > host {
                networks.push((link.number, Side::Far));
            }
        }
        networks
    }
}

/// The links of the line in front of the near end. Its queues are between two routers, so that
/// neither the near end nor the third host sends into one by its own device. The first link has the
/// number of the outer link of the near end in every plan.
fn local_links(outward: Stage, path: IpVersion) -> [Link; 3] {
    let (up, down) = (Stage::Local(Direction::Up), Stage::Local(Direction::Down));
    [
        link(2, outward, Stage::Wire, path),
        link(7, up, down, path),
        link(THIRD_LINK, Stage::Wire, Stage::Wire, path),
    ]
}

/// The stages of a direction in the order in which packets pass them: the stage of the tunnel's
/// packets alone, the bottleneck, then the delay with its faults. Both directions have as many.
///
/// A delay without faults comes first, because a sender's multi-packet segments pass it unsplit,
/// which is cheaper, and are split by the bottleneck as usual. The arrivals at the queue, and the
/// round trip from there, are the same in either order.
fn stages(cell: &Cell, direction: Direction) -> Vec<Stage> {
    let line = cell.path.line(direction);
    let (queue, delay) = (Stage::Bottleneck(direction), Stage::Delay(direction));
    let tunnel = cell.tunnel.as_ref().map(|tunnel| {
        let own = tunnel.stage(direction);
        let staged = tunnel.down.is_some() || tunnel.up.is_some();
        let stage = own.map_or(Stage::Wire, |_| Stage::Tunnel(direction));
        staged.then_some(stage)
    });
    let line = if is_one(cell, line) {
        // Segments reach the last router uncut.
        [Stage::Wire, Stage::Path(direction)]
    } else if line.faults_first || line.rate.is_some() && queues::is_pure(line) {
        [delay, queue]
    } else {
        [queue, delay]
    };
    tunnel.flatten().into_iter().chain(line).collect()
}

/// Returns true if a direction is made by one queueing discipline.
fn is_one(cell: &Cell, line: &Line) -> bool {
    cell.engine == PathEngine::Device && queues::serves(line)
}

/// Shapers split a segment into packets before they queue it (`tbf_segment`, `cake_enqueue`), if
/// their bucket is smaller than it, and `path` before its policer and its faults, too. In a chain a
/// policer, faults before the bottleneck, or no bottleneck at all, would see it unsplit.
fn cuts_segments(cell: &Cell, line: &Line) -> bool {
    if is_one(cell, line) {
        return true;
    }
    let first = line.faults_first && !queues::is_pure(line);
    let policed = line.queue == model::cell::Queue::Policer || line.policer.is_some();
    line.rate.is_some() && !policed && !first
}

fn link(number: u8, near_side: Stage, far_side: Stage, ip: IpVersion) -> Link {
    Link {
        number,
        near_side,
        far_side,
        families: vec![ip],
    }
}

/// Its control packets (router solicitations, group reports) would be counted and lost like those
/// of the path.
fn without_ipv6(host: &mut Host) {
    let setting = ("net.ipv6.conf.default.disable_ipv6", "1");
    host.sysctls
        .push((setting.0.to_owned(), setting.1.to_owned()));
}

fn router(name: &'static str) -> Host {
    let sysctls = [
        ("net.ipv4.ip_forward", "1"),
        ("net.ipv6.conf.all.forwarding", "1"),
    ];
    let sysctls = sysctls.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
    Host {
        name,
        router: true,
        sysctls,
    }
}

fn end(side: Side, cell: &Cell) -> Host {
    let end = cell.ends.end(side);
    let fits = fitting_buffer(cell);
    let (rmem, wmem) = (
        end.rmem.map_or(fits, |b| b.0),
        end.wmem.map_or(fits, |b| b.0),
    );
    let settings = [
        ("net.ipv4.tcp_rmem", format!("4096 131072 {rmem}")),
        ("net.ipv4.tcp_wmem", format!("4096 16384 {wmem}")),
        (
            "net.ipv4.tcp_ecn",
            if end.ecn { "1" } else { "0" }.to_owned(),
        ),
        // Cached metrics of one flow must not help the next.
        ("net.ipv4.tcp_no_metrics_save", "1".to_owned()),
        ("net.ipv4.ping_group_range", "0 2147483647".to_owned()),
    ];
    let sysctls = settings.map(|(k, v)| (k.to_owned(), v)).to_vec();
    Host {
        name: side.spec_name(),
        router: false,
        sysctls,
    }
}

/// A buffer size that never limits a flow on this path: the kernel's defaults, or eight times the
/// capacity of the path and its queue, whichever is more. Eight, because the kernel grows to twice
/// the window, and counts the memory of small packets at more than their size.
fn fitting_buffer(cell: &Cell) -> u64 {
    const MIN: u64 = 6 << 20;
    const MAX: u64 = 1 << 30;
    let path = &cell.path;
    let holds = |line: &model::cell::Line| {
        let rate = line
            .rate
            .unwrap_or(model::units::Rate::from_bps(10_000_000_000));
        let steps = line.rate_steps.iter().flat_map(|steps| &steps.steps);
        let rates = steps.map(|step| step.rate).chain(line.peak.map(|p| p.rate));
        let rate = rates.fold(rate, model::units::Rate::max);
        let spread = line.jitter_quantiles.as_ref().map(Quantiles::most);
        let spread = spread.unwrap_or_default() + line.slots.unwrap_or_default();
        rate.bytes_in(path.rtt() + line.jitter + spread).0 + line.buffer.bytes(path.mtu).0
    };
    let most = holds(&path.down).max(holds(&path.up));
    let local = path.local.iter().flat_map(|local| [local.down, local.up]);
    let waiting = local.map(|line| line.buffer.bytes(path.mtu).0).max();
    let most = most + waiting.unwrap_or(0);
    (8 * most).clamp(MIN, MAX)
}
