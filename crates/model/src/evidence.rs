//! Counter increases and processor use of a host during a measurement.
//!
//! Counters are read before and after, and their increase is stored. A group that could not be read
//! is absent, as is a counter that this kernel does not have.

mod counter;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use counter::{CounterGroup, CounterKind};

use crate::counter::growth;

/// Counters by name. Dots separate groups: see `docs/reference/facts.md`.
pub type Counters = BTreeMap<String, u64>;

/// Increase of every counter in `after`. A counter missing from `before` starts at 0, because its
/// object was created in between; so does one that decreased, because it was reset. Counters that
/// did not change, or exist only in `before`, are left out.
pub fn difference(before: &Counters, after: &Counters) -> Counters {
    let increase = |(name, now): (&String, &u64)| {
        let then = before.get(name).copied().unwrap_or(0);
        let by = growth(then, *now).unwrap_or(*now);
        (by > 0).then(|| (name.clone(), by))
    };
    after.iter().filter_map(increase).collect()
}

/// Counter increases and processor use of one host over an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Length of the interval, microseconds.
    pub interval_us: u64,
    /// Increase of counters. Unchanged counters are left out: a missing one did not change if its
    /// group is in `groups`.
    pub counters: Counters,
    /// Groups that were read before and after, such as `nstat`, `softnet`, `qdisc.eth0`.
    pub groups: Vec<String>,
    /// Gauges at the end of the interval: `qdisc.eth0.root.fq.backlog_bytes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, u64>,
    /// Processor use; absent if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuUse>,
    /// Profile of the processors; absent unless requested and permitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hotspots: Option<HotSpots>,
}

impl Evidence {
    /// Increase of a counter: 0 if its group was read and it did not change, `None` if the group
    /// was not read.
    pub fn counter(&self, name: &str) -> Option<u64> {
        if let Some(&by) = self.counters.get(name) {
            return Some(by);
        }
        let inside = |group: &String| {
            name.strip_prefix(group.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
        };
        self.groups.iter().any(inside).then_some(0)
    }

    /// Sum of all counters of a kind.
    pub fn sum(&self, kind: CounterKind) -> u64 {
        let of = |(name, _): &(&String, &u64)| kind.includes(name);
        let by = self.counters.iter().filter(of).map(|(_, by)| by);
        by.fold(0, |sum, by| sum.saturating_add(*by))
    }
}

/// Use of the processors over an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUse {
    /// Shares of each online processor, by number.
    pub cores: Vec<CoreShares>,
    /// Threads that used any time, the busiest first: those of the tunnel's process, of WireGuard
    /// in the kernel, of softirqs and of this program. The resolution is that of kernel ticks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadUse>,
}

/// Time of one processor as shares of the interval, with sum 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreShares {
    /// Number of the processor.
    pub cpu: u32,
    /// User space, including nice and guest time.
    pub user: f64,
    /// Kernel, in process context.
    pub system: f64,
    /// Softirqs, where most of the network stack runs.
    pub softirq: f64,
    /// Hardware interrupts.
    pub irq: f64,
    /// Stolen by the hypervisor.
    pub steal: f64,
    /// Idle or waiting for I/O.
    pub idle: f64,
}

/// Processor time of one thread, or the sum over kernel threads of one purpose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Owner of the thread.
    pub role: ThreadRole,
    /// Name of the thread.
    pub name: String,
    /// Thread id.
    pub tid: u32,
    /// User time, seconds.
    pub user_s: f64,
    /// System time, seconds.
    pub system_s: f64,
    /// Time it could have run but waited for a processor, seconds; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<f64>,
}

/// Owner of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadRole {
    /// The process that forwards the tunnel's packets.
    Tunnel,
    /// The kernel: WireGuard's workers, `ksoftirqd`, NAPI threads.
    Kernel,
    /// This program.
    #[default]
    Own,
}

/// A sampling profile of all processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HotSpots {
    /// Samples of busy processors.
    pub samples: u64,
    /// Samples lost to buffer overruns.
    pub lost: u64,
    /// Requested sampling frequency per processor, Hz.
    pub frequency_hz: u32,
    /// Shares of the samples by class, with sum 1; classes without samples are left out.
    pub shares: BTreeMap<HotSpotClass, f64>,
    /// The most frequent kernel functions with their shares, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<(String, f64)>,
}

/// Class of processor work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HotSpotClass {
    /// Encryption and authentication in the kernel.
    Crypto,
    /// Copies between user space and the kernel, and checksums.
    Copy,
    /// System call entry and exit.
    Syscall,
    /// The network stack below TCP, mostly in softirqs: NAPI, GRO, IP, UDP, netfilter, queues.
    Softirq,
    /// TCP and its sockets.
    Tcp,
    /// Network drivers, including tunnel devices.
    Driver,
    /// Programs.
    User,
    /// Other kernel code.
    Other,
}
