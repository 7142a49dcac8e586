//! Conversion of an outcome of iperf3 into a sample.

use iperf3::outcome::{Outcome, Stream};
use model::{
    net::{Direction, Side},
    run::{FlowResult, Sample, Tcp},
};

/// Fills in the results of a test in the direction of the sample.
pub(super) fn fill(sample: &mut Sample, outcome: &Outcome) {
    let direction = sample.key.direction.unwrap_or(Direction::Up);
    let end = match Side::sends(direction) {
        Side::Near => &outcome.client,
        Side::Far => &outcome.server,
    };
    let flows: Vec<&Stream> = outcome
        .streams
        .iter()
        .filter(|s| s.direction == direction)
        .collect();
    let omit_us = i64::from(outcome.params.omit_s) * 1_000_000;
    let total = outcome.total(direction);
    let longest = total.as_ref().map_or(0, |t| t.received_us);
    sample.tcp = Some(Tcp {
        cc_used: end.congestion_used.clone(),
        window_us: [omit_us, omit_us.saturating_add_unsigned(longest)],
        goodput_bps: total.as_ref().and_then(|t| t.goodput_bps).unwrap_or(0.0),
        bytes: total.map_or(0, |t| t.received_bytes),
        flows: flows.into_iter().map(flow).collect(),
    });
    let sender = Some(Side::sends(direction));
    let ours = outcome.invalid.iter();
    let ours = ours.filter(|reason| reason.end.is_none() || reason.end == sender);
    sample.invalid.extend(ours.map(|reason| reason.why.clone()));
}

/// The kernel's information at this end is used only where this end sent: a receiver's round trip
/// and segment size are other quantities.
fn flow(stream: &Stream) -> FlowResult {
    let sent_here = stream.direction == Direction::Up;
    let tcp = stream.tcp.as_ref().filter(|_| sent_here);
    FlowResult {
        goodput_bps: stream.goodput_bps().unwrap_or(0.0),
        retransmits: stream.retransmits,
        min_rtt_us: tcp.and_then(|t| t.min_rtt_us).map(f64::from),
        mss: tcp.map(|t| t.snd_mss),
        pmtu: tcp.map(|t| t.pmtu),
        ..FlowResult::default()
    }
}
