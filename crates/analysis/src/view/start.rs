//! Slow start, by the sender's counters.

use super::{DirectionView, Load};

/// End of slow start in one sample.
///
/// CUBIC leaves slow start (HyStart) when acknowledgements arrive in a train as long as the path,
/// or when the smallest round trip of a round has risen; the kernel counts both, and adds up the
/// windows at which it happened (`TCPHystart*`, Linux net/ipv4/tcp_cubic.c, hystart_update).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStart {
    /// True if a rising round-trip time ended it, not a train.
    pub by_delay: bool,
    /// Window at the end, packets; the mean if there were several ends.
    pub window: f64,
}

impl DirectionView<'_> {
    /// Returns the end of slow start in each sample of a load in which HyStart ended it; empty if
    /// it never did, or the counters were not read.
    pub fn slow_starts(&self, load: &Load) -> Vec<SlowStart> {
        let sender = self.sender();
        let of = |sample| {
            let evidence = sender.evidence(sample)?;
            let counter = |name: &str| {
                let name = format!("nstat.TcpExtTCPHystart{name}");
                evidence.counter(&name).map(|n| n as f64)
            };
            let (delay, train) = (counter("DelayDetect")?, counter("TrainDetect")?);
            let windows = counter("DelayCwnd")? + counter("TrainCwnd")?;
            (delay + train > 0.0).then(|| SlowStart {
                by_delay: delay >= train,
                window: windows / (delay + train),
            })
        };
        self.samples_of(load).into_iter().filter_map(of).collect()
    }

    /// Segments of a load that its host retransmitted, and those delivered with a mark of
    /// congestion, the median over the samples: of the whole load, slow start included, which its
    /// window of time leaves out (`TcpRetransSegs`, RFC 4022; `TcpExtTCPDeliveredCE`, Linux 4.18).
    /// `None` if the counters were not read.
    pub fn signals(&self, load: &Load) -> Option<f64> {
        let again = self.counted(load, "TcpRetransSegs")?;
        let marked = self.counted(load, "TcpExtTCPDeliveredCE");
        Some(again + marked.unwrap_or(0.0))
    }

    /// Segments of a load that its host sent for the first time, slow start included, the median
    /// over the samples (`TcpExtTCPOrigDataSent`, Linux 3.14). `None` if the counter was not read.
    pub fn sent_segments(&self, load: &Load) -> Option<f64> {
        self.counted(load, "TcpExtTCPOrigDataSent")
    }

    /// A counter of the sender's kernel, the median over the samples of a load.
    fn counted(&self, load: &Load, name: &str) -> Option<f64> {
        let (sender, name) = (self.sender(), format!("nstat.{name}"));
        let of = |sample| sender.evidence(sample)?.counter(&name).map(|n| n as f64);
        let each: Vec<f64> = self.samples_of(load).into_iter().filter_map(of).collect();
        stats::median(&each)
    }
}
