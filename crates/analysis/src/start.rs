//! A connection after slow start, with its loss events.

use model::run::{AfterStart, Column, Series};

/// `tcpi_snd_ssthresh` before slow start has ended (TCP_INFINITE_SSTHRESH, Linux
/// include/net/tcp.h).
const NO_THRESHOLD: u64 = 0x7fff_ffff;
/// First state of congestion avoidance in which lost segments are repaired (TCP_CA_Recovery).
const RECOVERY: u64 = 3;

/// A sender after slow start and the repair of the losses at its end; `None` while slow start has
/// not ended.
pub fn after_start(sent: &Series) -> Option<AfterStart> {
    let values = Values::of(sent)?;
    let ended = |at: &usize| {
        values.threshold[*at].is_some_and(|t| t < NO_THRESHOLD) && !values.recovers(*at)
    };
    let first = (0..values.at_us.len()).find(ended)?;
    let last = values.at_us.len().checked_sub(1).filter(|l| *l > first)?;
    let window_us = [values.at_us[first], values.at_us[last]];
    let rtts: Vec<f64> = (first..=last)
        .filter_map(|at| Some(values.rtt_us[at]? as f64))
        .collect();
    Some(AfterStart {
        window_us,
        rtt_us: stats::median(&rtts)?,
        segments: sent.increase(Column::DataSegsOut, window_us)?,
        events_us: values.events(first),
    })
}

/// The columns that show losses.
struct Values<'a> {
    at_us: &'a [i64],
    threshold: Vec<Option<u64>>,
    state: Vec<Option<u64>>,
    retransmitted: Vec<Option<u64>>,
    rtt_us: Vec<Option<u64>>,
}

impl<'a> Values<'a> {
    fn of(series: &'a Series) -> Option<Self> {
        Some(Self {
            at_us: &series.at_us,
            threshold: series.column(Column::SndSsthresh)?,
            state: series.column(Column::CaState)?,
            retransmitted: series.column(Column::TotalRetrans)?,
            rtt_us: series.column(Column::RttUs)?,
        })
    }

    fn recovers(&self, at: usize) -> bool {
        self.state[at].is_some_and(|state| state >= RECOVERY)
    }

    /// Round trip before each loss event after `first`, µs. An event begins with a retransmission
    /// and lasts for a round trip and until the loss is repaired.
    fn events(&self, first: usize) -> Vec<f64> {
        let mut events = Vec::new();
        let mut since: Option<i64> = None;
        for at in first + 1..self.at_us.len() {
            let (Some(before), Some(now), Some(rtt)) = (
                self.retransmitted[at - 1],
                self.retransmitted[at],
                self.rtt_us[at - 1],
            ) else {
                continue;
            };
            let over = |start: i64| self.at_us[at] - start > rtt as i64 && !self.recovers(at - 1);
            if since.is_some_and(over) {
                since = None;
            }
            if now > before && since.is_none() {
                since = Some(self.at_us[at]);
                events.push(rtt as f64);
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Samples each 10 ms at a round trip of 30 ms: slow start ends at 20 ms with a loss that is
    /// repaired at 50 ms; 43 segments are lost in two bursts after that.
    fn sent() -> Series {
        let rows = [
            // retransmitted, threshold, state
            (0, NO_THRESHOLD, 0),
            (0, NO_THRESHOLD, 0),
            (5, 100, 3),
            (9, 100, 3),
            (9, 100, 3),
            (9, 100, 0),
            (20, 80, 3),
            (25, 80, 3),
            (29, 80, 0),
            (29, 80, 0),
            (29, 80, 0),
            (43, 60, 3),
            (52, 60, 0),
        ];
        let mut series = Series {
            at_us: (0..rows.len() as i64).map(|n| n * 10_000).collect(),
            ..Series::default()
        };
        let all = |of: &dyn Fn(usize) -> u64| (0..rows.len()).map(|n| Some(of(n))).collect();
        series.push(Column::TotalRetrans, all(&|n| rows[n].0));
        series.push(Column::SndSsthresh, all(&|n| rows[n].1));
        series.push(Column::CaState, all(&|n| rows[n].2));
        series.push(Column::RttUs, all(&|_| 30_000));
        series.push(Column::DataSegsOut, all(&|n| 100 * n as u64));
        series
    }

    /// 43 losses of two bursts counted as 43 signals, although TCP reacts once to each burst.
    #[test]
    fn losses_of_one_round_trip_are_one_event() {
        let part = after_start(&sent()).unwrap();
        assert_eq!(part.events_us, [30_000.0, 30_000.0]);
    }

    #[test]
    fn slow_start_and_its_repair_are_left_out() {
        let part = after_start(&sent()).unwrap();
        assert_eq!(part.window_us, [50_000, 120_000]);
        assert_eq!(part.segments, 700.0);
    }
}
