//! Processor use of a host during one sample, and whether it may have limited the sample's rate.

use model::evidence::{CoreShares, Evidence, ThreadRole, ThreadUse};

/// Processors that the measured traffic must use before its own work can saturate one: its threads
/// and the softirqs may share a processor in any proportion.
pub const MATTERS: f64 = 0.5;
/// Share of time waiting for a processor from which a thread is starved.
pub const WAITS: f64 = 0.05;
/// With every processor busier than this, a thread that wakes up has to wait for one.
pub const STARVED: f64 = 0.85;

/// The busiest processor.
pub fn busiest_core(evidence: &Evidence) -> Option<&CoreShares> {
    let cores = &evidence.cpu.as_ref()?.cores;
    cores.iter().min_by(|a, b| a.idle.total_cmp(&b.idle))
}

/// Busy share of the least busy processor.
pub fn idlest_core(evidence: &Evidence) -> Option<f64> {
    let cores = &evidence.cpu.as_ref()?.cores;
    cores.iter().map(|c| 1.0 - c.idle).reduce(f64::min)
}

/// Processors that threads of some roles used together, outside of softirqs; `None` where no such
/// thread was seen.
pub fn cores_used(evidence: &Evidence, wanted: impl Fn(ThreadRole) -> bool) -> Option<f64> {
    let ours = threads(evidence)?.iter().filter(|t| wanted(t.role));
    let used = ours.map(used_s).reduce(|a, b| a + b)?;
    Some(used / interval_s(evidence)?)
}

/// Share of the interval that the thread of the measured traffic which waited longest for a
/// processor could have run, but waited. `None` where the kernel does not count it.
pub fn longest_wait(evidence: &Evidence) -> Option<f64> {
    let waited = threads(evidence)?.iter().filter_map(|t| t.wait_s);
    Some(waited.reduce(f64::max)? / interval_s(evidence)?)
}

/// Utilisation of the busiest processor, if that is at least `busy` and may have limited the
/// measured traffic: because the traffic's own work can fill a processor, or because it had to wait
/// for one. Other programs that fill a processor while the traffic runs on another limit nothing.
pub fn limiting(evidence: &Evidence, busy: f64) -> Option<f64> {
    let core = busiest_core(evidence)?;
    let share = 1.0 - core.idle;
    let own = cores_used(evidence, |_| true).is_none_or(|used| used + core.softirq >= MATTERS);
    (share >= busy && (own || starved(longest_wait(evidence), idlest_core(evidence))))
        .then_some(share)
}

/// Returns true if the traffic's threads had to wait for a processor: by the longest wait where it
/// is known, otherwise by the load of the least busy processor.
pub fn starved(longest_wait: Option<f64>, idlest_core: Option<f64>) -> bool {
    match longest_wait {
        Some(wait) => wait >= WAITS,
        None => idlest_core.is_none_or(|busy| busy >= STARVED),
    }
}

/// The threads whose processor time was counted.
pub(crate) fn threads(evidence: &Evidence) -> Option<&[ThreadUse]> {
    Some(&evidence.cpu.as_ref()?.threads)
}

/// Processor time of a thread, seconds.
pub(crate) fn used_s(thread: &ThreadUse) -> f64 {
    thread.user_s + thread.system_s
}

/// Length of the interval, seconds; `None` if it is 0.
pub(crate) fn interval_s(evidence: &Evidence) -> Option<f64> {
    (evidence.interval_us > 0).then(|| evidence.interval_us as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use model::evidence::CpuUse;

    use super::*;

    /// One second on two processors with these busy shares, and one thread of the traffic.
    fn second(busy: [f64; 2], own_s: f64, wait_s: Option<f64>) -> Evidence {
        let core = |(cpu, busy): (u32, f64)| CoreShares {
            cpu,
            user: busy,
            idle: 1.0 - busy,
            ..CoreShares::default()
        };
        Evidence {
            interval_us: 1_000_000,
            cpu: Some(CpuUse {
                cores: vec![core((0, busy[0])), core((1, busy[1]))],
                threads: vec![ThreadUse {
                    system_s: own_s,
                    wait_s,
                    ..ThreadUse::default()
                }],
            }),
            ..Evidence::default()
        }
    }

    /// Every TCP sample was discarded while another program filled one of two processors, although
    /// the measurement took 5 % of the other one.
    #[test]
    fn another_program_on_another_processor_limits_nothing() {
        assert_eq!(limiting(&second([1.0, 0.1], 0.05, Some(0.001)), 0.97), None);
        assert_eq!(limiting(&second([1.0, 0.1], 0.05, None), 0.97), None);
    }

    #[test]
    fn the_wait_for_a_processor_decides_where_all_are_busy() {
        let both = [1.0, 0.95];
        assert_eq!(limiting(&second(both, 0.05, Some(0.01)), 0.97), None);
        assert_eq!(limiting(&second(both, 0.05, Some(0.2)), 0.97), Some(1.0));
        assert_eq!(limiting(&second(both, 0.05, None), 0.97), Some(1.0));
    }

    #[test]
    fn own_work_that_fills_a_processor_limits() {
        assert_eq!(
            limiting(&second([0.98, 0.1], 0.95, Some(0.0)), 0.97),
            Some(0.98)
        );
        assert_eq!(limiting(&second([0.9, 0.1], 0.85, Some(0.0)), 0.97), None);
    }
}
