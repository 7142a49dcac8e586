//! Reference page of all figures and columns, generated from their types.

use std::fmt::Write as _;

use model::run::{Better, Column, FigureKind, Shape};

use crate::figures::definition;

const HEAD: &str = "\
# Figures and columns

<!-- Made from the code: `UPDATE_DOCS=1 cargo test -p pathtwin-analysis`. -->

Each quantity is computed in one place, the crate `analysis`, for Runs, rows, `observe`, `explain` and reports alike.

## Figures

A figure of a sample, by its name in documents. Over the samples of a key it is the median, with the interval of
[statistics](../statistics.md). Times are µs and rates bit/s; rows and tables show them in ms and Mbit/s.

";

const FLOWS: &str = "
## Several connections

Of a load with several connections a rate or a count is the sum, and unknown if it is unknown of one. A round trip, a
window or a segment size is the median of the connections'; the smallest round trip is the smallest of any.

| value | of one connection, in the time that counts | of several |
| --- | --- | --- |
| `rwnd_limited` | growth of `rwnd_limited_us` over that of `busy_time_us` | Σ limited time over Σ busy time |
| `sndbuf_limited` | growth of `sndbuf_limited_us` over that of `busy_time_us` | Σ limited time over Σ busy time |
| `busy` | growth of `busy_time_us` over the time | mean |
| `cwnd_limited` (`observe`) | 1 less the two shares above, never below 0: what is left for the congestion window, the path and the pacing | |
| `rtt_over_min` (`observe`) | median of `rtt_us` over `min_rtt_us` | |
| `app_limited` | share of the samples with a delivery rate that have `delivery_rate_app_limited` set | mean |
| `delivery_rate_p50_bps` | median of `delivery_rate` of the samples that the application did not limit; of all where it limited each | |
| `retransmitted` | growth of `bytes_retrans` over that of `bytes_sent` | mean, weighed by the segments sent |
| `retransmits`, `segments` | growth of `total_retrans`, `data_segs_out` | sum |
| loss of TCP segments | (`retransmits` − `dsack_dups`) / `segments` | sums, over all repeats |

Sources: Linux include/uapi/linux/tcp.h and net/ipv4/tcp.c (tcp_get_info, tcp_get_info_chrono_stats), 7.2. The time that
counts begins after the warm-up and ends with the load. Counters are read between samples on the straight line.

The figure `retransmitted` of a row is that of a Run: bytes over bytes. Rows of earlier versions had none, and what was
shown of them was a share of segments. `observe` computes the same of live sockets, over the time between its first and last list. In rows `udp_reordered_n` is
the count of the datagrams whose share the figure `udp_reordered` is.

## Path and load

What rules, reports and twins ask of a Run, by layer and direction (`analysis::view`). Rates of a path are of IP packets,
with the headers of the address family; payload is compared with payload.

| quantity | definition | where |
| --- | --- | --- |
| capacity for one flow | that for UDP (`capacity_bps`); the most of a TCP load with the fewest flows if that is more by 8 % (only UDP was limited; less may be left of a full queue), or if no UDP load exceeded it. Of a TCP load the IP packets, payload × (MSS + headers) / MSS | `flow_capacity_bps` |
| capacity of the line | the same with TCP loads of any number of flows, also without a sweep | `line_capacity` |
| capacity as payload | that × MSS / (MSS + headers): reference of goodput, windows and buffers | `payload_capacity_bps` |
| known to get through | the capacity for one flow, or without a sweep the most that a TCP load with the fewest flows got: what a shaper is set by | `carried_bps` |
| share of the capacity used | IP packets of a load over the capacity for one flow, at most 1 | `utilization` |
| TCP over UDP | IP packets of a load over `capacity_bps`, which is of UDP alone | `over_udp` |
| overload | a step of UDP that offers at least 1.1 times the capacity for UDP, both as IP packets; one that offers at most 0.82 of it leaves room | `Sweep::overloads`, `leaves_room` |
| RTT distribution (charts) | the answered probes of all repeats in the time that counts; its quantiles interpolate as those of the figures, and the percentiles beside it are the figures | `distribution` |
| smallest RTT | the smallest of all samples: not the median of their minima | `Idle::min_us`, `Load::min_rtt_us`, `floor_us` |
| idle variation | 95th percentile of the idle probes less their median | `Idle::variation_us` |
| base RTT | the median of the idle probes; the smallest RTT of the Run where others queue while it is idle | `base_us`; `unqueued_us` is the smallest RTT of a Run without idle probes |
| added delay | `rtt_p50_us` of the probes beside a load over the base RTT, never below 0 | `added_delay_us`, `added_us` |
| delay of a full queue | RTT of the probes beside UDP above the capacity over the calm RTT: the base RTT, or the highest beside dense UDP that leaves room | `overload_rise_us`, `calm_us` |
| RTT with a full queue | that beside UDP; without a step of UDP above the capacity the highest 95th percentile beside TCP | `full_us` |
| signs of a queue | that delay in the mildest and the greatest overload of at least 1.5 round trips; rise of the 95th percentile of the probes and of TCP's own RTT where TCP fills the path | `rises` |
| rise without a queue | the largest of 1.5 packets, 300 µs and the idle variation; of medians 0.3 of that variation | `chance_us` |
| full queue | a step of UDP whose loss is at least 0.6 of the excess over what arrived | `Sweep::is_mostly_full` |
| gain | ratio of two goodputs, of each block in which both were measured, as the ratios of the Run; else of the medians | `gain`, `kept` |
| backlog | delay × rate of IP packets, and back | `models::buffer_bytes`, `drain_s` |
| busiest processor | the one that was idle least; over several samples the median of its busy share | `processor::busiest_core` |
| growth of a counter | between two readings; in a connection a counter that decreased has wrapped at 2^32, elsewhere it was reset | `model::counter` |
| payload of a packet | payload / (payload + headers): between a rate of payload and that of its IP packets | `model::wire::payload_share` |
| share of segments retransmitted | `total_retrans` over `data_segs_out`; the figure `retransmitted` is of bytes | `flow::retransmitted_segments` |
| retransmitted, of live connections | Σ retransmitted bytes over Σ sent bytes of the connections that count both; a Run keeps the share and the segments of a flow, so its mean is weighed by these | `traffic::Totals` |

## Columns of time series

A counter only grows, and only its growth means something; a gauge goes up and down. The fields of `TCP_INFO` have the
kernel's names (Linux 7.2), with the unit behind where it is not in the name. Columns that this version does not know
are kept as they are when a document is read; figures it does not know are left out, since they follow from the samples.

";

/// The page.
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    out.push_str("| figure | unit | better | meaning | definition | source |\n");
    out.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for kind in FigureKind::ALL {
        let definition = definition(kind);
        let better = match kind.better() {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        };
        let _ = writeln!(
            out,
            "| `{kind}` | {} | {better} | {} | {} | {} |",
            kind.unit().symbol(),
            kind.text(),
            definition.text,
            definition.source
        );
    }
    out.push_str(FLOWS);
    out.push_str("| column | unit | | meaning |\n| --- | --- | --- | --- |\n");
    for column in Column::ALL {
        let shape = match column.shape() {
            Shape::Counter => "counter",
            Shape::Gauge => "gauge",
        };
        let (unit, text) = (column.unit().symbol(), column.text());
        let _ = writeln!(out, "| `{column}` | {unit} | {shape} | {text} |");
    }
    out
}
