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
| `app_limited` | share of the samples with `delivery_rate_app_limited` | mean |
| `retransmitted` | growth of `bytes_retrans` over that of `bytes_sent` | mean, weighed by the segments sent |
| `retransmits`, `segments` | growth of `total_retrans`, `data_segs_out` | sum |
| loss of TCP segments | (`retransmits` − `dsack_dups`) / `segments` | sums, over all repeats |

Sources: Linux include/uapi/linux/tcp.h and net/ipv4/tcp.c (tcp_get_info, tcp_get_info_chrono_stats), 7.2. The time that
counts begins after the warm-up and ends with the load. Counters are read between samples on the straight line.

In rows `udp_reordered` is the count of the datagrams whose share the figure of that name is. What one flow can get,
on the path of a tunnel or on any other, is the most that UDP or a TCP load with as few flows got through; the figure
`capacity_bps` is of UDP alone.

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
