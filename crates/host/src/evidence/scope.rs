//! Scope of the evidence: devices, process and threads, determined once so that snapshots are
//! cheap.

use model::facts::{HostFacts, Machine, TunnelKind};
use sys::{ethtool, procfs};

/// Words in the names of a driver's counters of lost packets and of limits.
const TELLING: &[&str] = &[
    "drop", "discard", "err", "miss", "fifo", "overrun", "no_buf", "nobuf", "no_desc", "exceeded",
    "timeout", "crc", "full", "fail", "retries", "pause", "out_of_",
];
/// Maximum number of stored counters per driver; drivers with counters per queue have thousands.
const MAX_STATISTICS: usize = 512;
/// Maximum number of kernel threads in a scope.
const MAX_THREADS: usize = 512;
/// The parent of all threads of the kernel.
const KTHREADD: u32 = 2;

/// Devices, process and threads of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    pub(super) devices: Vec<Device>,
    pub(super) tunnel_pid: Option<u32>,
    pub(super) tunnel_port: Option<u16>,
    pub(super) kernel_threads: Vec<u32>,
    pub(super) cpu: bool,
}

/// A device and the relevant counters of its driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) index: u32,
    /// Number of the driver's counters.
    pub(super) statistics: usize,
    /// Indices and names of the relevant counters.
    pub(super) wanted: Vec<(usize, String)>,
}

impl Scope {
    /// Returns true if sampling the processors makes sense: in a lab's guest processing takes no
    /// time.
    pub(crate) fn samples(&self) -> bool {
        self.cpu
    }

    /// The scope of a host by its facts: the devices on its path, and the process of its tunnel.
    /// Facts and snapshots must be of the same network namespace.
    ///
    /// Processor use is left out in a lab's guest, where processing takes no time.
    pub fn of(facts: &HostFacts) -> Scope {
        let uml =
            matches!(&facts.machine, Some(Machine::Virtual { hypervisor: Some(h) }) if h == "uml");
        let mut scope = Scope {
            cpu: !uml,
            ..Scope::default()
        };
        let Some(path) = &facts.path else {
            return scope;
        };
        for facts in path.devices() {
            let known = scope.devices.iter().any(|d| d.index == facts.index);
            if !known && facts.index != 0 {
                scope.devices.push(device(&facts.name, facts.index));
            }
        }
        let tunnel = path.tunnel();
        scope.tunnel_pid = tunnel.and_then(|t| t.process.as_ref()).map(|p| p.pid);
        scope.tunnel_port = tunnel.and_then(|t| t.listen_port);
        if scope.cpu {
            let wireguard = tunnel.is_some_and(|t| t.kind == TunnelKind::KernelWireguard);
            scope.kernel_threads = kernel_threads(wireguard);
        }
        scope
    }
}

fn device(name: &str, index: u32) -> Device {
    let names = ethtool::statistic_names(name).unwrap_or_default();
    let telling = |name: &str| {
        let name = name.to_ascii_lowercase();
        TELLING.iter().any(|word| name.contains(word))
    };
    Device {
        name: name.to_owned(),
        index,
        statistics: names.len(),
        wanted: names
            .into_iter()
            .enumerate()
            .filter(|(_, name)| telling(name))
            .take(MAX_STATISTICS)
            .collect(),
    }
}

/// Threads of the kernel that handle packets: softirqs, NAPI, and and WireGuard's workers if it
/// encrypts there. Workers that start later are not included.
fn kernel_threads(wireguard: bool) -> Vec<u32> {
    let of_network = |name: &str| {
        let always = ["ksoftirqd/", "napi/", "irq/"];
        always.iter().any(|begin| name.starts_with(begin))
            || (wireguard && name.starts_with("kworker/"))
    };
    procfs::processes()
        .filter_map(|pid| {
            let text = procfs::read(&format!("/proc/{pid}/stat")).ok()?;
            let task = procfs::task(&text)?;
            (task.parent == KTHREADD && of_network(&task.name)).then_some(pid)
        })
        .take(MAX_THREADS)
        .collect()
}
