//! How slow start ended, by the sender's counters.

use super::{Load, Way};

/// How slow start ended in the samples of a load.
///
/// CUBIC leaves slow start (HyStart) when acknowledgements arrive in a train as long as the path, or
/// when the smallest round trip of a round has risen; the kernel counts both, and adds up the windows
/// at which it happened (`TCPHystart*`, Linux net/ipv4/tcp_cubic.c, hystart_update).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStart {
    /// Ends by a round trip that rose.
    pub by_delay: f64,
    /// Ends by a train of acknowledgements.
    pub by_train: f64,
    /// Mean window at the end, packets.
    pub window: f64,
}

impl Way<'_> {
    /// How slow start ended under a load; `None` if HyStart never ended it, or the counters were not
    /// read.
    pub fn slow_start(&self, load: &Load) -> Option<SlowStart> {
        let samples = self.samples_of(load);
        let sender = self.sender();
        let moved = |name: &str| sender.moved(&samples, "nstat", &[name]);
        let (by_delay, by_train) = (moved("HystartDelayDetect")?, moved("HystartTrainDetect")?);
        let windows = moved("HystartDelayCwnd")? + moved("HystartTrainCwnd")?;
        let ends = by_delay + by_train;
        (ends > 0.0).then(|| SlowStart {
            by_delay,
            by_train,
            window: windows / ends,
        })
    }
}
