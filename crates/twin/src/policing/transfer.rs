//! A sender's series as a transfer: bytes delivered and segments lost over time.

use analysis::models;
use model::run::{Column, Series};

/// One sample of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Time, s.
    pub(super) at_s: f64,
    /// Payload delivered so far, bytes.
    pub(super) bytes: f64,
    /// Segments lost so far.
    pub(super) lost: f64,
    /// Smoothed round trip, s; absent before the first.
    pub(super) rtt_s: Option<f64>,
}

/// The samples of a sender in which something arrived or was lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Transfer {
    /// The shortest smoothed round trip, s.
    pub(super) base_s: f64,
    /// The median of the smoothed round trips, s.
    pub(super) rtt_s: f64,
    /// Payload of a segment, bytes.
    pub(super) mss: f64,
    /// Its samples.
    pub(super) points: Vec<Point>,
    /// Indexes of those in which losses were found.
    pub(super) losses: Vec<usize>,
}

impl Transfer {
    /// `None` if the kernel did not report what is needed.
    pub(super) fn of(sent: &Series) -> Option<Self> {
        let all = points(sent)?;
        let rtts: Vec<f64> = all.iter().filter_map(|p| p.rtt_s).collect();
        let base_s = rtts.iter().copied().reduce(f64::min)?;
        let mut points = vec![*all.first()?];
        let mut losses = Vec::new();
        for pair in all.windows(2) {
            if pair[1].lost > pair[0].lost {
                losses.push(points.len());
            } else if pair[1].bytes <= pair[0].bytes {
                continue;
            }
            points.push(pair[1]);
        }
        Some(Self {
            base_s,
            rtt_s: stats::median(&rtts)?,
            mss: mss(sent),
            points,
            losses,
        })
    }

    /// All segments lost.
    pub(super) fn lost(&self) -> f64 {
        self.points.last().map_or(0.0, |last| last.lost)
    }

    /// The round trip before the first loss of each round trip with losses, s.
    pub(super) fn before_losses_s(&self) -> Vec<f64> {
        let (mut last, mut rtts) = (None, Vec::new());
        for &at in &self.losses {
            let period = (self.points[at].at_s / self.base_s) as u64;
            if last != Some(period) {
                last = Some(period);
                rtts.extend(self.points[at - 1].rtt_s);
            }
        }
        rtts
    }
}

fn mss(sent: &Series) -> f64 {
    sent.last(Column::SndMss)
        .map_or(models::ETHERNET_MSS, |n| n as f64)
}

fn points(sent: &Series) -> Option<Vec<Point>> {
    // Selectively acknowledged segments are delivered, but not yet in `bytes_acked`.
    let (delivered, unit) = match sent.column(Column::Delivered) {
        Some(delivered) => (delivered, mss(sent)),
        None => (sent.column(Column::BytesAcked)?, 1.0),
    };
    let lost = lost(sent)?;
    let rtt = sent.column(Column::RttUs)?;
    let mut points = Vec::new();
    let (mut bytes, mut most) = (0.0_f64, 0.0_f64);
    for (at, at_us) in sent.at_us.iter().enumerate() {
        let now = delivered[at].map_or(bytes, |n| n as f64 * unit);
        bytes = bytes.max(now);
        // A segment that was taken for lost and arrives is not lost any more.
        most = most.max(lost[at].unwrap_or(most));
        points.push(Point {
            at_s: *at_us as f64 / 1e6,
            bytes,
            lost: most,
            rtt_s: rtt[at].filter(|us| *us > 0).map(|us| us as f64 / 1e6),
        });
    }
    Some(points)
}

/// Segments lost so far: those taken for lost and not yet repaired, and all retransmissions that
/// are not in flight any more. `lost` of the kernel includes those retransmitted and in flight
/// (Linux 7.2, net/ipv4/tcp_input.c). Without these gauges, the retransmissions.
fn lost(sent: &Series) -> Option<Vec<Option<f64>>> {
    let again = sent.column(Column::TotalRetrans)?;
    let gauges = sent.column(Column::Lost).zip(sent.column(Column::Retrans));
    let Some((lost, flying)) = gauges else {
        return Some(again.iter().map(|n| n.map(|n| n as f64)).collect());
    };
    let all = again.iter().zip(lost.iter().zip(&flying));
    let sum = |(again, (lost, flying)): (&Option<u64>, (&Option<u64>, &Option<u64>))| {
        Some((*again)? as f64 + (*lost)? as f64 - (*flying)? as f64)
    };
    Some(all.map(sum).collect())
}
