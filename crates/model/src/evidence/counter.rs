//! Kinds of counters.

/// Group of counters: the first part of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterGroup {
    /// TCP, UDP and IP, under the names of nstat.
    Nstat,
    /// Input queues of the processors.
    Softnet,
    /// Network devices.
    Nic,
    /// Queue disciplines.
    Qdisc,
}

impl CounterGroup {
    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nstat => "nstat",
            Self::Softnet => "softnet",
            Self::Nic => "nic",
            Self::Qdisc => "qdisc",
        }
    }

    /// Returns true if a counter, gauge or group of a document belongs to it.
    pub fn includes(self, name: &str) -> bool {
        let rest = name.strip_prefix(self.name());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// Counters of one meaning: their names differ by protocol, processor, device or queue only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterKind {
    /// Packets with a wrong checksum.
    ChecksumErrors,
    /// Fragments made, and fragments received.
    Fragments,
    /// Datagrams dropped because of a full receive buffer.
    ReceiveBufferErrors,
    /// Datagrams dropped because of a full send buffer, or by the queue of the device.
    SendBufferErrors,
    /// Packets dropped by the input queue of a processor.
    BacklogDrops,
    /// Times that a processor had more packets than its budget.
    TimeSqueezes,
    /// Packets dropped by a network device.
    DeviceDrops,
    /// Packets dropped by a queue discipline. Those that filters drop at the hooks of a device are
    /// not in it: these hooks have no queue (Linux net/sched/sch_ingress.c).
    QueueDrops,
    /// Packets dropped by the limit of fq for one flow.
    FlowLimitDrops,
    /// Bytes waiting in a queue discipline (a gauge).
    Backlog,
}

/// Queue disciplines that hold filters and no packets.
const HOOKS: [&str; 2] = ["clsact", "ingress"];

impl CounterKind {
    /// The group of the counters.
    pub const fn group(self) -> CounterGroup {
        match self {
            Self::ChecksumErrors
            | Self::Fragments
            | Self::ReceiveBufferErrors
            | Self::SendBufferErrors => CounterGroup::Nstat,
            Self::BacklogDrops | Self::TimeSqueezes => CounterGroup::Softnet,
            Self::DeviceDrops => CounterGroup::Nic,
            Self::QueueDrops | Self::FlowLimitDrops | Self::Backlog => CounterGroup::Qdisc,
        }
    }

    /// Suffixes of the names, including those in documents of other programs and older versions.
    const fn ends(self) -> &'static [&'static str] {
        match self {
            Self::ChecksumErrors => &["InCsumErrors"],
            Self::Fragments => &["FragCreates", "ReasmReqds"],
            Self::ReceiveBufferErrors => &["RcvbufErrors"],
            Self::SendBufferErrors => &["SndbufErrors"],
            Self::BacklogDrops => &["dropped"],
            Self::TimeSqueezes => &["time_squeeze", "time_squeezed", "squeezed"],
            Self::DeviceDrops => &[
                "rx_missed_errors",
                "rx_missed",
                "rx_fifo_errors",
                "rx_no_buffer",
                "rx_dropped",
                "tx_dropped",
            ],
            Self::QueueDrops => &[".drops", ".dropped"],
            Self::FlowLimitDrops => &["flows_plimit"],
            Self::Backlog => &["backlog_bytes"],
        }
    }

    /// Returns true if a counter of a document is of this kind.
    pub fn includes(self, name: &str) -> bool {
        let is_hook = || {
            HOOKS
                .iter()
                .any(|kind| name.split('.').any(|part| part == *kind))
        };
        self.group().includes(name)
            && self.ends().iter().any(|end| name.ends_with(end))
            && !(self == Self::QueueDrops && is_hook())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: packets dropped by a filter at the ingress of a device were drops of its queue.
    #[test]
    fn drops_of_a_filter_are_not_those_of_a_queue() {
        for hook in ["clsact.clsact", "ingress.ingress"] {
            assert!(!CounterKind::QueueDrops.includes(&format!("qdisc.eth0.{hook}.drops")));
        }
    }

    #[test]
    fn a_name_belongs_to_the_group_of_its_first_part() {
        assert!(CounterKind::QueueDrops.includes("qdisc.eth0.root.fq.drops"));
        assert!(!CounterKind::QueueDrops.includes("qdisc.eth0.root.fq.loss_drops"));
        assert!(!CounterKind::QueueDrops.includes("nic.eth0.drops"));
        assert!(CounterKind::ReceiveBufferErrors.includes("nstat.Udp6RcvbufErrors"));
        assert!(CounterGroup::Nic.includes("nic.eth0") && !CounterGroup::Nic.includes("nice.eth0"));
    }
}
