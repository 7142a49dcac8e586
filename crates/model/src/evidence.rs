//! What a host counted and spent while something was measured.
//!
//! Counters are taken before and after; what is kept is their increase. A group that could not be
//! read is absent, and so is a counter that does not exist on this kernel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Named counters. Names have groups separated by dots: see `docs/reference/facts.md`.
pub type Counters = BTreeMap<String, u64>;

/// Increase of every counter of `after`; one that is not in `before` counts from 0, for it belongs
/// to something that was made in between. One that became smaller was reset and counts from 0 too.
/// What did not change is left out, and so is what is only in `before`.
pub fn difference(before: &Counters, after: &Counters) -> Counters {
    let increase = |(name, now): (&String, &u64)| {
        let then = before.get(name).copied().unwrap_or(0);
        let by = now.checked_sub(then).unwrap_or(*now);
        (by > 0).then(|| (name.clone(), by))
    };
    after.iter().filter_map(increase).collect()
}

/// What one host counted and spent between two moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Length of the interval, microseconds.
    pub interval_us: u64,
    /// Increase of counters; those that did not move are left out, so one that is not here did not
    /// move if its group is in `groups`.
    pub counters: Counters,
    /// The groups that were read on both sides, such as `nstat`, `softnet`, `qdisc.eth0`.
    pub groups: Vec<String>,
    /// Levels at the end of the interval, which are not counters:
    /// `qdisc.eth0.root.fq.backlog_bytes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, u64>,
    /// Processor use; absent if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuUse>,
    /// Where processors spent their time; absent unless asked for and permitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hotspots: Option<HotSpots>,
}

impl Evidence {
    /// Increase of a counter: 0 if its group was read and it did not move, absent if the group was
    /// not read.
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

    /// Sum of all counters that begin and end so, such as `qdisc.` and `.drops`.
    pub fn sum(&self, begin: &str, end: &str) -> u64 {
        let of = |(name, _): &(&String, &u64)| name.starts_with(begin) && name.ends_with(end);
        let by = self.counters.iter().filter(of).map(|(_, by)| by);
        by.fold(0, |sum, by| sum.saturating_add(*by))
    }
}

/// Use of the processors over an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUse {
    /// Shares of each processor that is online, in the order of their numbers.
    pub cores: Vec<CoreShares>,
    /// Threads of the tunnel's process, of WireGuard in the kernel and of softirqs, and the own
    /// ones, that used any time; the busiest first. It has the resolution of the kernel's ticks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadUse>,
}

impl CpuUse {
    /// Share of the busiest processor that was not idle, 0 to 1.
    pub fn busiest(&self) -> Option<f64> {
        self.cores.iter().map(|c| 1.0 - c.idle).reduce(f64::max)
    }
}

/// What one processor did: shares of the interval, together 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreShares {
    /// Number of the processor.
    pub cpu: u32,
    /// In programs, also those of low priority and of virtual machines.
    pub user: f64,
    /// In the kernel for programs.
    pub system: f64,
    /// In softirqs, where most of the network stack runs.
    pub softirq: f64,
    /// In interrupts.
    pub irq: f64,
    /// Taken by the hypervisor for others.
    pub steal: f64,
    /// Doing nothing, or waiting for a disk.
    pub idle: f64,
}

/// Processor time of one thread, or of kernel threads of one purpose together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Whose it is.
    pub role: ThreadRole,
    /// Name of the thread.
    pub name: String,
    /// Its number.
    pub tid: u32,
    /// In the program, seconds.
    pub user_s: f64,
    /// In the kernel, seconds.
    pub system_s: f64,
}

/// Whose a thread is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadRole {
    /// Of the process that moves the tunnel's packets.
    Tunnel,
    /// Of the kernel: WireGuard's workers, `ksoftirqd`, NAPI threads.
    Kernel,
    /// Of this program.
    #[default]
    Own,
}

/// A sample of what all processors did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HotSpots {
    /// Samples taken while a processor was not idle.
    pub samples: u64,
    /// Samples lost because they were not read in time.
    pub lost: u64,
    /// Samples a second on each processor that were asked for.
    pub frequency_hz: u32,
    /// Shares of the samples by class, together 1; classes that were not seen are left out.
    pub shares: BTreeMap<HotSpotClass, f64>,
    /// The kernel functions seen most, with their shares, at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<(String, f64)>,
}

/// What a processor was busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HotSpotClass {
    /// Encryption and authentication in the kernel.
    Crypto,
    /// Copies between programs and the kernel, and checksums.
    Copy,
    /// Entering and leaving the kernel.
    Syscall,
    /// The network stack below TCP, most of which runs in softirqs: NAPI, GRO, IP, UDP, netfilter,
    /// queues.
    Softirq,
    /// TCP and its sockets.
    Tcp,
    /// Drivers of network devices, also of tunnels.
    Driver,
    /// Programs.
    User,
    /// Anything else in the kernel.
    Other,
}
