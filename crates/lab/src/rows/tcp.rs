//! Columns of bulk TCP.

use analysis::{flow, flows};
use model::{
    record::{Flow, Kind, Record},
    row::Row,
    run::{Column, FlowResult, Series},
};
use sys::tcp_info::TcpInfo;

use super::{Window, of};

pub(super) fn fill(row: &mut Row, group: &[&Flow], all: &[Record<'_>], window: Window) {
    let mut results = Vec::new();
    for flow in group {
        match result(flow, all, window) {
            Some(result) => results.push(result),
            None => row
                .invalid_because
                .push(format!("flow {} never ran", flow.id)),
        }
        if flow.cc_used.is_some() && flow.cc_used != flow.cc_requested {
            row.invalid_because.push(format!(
                "congestion control {} was replaced by {}",
                flow.cc_requested.as_deref().unwrap_or("default"),
                flow.cc_used.as_deref().unwrap_or("unknown")
            ));
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
    row.tcp_rtt_p50_ms = flows::median(&results, |f| f.rtt_p50_us).map(|us| us / 1e3);
    row.cwnd_p50 = flows::median(&results, |f| f.cwnd_p50);
    row.rwnd_limited = flows::rwnd_limited(&results);
    row.sndbuf_limited = flows::sndbuf_limited(&results);
}

/// The result of a flow from both ends' records; `None` if its receiver has none before the end of
/// the window.
fn result(flow: &Flow, all: &[Record<'_>], window: Window) -> Option<FlowResult> {
    let receivers = of(all, Kind::TcpReceiver, flow.id);
    let received = series(&receivers, &[(Column::BytesReceived, |i| i.bytes_received)]);
    let seen = |at: &i64| *at <= window.us()[1];
    let ran = received.at_us.iter().any(seen) && received.has(Column::BytesReceived);
    let sent = series(&of(all, Kind::TcpSender, flow.id), SENDER);
    ran.then(|| flow::tcp(&sent, &received, window.us()))
}

/// A field of `TCP_INFO` as a column.
type Field = (Column, fn(&TcpInfo) -> Option<u64>);

/// The fields of a sender that a row needs.
const SENDER: &[Field] = &[
    (Column::TotalRetrans, |i| Some(i.total_retrans.into())),
    (Column::DataSegsOut, |i| i.data_segs_out.map(u64::from)),
    (Column::BusyTimeUs, |i| i.busy_time_us),
    (Column::RwndLimitedUs, |i| i.rwnd_limited_us),
    (Column::SndbufLimitedUs, |i| i.sndbuf_limited_us),
    (Column::RttUs, |i| Some(i.rtt_us.into())),
    (Column::SndCwnd, |i| Some(i.snd_cwnd.into())),
];

/// Records of one end over time.
fn series(records: &[&Record<'_>], fields: &[Field]) -> Series {
    let samples: Vec<(i64, TcpInfo)> = records
        .iter()
        .filter_map(|r| Some((r.at_ns / 1000, TcpInfo::parse(r.payload)?)))
        .collect();
    let mut series = Series {
        at_us: samples.iter().map(|(at, _)| *at).collect(),
        ..Series::default()
    };
    for (column, value) in fields {
        series.push(
            *column,
            samples.iter().map(|(_, info)| value(info)).collect(),
        );
    }
    series
}
