//! Processor time of a test.

use sys::{
    clock::Instant,
    usage::{self, CpuTimes},
};

use super::results::Cpu;

/// Usage of the process when the test began.
pub(super) struct Usage {
    start: Instant,
    before: CpuTimes,
}

impl Usage {
    pub(super) fn start() -> Self {
        Self {
            start: Instant::now(),
            before: usage::process(),
        }
    }

    /// Use since then, in percent of one processor.
    pub(super) fn percent(&self) -> Cpu {
        let now = usage::process();
        let wall_s = Instant::now().since(self.start).max(1) as f64 / 1e9;
        let share = |after: std::time::Duration, before| {
            after.saturating_sub(before).as_secs_f64() / wall_s * 100.0
        };
        let user_percent = share(now.user, self.before.user);
        let system_percent = share(now.system, self.before.system);
        Cpu {
            total_percent: user_percent + system_percent,
            user_percent,
            system_percent,
        }
    }
}
