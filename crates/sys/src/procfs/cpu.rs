//! Processor time of processors and threads.

use std::fs;
use std::io;

/// Ticks of one processor since boot by state (Documentation/filesystems/proc.rst, Linux 7.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreTicks {
    /// Number of the processor.
    pub cpu: u32,
    /// User space, including nice and guest time.
    pub user: u64,
    /// Kernel, in process context.
    pub system: u64,
    /// Idle or waiting for I/O.
    pub idle: u64,
    /// Interrupts.
    pub irq: u64,
    /// Softirqs.
    pub softirq: u64,
    /// Stolen by the hypervisor.
    pub steal: u64,
}

/// Reads `/proc/stat`: a line `cpuN user nice system idle iowait irq softirq steal ...` for each
/// online processor. Guest time is already part of `user`.
pub fn cores(text: &str) -> Vec<CoreTicks> {
    text.lines().filter_map(core).collect()
}

fn core(line: &str) -> Option<CoreTicks> {
    // The first line is the sum of all, `cpu` without a number.
    let (cpu, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
    let cpu = cpu.parse().ok()?;
    // Columns missing in old kernels are 0.
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

/// Ticks of one thread since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTicks {
    /// Thread id.
    pub tid: u32,
    /// Its name; for kernel workers, the work queue follows a dash.
    pub name: String,
    /// Parent id; 2 for kernel threads.
    pub parent: u32,
    /// User time.
    pub user: u64,
    /// System time.
    pub system: u64,
    /// Start time in ticks since boot, which distinguishes it from later threads with the same id.
    pub started: u64,
    /// Time it could have run but waited for a processor; absent if the kernel does not count it.
    pub waited_ns: Option<u64>,
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
        waited_ns: None,
    })
}

/// Time a thread waited for a processor, ns: the second number of `/proc/PID/task/TID/schedstat`
/// (Documentation/scheduler/sched-stats.rst, Linux 7.2). A kernel that does not count writes zeros
/// (`proc_pid_schedstat` in fs/proc/base.c), also for the time on a processor.
pub fn waited_ns(text: &str) -> Option<u64> {
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let (ran, waited) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (ran > 0).then_some(waited)
}

/// Current threads of a process, without threads that end in the meantime.
///
/// # Errors
/// No such process.
pub fn tasks(pid: u32) -> io::Result<Vec<TaskTicks>> {
    let folder = format!("/proc/{pid}/task");
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        let path = format!("{folder}/{}", name.to_string_lossy());
        let found = super::read(&format!("{path}/stat")).ok();
        let Some(found) = found.as_deref().and_then(task) else {
            continue;
        };
        let waits = super::read(&format!("{path}/schedstat")).ok();
        all.push(TaskTicks {
            waited_ns: waits.as_deref().and_then(waited_ns),
            ..found
        });
    }
    Ok(all)
}

/// Ticks a second of the numbers above (`USER_HZ`).
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}
