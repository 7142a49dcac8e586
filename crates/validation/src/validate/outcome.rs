//! Outcomes of cells, as the judges use them.

use analysis::models::drain_s;
use model::{
    cell::{Cell, Loss, Queue},
    net::Direction,
    record::{Kind, LossTruth, ProbeSample, QueuePlace, QueueSample, Record, UdpSample, records},
    row::Row,
    units::Rate,
};
use sys::tcp_info::TcpInfo;

use lab::{LabError, cell::CellResult, rows};

/// A cell that succeeded, with its result.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    pub(super) cell: &'a Cell,
    pub(super) result: &'a CellResult,
    rows: Vec<Row>,
}

impl<'a> Outcome<'a> {
    pub(super) fn new(cell: &'a Cell, result: &'a CellResult) -> Result<Self, LabError> {
        let rows = rows::rows(cell, result)?;
        Ok(Self { cell, result, rows })
    }

    /// The row of the measured traffic; `None` if it is invalid.
    pub(super) fn row(&self) -> Option<&Row> {
        self.group(None)
    }

    /// The row of a competing group.
    pub(super) fn cross(&self, number: usize) -> Option<&Row> {
        self.group(Some(number))
    }

    fn group(&self, cross: Option<usize>) -> Option<&Row> {
        self.rows.iter().find(|r| r.cross == cross && r.valid)
    }

    /// Payload that arrived, Mbit/s.
    pub(super) fn goodput(&self) -> Option<f64> {
        self.row()?.goodput_mbps
    }

    /// Rate of the bottleneck, Mbit/s; NaN without a rate.
    pub(super) fn rate_mbps(&self) -> f64 {
        let bps = self.cell.path.down.rate.map(Rate::bps);
        bps.map_or(f64::NAN, |bps| bps as f64 / 1e6)
    }

    /// Two-way delay, s.
    pub(super) fn rtt_s(&self) -> f64 {
        self.cell.path.rtt().as_secs_f64()
    }

    pub(super) fn queue(&self) -> Queue {
        self.cell.path.down.queue
    }

    /// Loss of the downward line as a probability: random, or one in n.
    pub(super) fn loss(&self) -> f64 {
        match self.cell.path.down.loss {
            Loss::None | Loss::GilbertElliott { .. } => 0.0,
            Loss::Random(p) => p.get(),
            Loss::Every(n) => 1.0 / f64::from(n),
        }
    }

    /// A matrix value as text.
    pub(super) fn factor(&self, key: &str) -> String {
        match self.cell.factors.get(key) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }

    /// Packets and drops of the loss stage of the downward line.
    pub(super) fn losses(&self) -> Option<&LossTruth> {
        let all = &self.result.output.losses;
        all.iter().find(|l| l.direction == Direction::Down)
    }

    fn records(&self, stream: &'a [u8], kind: Kind) -> impl Iterator<Item = Record<'a>> {
        let all = records(stream).into_iter().flatten();
        all.filter_map(Result::ok).filter(move |r| r.kind == kind)
    }

    /// Samples of the bottleneck's queue while measuring.
    pub(super) fn queue_samples(&self) -> Vec<QueueSample> {
        self.samples_of(0)
    }

    /// Delays of the queue at a place, ms, while measuring: its bytes at its rate.
    pub(super) fn waits_ms(&self, place: QueuePlace, direction: Direction) -> Option<Vec<f64>> {
        let all = self.result.output.queues.iter();
        let mut own = all.filter(|q| q.place == place && q.direction == direction);
        let queue = own.next()?;
        let rate = queue.rate_bps? as f64;
        let bytes = self.samples_of(queue.id).into_iter();
        Some(
            bytes
                .map(|sample| drain_s(sample.backlog_bytes as f64, rate) * 1e3)
                .collect(),
        )
    }

    fn samples_of(&self, queue: u16) -> Vec<QueueSample> {
        let from = nanos(self.cell.warmup);
        self.records(&self.result.truth, Kind::Queue)
            .filter(|r| r.id == queue && r.at_ns >= from)
            .map(|r| QueueSample::read(r.payload))
            .collect()
    }

    /// Number of the first flow of a competing group in the records.
    pub(super) fn flow_of(&self, cross: usize) -> Option<u16> {
        let flows = &self.result.output.flows;
        let own = flows.iter().find(|flow| flow.cross == Some(cross));
        own.map(|flow| flow.id)
    }

    /// Round trips of the probes, ms: idle ones, or those while measuring.
    pub(super) fn probes_ms(&self, idle: bool) -> Vec<f64> {
        let from = nanos(self.cell.warmup);
        self.records(&self.result.records, Kind::Probe)
            .filter(|r| if idle { r.at_ns < 0 } else { r.at_ns >= from })
            .map(|r| ProbeSample::read(r.payload).rtt_ns as f64 / 1e6)
            .collect()
    }

    /// Samples of the UDP receiver, from the start.
    pub(super) fn udp(&self) -> Vec<UdpSample> {
        self.records(&self.result.records, Kind::Udp)
            .map(|r| UdpSample::read(r.payload))
            .collect()
    }

    /// Payload bytes that the receiver of a UDP flow had by each of its samples, with the time
    /// in s.
    pub(super) fn udp_over_time(&self, flow: u16) -> Vec<(f64, u64)> {
        self.records(&self.result.records, Kind::Udp)
            .filter(|r| r.id == flow)
            .map(|r| (r.at_ns as f64 / 1e9, UdpSample::read(r.payload).bytes))
            .collect()
    }

    /// The same of a TCP flow.
    pub(super) fn tcp_over_time(&self, flow: u16) -> Vec<(f64, u64)> {
        self.records(&self.result.records, Kind::TcpReceiver)
            .filter(|r| r.id == flow)
            .filter_map(|r| {
                Some((
                    r.at_ns as f64 / 1e9,
                    TcpInfo::parse(r.payload)?.bytes_received?,
                ))
            })
            .collect()
    }

    /// TCP_INFO of the first flow's sender from the start of measuring on, with the time in s.
    pub(super) fn senders(&self) -> Vec<(f64, TcpInfo)> {
        let from = nanos(self.cell.warmup);
        self.records(&self.result.records, Kind::TcpSender)
            .filter(|r| r.id == 0 && r.at_ns >= from)
            .filter_map(|r| Some((r.at_ns as f64 / 1e9, TcpInfo::parse(r.payload)?)))
            .collect()
    }
}

fn nanos(span: std::time::Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

/// The value of the first cell whose factor `key` is `value`.
pub(super) fn by<'a, 's>(
    outcomes: &'a [Outcome<'s>],
    key: &str,
    value: &str,
) -> Option<&'a Outcome<'s>> {
    outcomes.iter().find(|s| s.factor(key) == value)
}
