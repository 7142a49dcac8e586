//! The host itself: kernel, processors, machine, kernel parameters.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use model::{
    facts::{CongestionFacts, Container, HostFacts, Machine},
    text,
    text::Text,
};
use sys::procfs;

use super::notes::Notes;

/// Parameters relevant to transport and to the queues below it.
const SYSCTLS: &[&str] = &[
    "net.core.default_qdisc",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.optmem_max",
    "net.core.busy_poll",
    "net.core.rps_sock_flow_entries",
    "net.core.somaxconn",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_ecn_fallback",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_max_reordering",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv4.udp_mem",
    "net.ipv6.conf.all.forwarding",
    "net.mptcp.enabled",
];

/// Abilities of processors that encryption uses: x86, then Arm.
const CRYPTO_FLAGS: &[&str] = &[
    "aes",
    "pclmulqdq",
    "ssse3",
    "avx",
    "avx2",
    "avx512f",
    "avx512vl",
    "vaes",
    "vpclmulqdq",
    "sha_ni",
    "adx",
    "bmi2",
    "neon",
    "asimd",
    "pmull",
    "sha1",
    "sha2",
];

/// Inode of the process namespace of the whole system (`PROC_PID_INIT_INO`,
/// include/linux/proc_ns.h, Linux 7.2).
const FIRST_PID_NAMESPACE: u64 = 0xefff_fffc;

pub(super) fn facts(notes: &mut Notes) -> HostFacts {
    let info = procfs::read("/proc/cpuinfo").map(|text| procfs::cpu_info(&text));
    let info = notes.keep(info, |error| unread("/proc/cpuinfo", error));
    HostFacts {
        kernel: Some(sys::machine::release()),
        arch: Some(sys::machine::architecture()),
        machine: machine(info.as_ref()),
        container: container(),
        cpus: cpus(),
        cpu_model: info.as_ref().and_then(|i| i.model.clone()),
        cpu_crypto: info.as_ref().and_then(crypto),
        cpu_governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        memory_bytes: procfs::read("/proc/meminfo")
            .ok()
            .and_then(|text| procfs::memory_bytes(&text)),
        clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        congestion: congestion(notes),
        sysctls: SYSCTLS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), sysctl(name)?)))
            .collect(),
        ..HostFacts::default()
    }
}

/// A file or kernel parameter that cannot be read.
fn unread(name: &str, error: &std::io::Error) -> Text {
    text!("cannot read {name}: {error}", name = name, error = error)
}

/// The value of a parameter with blanks for tabs. Some exist in the initial network namespace only;
/// their absence in others is not an error.
fn sysctl(name: &str) -> Option<String> {
    let value = sys::sysctl::read(name).ok()?;
    Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn congestion(notes: &mut Notes) -> CongestionFacts {
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect();
    let mut read = |name: &str| {
        let name = format!("net.ipv4.tcp_{name}");
        notes.keep(sys::sysctl::read(&name), |error| unread(&name, error.io()))
    };
    CongestionFacts {
        default: read("congestion_control"),
        allowed: read("allowed_congestion_control").map(words),
        available: read("available_congestion_control").map(words),
    }
}

fn cpus() -> Option<u32> {
    let online = line("/sys/devices/system/cpu/online").and_then(|t| procfs::online_cpus(&t));
    let stat = || {
        let cores = procfs::cores(&procfs::read("/proc/stat").ok()?);
        u32::try_from(cores.len()).ok().filter(|&n| n > 0)
    };
    online.or_else(stat)
}

fn crypto(info: &procfs::CpuInfo) -> Option<Vec<String>> {
    let flags = info.flags.as_ref()?;
    let of = |flag: &&String| CRYPTO_FLAGS.contains(&flag.as_str());
    Some(flags.iter().filter(of).cloned().collect())
}

/// The first line of a file, if it has any.
fn line(path: &str) -> Option<String> {
    let text = procfs::read(path).ok()?;
    let line = text.lines().next()?.trim_matches(['\0', ' ', '\t']);
    (!line.is_empty()).then(|| line.to_owned())
}

fn machine(info: Option<&procfs::CpuInfo>) -> Option<Machine> {
    let named = |name: &str| {
        Some(Machine::Virtual {
            hypervisor: Some(name.to_owned()),
        })
    };
    if info?.vendor.as_deref() == Some("User Mode Linux") {
        return named("uml");
    }
    if let Some(signature) = sys::machine::hypervisor() {
        let hypervisor = hypervisor(&signature).map(str::to_owned);
        return Some(Machine::Virtual { hypervisor });
    }
    if let Some(kind) = line("/sys/hypervisor/type") {
        return named(&kind);
    }
    firmware().or_else(|| {
        // No hypervisor flag, on a processor with known flags.
        let flags = info?.flags.as_ref()?;
        (flags.iter().any(|f| f == "fpu")).then_some(Machine::BareMetal)
    })
}

/// The usual name of a hypervisor by its signature.
fn hypervisor(signature: &str) -> Option<&'static str> {
    Some(match signature.trim_end_matches('\0') {
        "KVMKVMKVM" => "kvm",
        "Linux KVM Hv" => "kvm",
        "TCGTCGTCGTCG" => "qemu",
        "Microsoft Hv" => "hyper-v",
        "VMwareVMware" => "vmware",
        "XenVMMXenVMM" => "xen",
        "VBoxVBoxVBox" => "virtualbox",
        "bhyve bhyve" => "bhyve",
        "ACRNACRNACRN" => "acrn",
        "QNXQVMBSQG" => "qnx",
        "VirtualApple" => "apple",
        _ => return None,
    })
}

/// The machine by its firmware: DMI on PCs and servers, the device tree on routers and boards.
fn firmware() -> Option<Machine> {
    let virtual_by = |name: &str| Machine::Virtual {
        hypervisor: Some(name.to_owned()),
    };
    if let Some(text) = line("/proc/device-tree/hypervisor/compatible") {
        let name = if text.contains("xen") { "xen" } else { "kvm" };
        return Some(virtual_by(name));
    }
    let vendor = line("/sys/class/dmi/id/sys_vendor");
    let product = line("/sys/class/dmi/id/product_name");
    if vendor.is_some() || product.is_some() {
        let text = format!(
            "{} {}",
            vendor.unwrap_or_default(),
            product.unwrap_or_default()
        );
        return Some(by_vendor(&text).map_or(Machine::BareMetal, virtual_by));
    }
    let tree = procfs::read("/proc/device-tree/compatible").ok()?;
    if tree.contains("dummy-virt") {
        return Some(Machine::Virtual { hypervisor: None });
    }
    Some(Machine::BareMetal)
}

/// Virtual machines by the vendor and product that their firmware names.
fn by_vendor(text: &str) -> Option<&'static str> {
    let names = [
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Amazon EC2", "kvm"),
        ("Google Compute", "kvm"),
        ("Microsoft Corporation Virtual", "hyper-v"),
        ("Parallels", "parallels"),
        ("Apple Virtualization", "apple"),
        ("Xen", "xen"),
    ];
    // Amazon's machines without a hypervisor name themselves so.
    if text.contains(".metal") {
        return None;
    }
    names
        .iter()
        .find(|(word, _)| text.contains(word))
        .map(|(_, name)| *name)
}

fn container() -> Option<Container> {
    let named = |path: &str| Path::new(path).exists();
    if let Some(kind) = line("/run/systemd/container") {
        return Some(by_name(&kind));
    }
    if named("/run/.containerenv") {
        return Some(Container::Podman);
    }
    if named("/.dockerenv") {
        return Some(Container::Docker);
    }
    if named("/var/run/secrets/kubernetes.io") {
        return Some(Container::Kubernetes);
    }
    if let Ok(environment) = procfs::read("/proc/1/environ")
        && let Some(kind) = environment
            .split('\0')
            .find_map(|v| v.strip_prefix("container="))
    {
        return Some(by_name(kind));
    }
    let inode = fs::metadata("/proc/self/ns/pid").ok()?.ino();
    Some(if inode == FIRST_PID_NAMESPACE {
        Container::No
    } else {
        Container::Other
    })
}

/// The names that container managers set (systemd's container interface).
fn by_name(kind: &str) -> Container {
    match kind {
        "docker" => Container::Docker,
        "podman" => Container::Podman,
        "lxc" | "lxc-libvirt" | "incus" => Container::Lxc,
        "systemd-nspawn" => Container::Nspawn,
        _ => Container::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_facts() {
        let mut notes = Notes::default();
        let facts = facts(&mut notes);
        assert_eq!(facts.kernel, sys::sysctl::read("kernel.osrelease").ok());
        assert!(facts.cpus.is_some_and(|n| n > 0));
        let congestion = facts.congestion;
        let (default, available) = (congestion.default.unwrap(), congestion.available.unwrap());
        assert!(available.contains(&default));
        let rmem = facts.sysctls["net.ipv4.tcp_rmem"].split(' ').count();
        assert_eq!(rmem, 3);
    }

    #[test]
    fn firmware_names_of_clouds() {
        assert_eq!(by_vendor("Amazon EC2 c5.large"), Some("kvm"));
        assert_eq!(by_vendor("Amazon EC2 c5.metal"), None);
        assert_eq!(
            by_vendor("QEMU Standard PC (Q35 + ICH9, 2009)"),
            Some("qemu")
        );
        assert_eq!(by_vendor("LENOVO 20XW"), None);
        assert_eq!(hypervisor("KVMKVMKVM"), Some("kvm"));
    }
}
