//! System information.

/// Release of the kernel, such as `6.12.9-amd64`.
pub fn release() -> String {
    rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned()
}

/// Host name, such as `router`.
pub fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Identity of this boot, which differs after every boot (random(4)).
///
/// # Errors
/// /proc is not mounted.
pub fn boot_id() -> std::io::Result<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
}

/// Architecture as the kernel names it, such as `x86_64`.
pub fn architecture() -> String {
    rustix::system::uname()
        .machine()
        .to_string_lossy()
        .into_owned()
}

/// The hypervisor's signature reported by the instruction `CPUID`, such as `KVMKVMKVM`; `None`
/// without one, or on other processors than x86-64.
#[cfg(target_arch = "x86_64")]
pub fn hypervisor() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    /// Bit 31 of ECX of leaf 1: set by every hypervisor, reserved in hardware (Intel SDM, AMD APM).
    const PRESENT: u32 = 1 << 31;
    /// First leaf of hypervisors.
    const LEAF: u32 = 0x4000_0000;
    // Not needed since Rust 1.91, where the intrinsic is safe.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has CPUID, which only writes the registers it returns.
    let (features, names) = unsafe { (__cpuid(1), __cpuid(LEAF)) };
    if features.ecx & PRESENT == 0 {
        return None;
    }
    let words = [names.ebx, names.ecx, names.edx];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_matches(['\0', ' ']).to_owned())
}

/// Returns `None`: only x86-64 has the instruction.
#[cfg(not(target_arch = "x86_64"))]
pub fn hypervisor() -> Option<String> {
    None
}

/// True on OpenWrt, whose `/var` is in memory; its upgrades keep what packages name below `/etc`.
pub fn is_openwrt() -> bool {
    std::path::Path::new("/etc/openwrt_release").exists()
}
