//! Bytes that have arrived over time.

use super::{
    outcome::Outcome,
    theory::{DATAGRAM, FRAME, MSS},
};

/// Frames that have arrived by a time after the start of the load: seconds and bytes.
pub(super) struct Arrived(Vec<(f64, f64)>);

impl Arrived {
    /// Those of a UDP flow with full datagrams.
    pub(super) fn datagrams(outcome: &Outcome<'_>, flow: u16) -> Self {
        Self::scaled(outcome.udp_over_time(flow), FRAME / DATAGRAM)
    }

    /// Those of a TCP flow over IPv4.
    pub(super) fn segments(outcome: &Outcome<'_>, flow: u16) -> Self {
        Self::scaled(outcome.tcp_over_time(flow), FRAME / MSS)
    }

    fn scaled(payload: Vec<(f64, u64)>, factor: f64) -> Self {
        let frames = |(at, bytes): (f64, u64)| (at, bytes as f64 * factor);
        Self(payload.into_iter().map(frames).collect())
    }

    /// Bytes up to this time: those of the last earlier sample, with the time of that sample.
    pub(super) fn by(&self, at: f64) -> Option<(f64, f64)> {
        self.0.iter().rev().find(|(t, _)| *t <= at).copied()
    }

    /// Bytes at this time, linear between two samples.
    pub(super) fn at(&self, at: f64) -> Option<f64> {
        let (t0, b0) = self.by(at)?;
        let (t1, b1) = *self.0.iter().find(|(t, _)| *t > at)?;
        Some(b0 + (b1 - b0) * (at - t0) / (t1 - t0))
    }

    /// Average rate between two times, Mbit/s.
    pub(super) fn mbps(&self, from: f64, to: f64) -> Option<f64> {
        let ((t0, b0), (t1, b1)) = (self.by(from)?, self.by(to)?);
        (t1 > t0).then(|| 8.0 * (b1 - b0) / (t1 - t0) / 1e6)
    }

    /// Time of the first sample with bytes, and of the first one with all of them, s.
    pub(super) fn span(&self) -> Option<(f64, f64)> {
        let reaching = |bytes: f64| self.0.iter().find(|(_, b)| *b >= bytes);
        let most = self.0.last()?.1;
        Some((reaching(1.0)?.0, reaching(most)?.0))
    }
}
