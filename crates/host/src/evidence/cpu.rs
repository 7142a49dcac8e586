//! Processor time between two moments.

use std::collections::BTreeMap;

use model::evidence::{CoreShares, CpuUse, ThreadRole, ThreadUse};
use sys::procfs::{self, CoreTicks, TaskTicks};

use super::scope::Scope;

/// Maximum number of listed threads.
const MAX_THREADS: usize = 64;

/// Processor time used up to a moment.
#[derive(Debug, Default)]
pub(super) struct Times {
    cores: Vec<CoreTicks>,
    tasks: Vec<(ThreadRole, TaskTicks)>,
}

impl Times {
    pub(super) fn read(scope: &Scope) -> Times {
        let cores = procfs::read("/proc/stat").map(|text| procfs::cores(&text));
        let own = std::process::id();
        let mut tasks = Vec::new();
        let mut add = |role, found: Vec<TaskTicks>| {
            tasks.extend(found.into_iter().map(|task| (role, task)));
        };
        add(ThreadRole::Own, procfs::tasks(own).unwrap_or_default());
        if let Some(pid) = scope.tunnel_pid.filter(|&pid| pid != own) {
            add(ThreadRole::Tunnel, procfs::tasks(pid).unwrap_or_default());
        }
        let kernel = scope.kernel_threads.iter().filter_map(|pid| {
            let text = procfs::read(&format!("/proc/{pid}/stat")).ok()?;
            procfs::task(&text)
        });
        add(ThreadRole::Kernel, kernel.collect());
        Times {
            cores: cores.unwrap_or_default(),
            tasks,
        }
    }
}

/// The use between two readings; `None` if it could not be read, or the interval is shorter than a
/// tick.
pub(super) fn used((before, after): (&Times, &Times)) -> Option<CpuUse> {
    let then: BTreeMap<u32, &CoreTicks> = before.cores.iter().map(|c| (c.cpu, c)).collect();
    let cores: Vec<CoreShares> = after
        .cores
        .iter()
        .filter_map(|now| shares(then.get(&now.cpu)?, now))
        .collect();
    (!cores.is_empty()).then(|| CpuUse {
        cores,
        threads: threads(before, after),
    })
}

/// Shares of a processor that was online all the time. The kernel's idle time may step back a
/// little.
fn shares(then: &CoreTicks, now: &CoreTicks) -> Option<CoreShares> {
    let of = |field: fn(&CoreTicks) -> u64| field(now).saturating_sub(field(then)) as f64;
    let parts = [
        of(|c| c.user),
        of(|c| c.system),
        of(|c| c.softirq),
        of(|c| c.irq),
        of(|c| c.steal),
        of(|c| c.idle),
    ];
    let all: f64 = parts.iter().sum();
    let [user, system, softirq, irq, steal, idle] = parts.map(|part| part / all);
    (all > 0.0).then_some(CoreShares {
        cpu: now.cpu,
        user,
        system,
        softirq,
        irq,
        steal,
        idle,
    })
}

/// Threads that used any time, the busiest first. A thread that started in the interval used all
/// its time in it.
fn threads(before: &Times, after: &Times) -> Vec<ThreadUse> {
    let key = |task: &TaskTicks| (task.tid, task.started);
    let then: BTreeMap<_, &TaskTicks> = before.tasks.iter().map(|(_, t)| (key(t), t)).collect();
    let second = procfs::ticks_per_second().max(1) as f64;
    let mut used: Vec<ThreadUse> = after
        .tasks
        .iter()
        .map(|(role, now)| {
            let then = then.get(&key(now));
            let (user, system) = then.map_or((0, 0), |t| (t.user, t.system));
            let waited = then.map_or(Some(0), |t| t.waited_ns);
            ThreadUse {
                role: *role,
                name: now.name.clone(),
                tid: now.tid,
                user_s: now.user.saturating_sub(user) as f64 / second,
                system_s: now.system.saturating_sub(system) as f64 / second,
                wait_s: now
                    .waited_ns
                    .zip(waited)
                    .map(|(now, then)| now.saturating_sub(then) as f64 / 1e9),
            }
        })
        .filter(|t| t.user_s + t.system_s > 0.0)
        .collect();
    used.sort_by(|a, b| (b.user_s + b.system_s).total_cmp(&(a.user_s + a.system_s)));
    used.truncate(MAX_THREADS);
    used
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn core() -> impl Strategy<Value = CoreTicks> {
        let ticks = proptest::array::uniform6(0..1_000_000u64);
        ticks.prop_map(|[user, system, idle, irq, softirq, steal]| CoreTicks {
            cpu: 0,
            user,
            system,
            idle,
            irq,
            softirq,
            steal,
        })
    }

    proptest! {
        #[test]
        fn shares_sum_to_one(a in core(), b in core()) {
            if let Some(s) = shares(&a, &b) {
                let sum = s.user + s.system + s.softirq + s.irq + s.steal + s.idle;
                prop_assert!((sum - 1.0).abs() < 1e-9);
            }
        }
    }

    /// A number is reused by a later thread, whose time must not be reduced by that of the earlier
    /// one.
    #[test]
    fn a_thread_of_the_same_number_is_another_thread() {
        let times = |started, user| Times {
            cores: Vec::new(),
            tasks: vec![(
                ThreadRole::Tunnel,
                TaskTicks {
                    tid: 7,
                    started,
                    user,
                    ..TaskTicks::default()
                },
            )],
        };
        let second = procfs::ticks_per_second();
        let same = threads(&times(1, second), &times(1, 3 * second));
        assert_eq!(same[0].user_s, 2.0);
        let other = threads(&times(1, second), &times(2, 3 * second));
        assert_eq!(other[0].user_s, 3.0);
    }
}
