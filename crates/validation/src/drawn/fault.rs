//! Faults of a path: kinds, removal, and the findings that name them.
//!
//! This is the only place that maps faults to codes of causes.

use std::fmt;

use model::{
    cause::CauseCode,
    cell::{Buffer, Cell, EndQdisc, Line, Loss, Queue, TunnelAt},
    net::{Direction, IpVersion, Side},
    units::{Bytes, Rate, Share},
};
use serde::{Deserialize, Serialize};

/// A property of a path that may cost goodput or latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Packets are lost at random or in a pattern.
    Loss(Direction),
    /// The delay varies.
    Jitter(Direction),
    /// Packets overtake others.
    Reordering(Direction),
    /// Packets arrive twice.
    Duplicates(Direction),
    /// The bottleneck's queue lets delay build up.
    DeepQueue(Direction),
    /// The bottleneck's buffer holds less than a bandwidth-delay product.
    ShortBuffer(Direction),
    /// The bottleneck's queue management drops or marks too early for this path.
    QueueManagement(Direction),
    /// Traffic above the rate is dropped instead of queued.
    Policer(Direction),
    /// This host's receive buffer is limited.
    ReceiveBuffer(Side),
    /// This host's send buffer is limited.
    SendBuffer(Side),
    /// A shaper on a device of this host.
    Shaper(Side),
    /// A plain queue under that shaper.
    OwnQueue(Side),
    /// The tunnel's full packets do not fit the path.
    TunnelMtu,
    /// Flows of others on the line, in this direction.
    Neighbours(Direction),
}

/// Findings about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes {
    /// Codes of causes that name it.
    pub right: &'static [CauseCode],
    /// Codes that are also true, without naming it.
    pub also: &'static [CauseCode],
}

impl Fault {
    /// The findings about it, with the reason for each companion.
    pub fn codes(self) -> Codes {
        let (right, also): (&[_], &[_]) = match self {
            // The cost of loss depends on the sender: the far host, or a host whose peer has bbr.
            Self::Loss(Direction::Down) => (
                &[CauseCode::RANDOM_LOSS],
                &[CauseCode::FAR_END_LIMIT, CauseCode::CC_ON_WRONG_HOST],
            ),
            Self::Loss(Direction::Up) => {
                (&[CauseCode::RANDOM_LOSS], &[CauseCode::CC_ON_WRONG_HOST])
            }
            Self::Jitter(_) => (
                &[CauseCode::JITTER],
                &[CauseCode::FAR_END_LIMIT, CauseCode::CC_ON_WRONG_HOST],
            ),
            Self::Reordering(_) => (&[CauseCode::REORDERING], &[]),
            // A queue on a host's device that has no effect because the line's is the bottleneck.
            Self::DeepQueue(_) => (
                &[CauseCode::BUFFERBLOAT_REMOTE],
                &[CauseCode::AQM_IDLE, CauseCode::WRONG_QUEUE],
            ),
            Self::Policer(_) => (&[CauseCode::POLICER], &[]),
            // The limit is also an unusual setting of that host.
            Self::ReceiveBuffer(_) => (&[CauseCode::RECEIVE_WINDOW], &[CauseCode::HOST_SETTINGS]),
            Self::SendBuffer(_) => (
                &[CauseCode::SEND_BUFFER],
                &[CauseCode::HOST_SETTINGS, CauseCode::FAR_END_LIMIT],
            ),
            // The queue of the shaper, of any kind, is the host's queue.
            Self::Shaper(_) => (
                &[CauseCode::LEFTOVER_SHAPER],
                &[CauseCode::BUFFERBLOAT_LOCAL, CauseCode::WRONG_QUEUE],
            ),
            Self::OwnQueue(_) => (
                &[CauseCode::BUFFERBLOAT_LOCAL, CauseCode::WRONG_QUEUE],
                &[CauseCode::LEFTOVER_SHAPER, CauseCode::AQM_IDLE],
            ),
            Self::TunnelMtu => (&[CauseCode::FRAGMENTATION], &[]),
            Self::Neighbours(_) => (&[CauseCode::SHARED_LINE], &[]),
            // Their cost depends on the sender, as that of loss.
            Self::ShortBuffer(_) | Self::QueueManagement(_) => (
                &[CauseCode::SHALLOW_QUEUE],
                &[CauseCode::FAR_END_LIMIT, CauseCode::CC_ON_WRONG_HOST],
            ),
            // No rule names these: the correct result is no cause, but not CauseCode::HEALTHY.
            Self::Duplicates(_) => (&[], &[]),
        };
        Codes { right, also }
    }

    /// Returns true if it only limits each flow to its fair share of a line that others use, too:
    /// that is the purpose of flow isolation, and the ends cannot distinguish the share from the
    /// rate of the line.
    pub fn is_fair_share(self, cell: &Cell) -> bool {
        let (Self::Neighbours(d) | Self::QueueManagement(d)) = self else {
            return false;
        };
        let keeps_apart = matches!(
            cell.path.line(d).queue,
            Queue::Fq | Queue::FqCodel | Queue::Cake
        );
        keeps_apart && cell.cross.iter().any(|c| c.directions.contains(&d))
    }

    /// Returns the causes that are true because of its setting, with or without a cost.
    pub fn always(self) -> &'static [CauseCode] {
        match self {
            Self::ReceiveBuffer(_) | Self::SendBuffer(_) => &[CauseCode::HOST_SETTINGS],
            _ => &[],
        }
    }

    /// Returns true if it costs latency under load, false if goodput.
    pub fn is_of_latency(self) -> bool {
        matches!(self, Self::DeepQueue(_) | Self::OwnQueue(_))
    }

    /// The direction it is in; `None` if it is in both.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Self::Loss(d)
            | Self::Jitter(d)
            | Self::Reordering(d)
            | Self::Duplicates(d)
            | Self::DeepQueue(d)
            | Self::ShortBuffer(d)
            | Self::QueueManagement(d)
            | Self::Policer(d)
            | Self::Neighbours(d) => Some(d),
            Self::SendBuffer(side) | Self::Shaper(side) | Self::OwnQueue(side) => Some(sends(side)),
            Self::ReceiveBuffer(side) => Some(sends(side.other())),
            Self::TunnelMtu => None,
        }
    }

    /// Returns true if it may act on a load in this direction. Variable delay also acts through the
    /// acknowledgements, and so do queues filled by others.
    pub fn acts_on(self, direction: Direction) -> bool {
        match self {
            Self::Jitter(_) | Self::Neighbours(_) => true,
            _ => self.direction().is_none_or(|own| own == direction),
        }
    }

    /// The path without it.
    pub fn remove(self, cell: &mut Cell) {
        let (mtu, rtt) = (cell.path.mtu, cell.path.rtt());
        let one_bdp = |line: &Line| {
            let packets = Buffer::Packets(SHORT_PACKETS).bytes(mtu);
            Buffer::Bytes(Bytes(bdp(line, rtt).max(packets.0)))
        };
        match self {
            Self::Loss(d) => cell.path.line_mut(d).loss = Loss::None,
            Self::Jitter(d) => cell.path.line_mut(d).jitter = std::time::Duration::ZERO,
            Self::Reordering(d) => cell.path.line_mut(d).reorder = Share::ZERO,
            Self::Duplicates(d) => cell.path.line_mut(d).duplicate = Share::ZERO,
            Self::DeepQueue(d) => {
                let line = cell.path.line_mut(d);
                (line.queue, line.buffer) = (Queue::FqCodel, Buffer::Kernel);
            }
            Self::ShortBuffer(d) | Self::QueueManagement(d) | Self::Policer(d) => {
                let line = cell.path.line_mut(d);
                (line.queue, line.buffer) = (Queue::Fifo, one_bdp(line));
            }
            Self::ReceiveBuffer(side) => cell.ends.end_mut(side).rmem = None,
            Self::SendBuffer(side) => cell.ends.end_mut(side).wmem = None,
            Self::Shaper(side) => cell.ends.end_mut(side).shape = None,
            Self::OwnQueue(side) => cell.ends.end_mut(side).qdisc = EndQdisc::FqCodel,
            Self::TunnelMtu => {
                let most = largest(cell);
                if let Some(tunnel) = &mut cell.tunnel {
                    tunnel.mtu = tunnel.mtu.min(most);
                }
            }
            Self::Neighbours(d) => {
                for cross in &mut cell.cross {
                    cross.directions.retain(|own| *own != d);
                }
                cell.cross.retain(|cross| !cross.directions.is_empty());
            }
        }
    }
}

/// Fewest packets of a buffer that is not short.
const SHORT_PACKETS: u32 = 20;
/// A queue below this cannot add a relevant delay, seconds.
const SHALLOW_S: f64 = 0.025;

/// Codes that are true of the ends with or without a cost: the packets of a tunnel are one flow for
/// `fq`, which queues 100 packets of a flow (`flow_limit`, tc-fq(8)).
pub fn of_setting(cell: &Cell) -> Vec<CauseCode> {
    let at_ends = cell.tunnel.as_ref().is_some_and(|t| t.at == TunnelAt::Ends);
    let fq = [Side::Near, Side::Far]
        .into_iter()
        .any(|side| cell.ends.end(side).qdisc == EndQdisc::Fq);
    if at_ends && fq {
        vec![CauseCode::FQ_FLOW_LIMIT]
    } else {
        Vec::new()
    }
}

/// Returns true if the packets of a tunnel are made between the ends, which then see neither its
/// overhead nor whether they are fragmented.
pub fn is_tunnel_between(cell: &Cell) -> bool {
    let tunnel = cell.tunnel.as_ref();
    tunnel.is_some_and(|t| t.at == TunnelAt::Routers)
}

/// All faults of a path that may have a cost, in a fixed order.
pub fn of(cell: &Cell) -> Vec<Fault> {
    let mut faults = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        of_line(cell, direction, &mut faults);
        of_ends(cell, direction, &mut faults);
    }
    let tunnel_mtu = cell.tunnel.as_ref().map(|tunnel| tunnel.mtu);
    if tunnel_mtu.is_some_and(|mtu| mtu > largest(cell)) {
        faults.push(Fault::TunnelMtu);
    }
    faults
}

fn of_line(cell: &Cell, direction: Direction, faults: &mut Vec<Fault>) {
    let line = cell.path.line(direction);
    let mut add = |is: bool, fault: fn(Direction) -> Fault| {
        if is {
            faults.push(fault(direction));
        }
    };
    add(line.loss != Loss::None, Fault::Loss);
    add(!line.jitter.is_zero(), Fault::Jitter);
    add(!line.reorder.is_zero(), Fault::Reordering);
    add(!line.duplicate.is_zero(), Fault::Duplicates);
    let buffer = line.buffer.bytes(cell.path.mtu);
    let seconds = |rate: Rate| rate.time_for(buffer).as_secs_f64();
    let deep = line.rate.is_some_and(|rate| seconds(rate) > SHALLOW_S);
    let plain = matches!(line.queue, Queue::Fifo | Queue::Red);
    add(plain && deep, Fault::DeepQueue);
    let short = buffer.0 < bdp(line, cell.path.rtt()) * 4 / 5
        || buffer.0 < Buffer::Packets(SHORT_PACKETS / 2).bytes(cell.path.mtu).0;
    add(
        line.queue == Queue::Fifo && line.rate.is_some() && short,
        Fault::ShortBuffer,
    );
    let managed = !matches!(line.queue, Queue::Fifo | Queue::Policer);
    add(managed && line.rate.is_some(), Fault::QueueManagement);
    add(line.queue == Queue::Policer, Fault::Policer);
    let others = cell.cross.iter().any(|c| c.directions.contains(&direction));
    add(others, Fault::Neighbours);
}

/// Faults of the hosts in the data of a direction.
fn of_ends(cell: &Cell, direction: Direction, faults: &mut Vec<Fault>) {
    let (sender, receiver) = (Side::sends(direction), Side::receives(direction));
    let sends = cell.ends.end(sender);
    if cell.ends.end(receiver).rmem.is_some() {
        faults.push(Fault::ReceiveBuffer(receiver));
    }
    if sends.wmem.is_some() {
        faults.push(Fault::SendBuffer(sender));
    }
    if sends.shape.is_some() {
        faults.push(Fault::Shaper(sender));
        if sends.qdisc == EndQdisc::Fifo {
            faults.push(Fault::OwnQueue(sender));
        }
    }
}

/// Largest MTU of a tunnel whose packets fit the path: WireGuard adds 60 bytes over IPv4 and 80
/// over IPv6 (wg-quick(8)).
fn largest(cell: &Cell) -> u32 {
    cell.path.mtu.saturating_sub(match cell.path.ip {
        IpVersion::V4 => 60,
        IpVersion::V6 => 80,
    })
}

/// Bandwidth-delay product of a line, bytes; 0 without a rate.
fn bdp(line: &Line, rtt: std::time::Duration) -> u64 {
    line.rate.map_or(0, |rate| rate.bytes_in(rtt).0)
}

/// The direction of the data that a host sends.
fn sends(side: Side) -> Direction {
    match side {
        Side::Near => Direction::Up,
        Side::Far => Direction::Down,
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loss(d) => write!(f, "loss {d}"),
            Self::Jitter(d) => write!(f, "jitter {d}"),
            Self::Reordering(d) => write!(f, "reordering {d}"),
            Self::Duplicates(d) => write!(f, "duplicates {d}"),
            Self::DeepQueue(d) => write!(f, "deep queue {d}"),
            Self::ShortBuffer(d) => write!(f, "short buffer {d}"),
            Self::QueueManagement(d) => write!(f, "queue management {d}"),
            Self::Policer(d) => write!(f, "policer {d}"),
            Self::ReceiveBuffer(side) => write!(f, "receive buffer of the {side}"),
            Self::SendBuffer(side) => write!(f, "send buffer of the {side}"),
            Self::Shaper(side) => write!(f, "shaper of the {side}"),
            Self::OwnQueue(side) => write!(f, "own queue of the {side}"),
            Self::TunnelMtu => f.write_str("tunnel MTU"),
            Self::Neighbours(d) => write!(f, "neighbours {d}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::spec::Spec;

    use super::*;

    fn cell(spec: &str) -> Cell {
        Spec::parse("a", spec)
            .unwrap()
            .cells()
            .unwrap()
            .swap_remove(0)
    }

    #[test]
    fn a_path_without_its_faults_has_none_of_them() {
        let spec = "[path]\nrate = \"10mbit\"\nrtt = \"40ms\"\nbuffer = \"300ms\"\nloss = \"1%\"\n\
            down.jitter = \"5ms\"\n[tunnel]\nmtu = 1480\n[ends]\nclient.rmem = \"64kB\"\n\
            server.shape = \"5mbit\"\nserver.qdisc = \"fifo\"\n[[cross]]\ndirection = \"up\"\n";
        let mut path = cell(spec);
        let faults = of(&path);
        let expected = [
            Fault::Loss(Direction::Down),
            Fault::Jitter(Direction::Down),
            Fault::DeepQueue(Direction::Down),
            Fault::ReceiveBuffer(Side::Near),
            Fault::Shaper(Side::Far),
            Fault::OwnQueue(Side::Far),
            Fault::Loss(Direction::Up),
            Fault::DeepQueue(Direction::Up),
            Fault::Neighbours(Direction::Up),
            Fault::TunnelMtu,
        ];
        assert_eq!(faults, expected);
        for fault in faults {
            fault.remove(&mut path);
            assert!(!of(&path).contains(&fault), "{fault}");
        }
        assert_eq!(path.impossible(), Vec::new());
    }

    #[test]
    fn a_plain_path_has_no_faults() {
        assert_eq!(
            of(&cell("[path]\nrate = \"50mbit\"\nbuffer = \"20ms\"\n")),
            []
        );
    }

    #[test]
    fn a_window_belongs_to_the_data_it_limits() {
        let near = Fault::ReceiveBuffer(Side::Near);
        assert_eq!(near.direction(), Some(Direction::Down));
        let near = Fault::SendBuffer(Side::Near);
        assert_eq!(near.direction(), Some(Direction::Up));
    }
}
