//! Columns of bulk TCP.

use analysis::{flow, flows};
use model::{
    record::{Flow, Kind, Record},
    row::Row,
    run::{Column, FlowResult, Invalid, Series},
    text,
};
use sys::tcp_info::{TcpInfo, entries};

use super::{Window, of};

pub(super) fn fill(row: &mut Row, group: &[&Flow], all: &[Record<'_>], window: Window) {
    let mut results = Vec::new();
    for flow in group {
        match result(flow, all, window) {
            Some(result) => results.push(result),
            None => row
                .invalid_because
                .push(text!("flow {id} never ran", id = u32::from(flow.id))),
        }
        if let (Some(requested), Some(used)) = (&flow.cc_requested, &flow.cc_used)
            && requested != used
        {
            let replaced = Invalid::CongestionReplaced {
                requested: requested.clone(),
                used: used.clone(),
            };
            row.invalid_because.push(replaced.text());
        }
    }
    row.cc_requested = group.first().and_then(|f| f.cc_requested.clone());
    row.cc_used = group.first().and_then(|f| f.cc_used.clone());
    let goodputs = results.iter().map(|f| f.goodput_bps / 1e6);
    let range = [
        goodputs.clone().reduce(f64::min),
        goodputs.clone().reduce(f64::max),
    ];
    if let [Some(least), Some(most)] = range {
        row.goodput_mbps = Some(goodputs.sum());
        row.goodput_range_mbps = Some([least, most]);
    }
    row.retransmits = flows::total(&results, |f| f.retransmits);
    row.segments = flows::total(&results, |f| f.segments);
    row.retransmitted = flows::retransmitted(&results);
    row.tcp_rtt_p50_ms = flows::median(&results, |f| f.rtt_p50_us).map(|us| us / 1e3);
    row.cwnd_p50 = flows::median(&results, |f| f.cwnd_p50);
    row.rwnd_limited = flows::rwnd_limited(&results);
    row.sndbuf_limited = flows::sndbuf_limited(&results);
}

/// The result of a flow from both ends' records; `None` if its receiver has none before the end of
/// the window.
fn result(flow: &Flow, all: &[Record<'_>], window: Window) -> Option<FlowResult> {
    let receivers = of(all, Kind::TcpReceiver, flow.id);
    let received = series(&receivers, &[Column::BytesReceived]);
    let seen = |at: &i64| *at <= window.us()[1];
    let ran = received.at_us.iter().any(seen) && received.has(Column::BytesReceived);
    let sent = series(&of(all, Kind::TcpSender, flow.id), SENDER);
    ran.then(|| flow::tcp(&sent, &received, window.us()))
}

/// The columns of a sender that a row needs.
const SENDER: &[Column] = &[
    Column::TotalRetrans,
    Column::DataSegsOut,
    Column::BytesRetrans,
    Column::BytesSent,
    Column::BusyTimeUs,
    Column::RwndLimitedUs,
    Column::SndbufLimitedUs,
    Column::RttUs,
    Column::SndCwnd,
];

/// Records of one end as a time series of these columns.
fn series(records: &[&Record<'_>], wanted: &[Column]) -> Series {
    let samples = records.iter().filter_map(|record| {
        let info = TcpInfo::parse(record.payload)?;
        Some((record.at_ns / 1000, entries(&info)))
    });
    let (at_us, samples): (Vec<i64>, Vec<_>) = samples.unzip();
    let mut series = Series {
        at_us,
        ..Series::default()
    };
    for (field, column) in Column::tcp_info().enumerate() {
        if wanted.contains(&column) {
            series.push(column, samples.iter().map(|s| s[field].1).collect());
        }
    }
    series
}
