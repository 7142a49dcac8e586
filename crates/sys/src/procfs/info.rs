//! Processors, memory and interrupts.

/// Content of `/proc/cpuinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuInfo {
    /// Model of the first processor.
    pub model: Option<String>,
    /// Vendor, such as `GenuineIntel` or `User Mode Linux`.
    pub vendor: Option<String>,
    /// Features of the first processor (`flags`, `Features`, `ASEs implemented`); absent if there
    /// is no such line.
    pub flags: Option<Vec<String>>,
}

/// Parses `/proc/cpuinfo`, whose format depends on the architecture.
pub fn cpu_info(text: &str) -> CpuInfo {
    let mut info = CpuInfo::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        let first = |slot: &mut Option<String>| {
            if slot.is_none() && !value.is_empty() {
                *slot = Some(value.to_owned());
            }
        };
        match key {
            "model name" | "cpu model" | "Model" | "cpu" | "uarch" => first(&mut info.model),
            "vendor_id" => first(&mut info.vendor),
            "flags" | "Features" | "ASEs implemented" if info.flags.is_none() => {
                info.flags = Some(value.split_whitespace().map(str::to_owned).collect());
            }
            _ => {}
        }
    }
    info
}

/// Reads the memory of the host from `/proc/meminfo`.
pub fn memory_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Counts the processors of `/sys/devices/system/cpu/online`, such as `0-3,8`.
pub fn online_cpus(text: &str) -> Option<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    text.trim()
        .split(',')
        .try_fold(0u32, |sum, part| sum.checked_add(range(part)?))
}

/// A line of `/proc/interrupts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterruptLine {
    /// Its number, or a name such as `LOC`.
    pub number: String,
    /// Interrupts on each online processor.
    pub counts: Vec<u64>,
    /// Controller, kind and names of the devices, as one text.
    pub what: String,
}

/// Parses `/proc/interrupts`; its first line has a column for each processor.
pub fn interrupts(text: &str) -> Vec<InterruptLine> {
    let mut lines = text.lines();
    let cpus = lines.next().map_or(0, |l| l.split_whitespace().count());
    lines.filter_map(|line| interrupt(line, cpus)).collect()
}

fn interrupt(line: &str, cpus: usize) -> Option<InterruptLine> {
    let (number, rest) = line.split_once(':')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let counts: Vec<u64> = words
        .iter()
        .take(cpus)
        .map_while(|word| word.parse().ok())
        .collect();
    Some(InterruptLine {
        number: number.trim().to_owned(),
        what: words[counts.len()..].join(" "),
        counts,
    })
}
