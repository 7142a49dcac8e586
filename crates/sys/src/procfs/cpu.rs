//! Processor time of cores and threads.

use std::fs;
use std::io;

/// Ticks of one processor since boot, by what it did (Documentation/filesystems/proc.rst, Linux
/// 7.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreTicks {
    /// Number of the processor.
    pub cpu: u32,
    /// Programs, also of low priority and of virtual machines.
    pub user: u64,
    /// The kernel for programs.
    pub system: u64,
    /// Nothing to do, or waiting for a disk.
    pub idle: u64,
    /// Interrupts.
    pub irq: u64,
    /// Softirqs.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

/// Reads `/proc/stat`: a line `cpuN user nice system idle iowait irq softirq steal ...` for each
/// processor that is online. Time of virtual machines is in `user` already.
pub fn cores(text: &str) -> Vec<CoreTicks> {
    text.lines().filter_map(core).collect()
}

fn core(line: &str) -> Option<CoreTicks> {
    // The first line is the sum of all, `cpu` without a number.
    let (cpu, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
    let cpu = cpu.parse().ok()?;
    // A kernel too old for a column has not counted it.
    let ticks = ticks.split_whitespace();
    let ticks: Vec<u64> = ticks.map_while(|word| word.parse().ok()).collect();
    let at = |i: usize| ticks.get(i).copied().unwrap_or_default();
    (ticks.len() >= 4).then(|| CoreTicks {
        cpu,
        user: at(0).saturating_add(at(1)),
        system: at(2),
        idle: at(3).saturating_add(at(4)),
        irq: at(5),
        softirq: at(6),
        steal: at(7),
    })
}

/// Ticks of one thread since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTicks {
    /// Its number.
    pub tid: u32,
    /// Its name; of a kernel worker, what it works on follows a dash.
    pub name: String,
    /// Number of its parent; threads of the kernel have 2.
    pub parent: u32,
    /// In the program.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
    /// When it began, in ticks since boot, which tells it from a later one of the same number.
    pub started: u64,
}

/// Reads `/proc/PID/stat` or `/proc/PID/task/TID/stat`. The name is in brackets and may contain
/// brackets and blanks.
pub fn task(text: &str) -> Option<TaskTicks> {
    let (tid, rest) = text.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |i: usize| words.get(i)?.parse::<u64>().ok();
    Some(TaskTicks {
        tid: tid.trim().parse().ok()?,
        name: name.to_owned(),
        parent: u32::try_from(number(1)?).ok()?,
        user: number(11)?,
        system: number(12)?,
        started: number(19)?,
    })
}

/// The threads of a process now; those that end meanwhile are left out.
///
/// # Errors
/// No such process.
pub fn tasks(pid: u32) -> io::Result<Vec<TaskTicks>> {
    let folder = format!("/proc/{pid}/task");
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        let path = format!("{folder}/{}/stat", name.to_string_lossy());
        all.extend(super::read(&path).ok().as_deref().and_then(task));
    }
    Ok(all)
}

/// Ticks a second of the numbers above (`USER_HZ`).
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}
