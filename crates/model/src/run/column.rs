//! Columns of time series.

use std::{fmt, str::FromStr};

use super::Unit;

/// Kind of a time series: counter or gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Monotonic counter.
    Counter,
    /// Gauge.
    Gauge,
}

/// Unknown name of a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column {0}")]
pub struct UnknownColumn(pub String);

macro_rules! columns {
    ($($variant:ident $name:literal $unit:ident $shape:ident $text:literal;)*) => {
        /// A column of a time series: of a connection, of latency probes or of a queue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Column {
            $(#[doc = $text] $variant,)*
        }

        impl Column {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in documents.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Its unit.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$variant => Unit::$unit,)* }
            }

            /// Counter or gauge.
            pub const fn shape(self) -> Shape {
                match self { $(Self::$variant => Shape::$shape,)* }
            }

            /// Its description.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

columns! {
    // The fields of `TCP_INFO`, in the kernel's order.
    State "state" Code Gauge
        "State of the connection (`TCP_ESTABLISHED` is 1)";
    CaState "ca_state" Code Gauge
        "State of congestion avoidance: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss";
    Retransmits "retransmits" Count Gauge
        "Retransmissions of the segment that is unacknowledged now";
    Probes "probes" Count Gauge
        "Probes of a closed window or keepalive that are unanswered now";
    Backoff "backoff" Count Gauge
        "Doublings of the retransmission timer now";
    Options "options" Code Gauge
        "Options in use, `TCPI_OPT_*`: 1 timestamps, 2 SACK, 4 window scale, 8 ECN, 16 ECN seen";
    SndWscale "snd_wscale" Code Gauge
        "Window scale of the peer, as a power of two";
    RcvWscale "rcv_wscale" Code Gauge
        "Own window scale, as a power of two";
    DeliveryRateAppLimited "delivery_rate_app_limited" Flag Gauge
        "Whether the delivery rate was limited by the application";
    FastopenClientFail "fastopen_client_fail" Code Gauge
        "Why fast open failed: 1 no cookie, 2 data not acknowledged, 3 SYN retransmitted";
    RtoUs "rto_us" Microseconds Gauge
        "Retransmission timeout";
    AtoUs "ato_us" Microseconds Gauge
        "Delayed acknowledgement timeout";
    SndMss "snd_mss" Bytes Gauge
        "Longest segment sent";
    RcvMss "rcv_mss" Bytes Gauge
        "Estimate of the longest segment received";
    Unacked "unacked" Segments Gauge
        "Segments sent and not acknowledged";
    Sacked "sacked" Segments Gauge
        "Segments acknowledged selectively";
    Lost "lost" Segments Gauge
        "Segments taken for lost";
    Retrans "retrans" Segments Gauge
        "Segments retransmitted and not acknowledged";
    Fackets "fackets" Segments Gauge
        "Obsolete";
    LastDataSentMs "last_data_sent_ms" Milliseconds Gauge
        "Time since data was sent";
    LastAckSentMs "last_ack_sent_ms" Milliseconds Gauge
        "Not remembered by the kernel: 0";
    LastDataRecvMs "last_data_recv_ms" Milliseconds Gauge
        "Time since data was received";
    LastAckRecvMs "last_ack_recv_ms" Milliseconds Gauge
        "Time since an acknowledgement was received";
    Pmtu "pmtu" Bytes Gauge
        "Path MTU";
    RcvSsthresh "rcv_ssthresh" Bytes Gauge
        "Limit of the window offered to the peer";
    RttUs "rtt_us" Microseconds Gauge
        "Smoothed round-trip time";
    RttvarUs "rttvar_us" Microseconds Gauge
        "Its mean deviation";
    SndSsthresh "snd_ssthresh" Segments Gauge
        "Slow start threshold; 2147483647 = none yet";
    SndCwnd "snd_cwnd" Segments Gauge
        "Congestion window";
    Advmss "advmss" Bytes Gauge
        "Longest segment offered to the peer";
    Reordering "reordering" Segments Gauge
        "Reordering tolerated";
    RcvRttUs "rcv_rtt_us" Microseconds Gauge
        "Round-trip time seen by the receiver";
    RcvSpace "rcv_space" Bytes Gauge
        "Bytes the application reads in a round trip, as tuned for";
    TotalRetrans "total_retrans" Segments Counter
        "Segments retransmitted";
    PacingRateBytesS "pacing_rate_bytes_s" BytesPerSecond Gauge
        "Pacing rate; absent also when unlimited";
    MaxPacingRateBytesS "max_pacing_rate_bytes_s" BytesPerSecond Gauge
        "Highest pacing rate allowed; absent also when unlimited";
    BytesAcked "bytes_acked" Bytes Counter
        "Bytes acknowledged by the peer";
    BytesReceived "bytes_received" Bytes Counter
        "Bytes received in order";
    SegsOut "segs_out" Segments Counter
        "Segments sent";
    SegsIn "segs_in" Segments Counter
        "Segments received";
    NotsentBytes "notsent_bytes" Bytes Gauge
        "Bytes in the send buffer that were not sent yet";
    MinRttUs "min_rtt_us" Microseconds Gauge
        "Smallest round-trip time of the recent past; absent also before the first";
    DataSegsIn "data_segs_in" Segments Counter
        "Segments with data received";
    DataSegsOut "data_segs_out" Segments Counter
        "Segments with data sent";
    DeliveryRateBytesS "delivery_rate_bytes_s" BytesPerSecond Gauge
        "Rate at which the peer acknowledges";
    BusyTimeUs "busy_time_us" Microseconds Counter
        "Time with data to send";
    RwndLimitedUs "rwnd_limited_us" Microseconds Counter
        "Time limited by the receive window";
    SndbufLimitedUs "sndbuf_limited_us" Microseconds Counter
        "Time limited by the send buffer";
    Delivered "delivered" Segments Counter
        "Segments delivered, retransmissions included";
    DeliveredCe "delivered_ce" Segments Counter
        "Segments delivered that were marked";
    BytesSent "bytes_sent" Bytes Counter
        "Bytes sent, retransmissions included";
    BytesRetrans "bytes_retrans" Bytes Counter
        "Bytes retransmitted";
    DsackDups "dsack_dups" Segments Counter
        "Duplicates reported by the peer";
    ReordSeen "reord_seen" Count Counter
        "Reordering events seen";
    RcvOoopack "rcv_ooopack" Segments Counter
        "Segments received out of order";
    SndWnd "snd_wnd" Bytes Gauge
        "Window offered by the peer";
    RcvWnd "rcv_wnd" Bytes Gauge
        "Window offered to the peer";
    Rehash "rehash" Count Counter
        "Changes of the flow's hash for a timeout or by PLB";
    TotalRto "total_rto" Count Counter
        "Retransmission timeouts";
    TotalRtoRecoveries "total_rto_recoveries" Count Counter
        "Recoveries after retransmission timeouts";
    TotalRtoTimeMs "total_rto_time_ms" Milliseconds Counter
        "Time in such recoveries";
    ReceivedCe "received_ce" Segments Counter
        "Segments received that were marked";
    DeliveredE1Bytes "delivered_e1_bytes" Bytes Counter
        "Bytes delivered with ECT(1), by accurate ECN";
    DeliveredE0Bytes "delivered_e0_bytes" Bytes Counter
        "Bytes delivered with ECT(0), by accurate ECN";
    DeliveredCeBytes "delivered_ce_bytes" Bytes Counter
        "Bytes delivered with CE, by accurate ECN";
    ReceivedE1Bytes "received_e1_bytes" Bytes Counter
        "Bytes received with ECT(1), by accurate ECN";
    ReceivedE0Bytes "received_e0_bytes" Bytes Counter
        "Bytes received with ECT(0), by accurate ECN";
    ReceivedCeBytes "received_ce_bytes" Bytes Counter
        "Bytes received with CE, by accurate ECN";
    EcnMode "ecn_mode" Code Gauge
        "ECN as negotiated: 0 off, 1 classic, 2 accurate, 3 pending";
    AccecnOptSeen "accecn_opt_seen" Code Gauge
        "Accurate ECN option of the peer: 0 not seen, 1 empty, 2 with counters, 3 failed";
    AccecnFailMode "accecn_fail_mode" Code Gauge
        "How accurate ECN failed, a set of `TCP_ACCECN_*_FAIL_*`";
    Options2 "options2" Code Gauge
        "More options, a set of `TCPI_OPT2_*`";
    // Counters of the programs, for kernels that do not report them.
    BytesRead "bytes_read" Bytes Counter
        "Bytes the receiving program read, if its kernel does not report them";
    BytesWritten "bytes_written" Bytes Counter
        "Bytes the sending program wrote, if its kernel does not report them";
    // A QUIC connection, as reported by its library; `bytes_sent`, `min_rtt_us` and `rtt_us` are as
    // for TCP.
    CongestionEvents "congestion_events" Count Counter
        "Congestion events of a QUIC connection";
    CwndBytes "cwnd_bytes" Bytes Gauge
        "Congestion window of a QUIC connection";
    LostBytes "lost_bytes" Bytes Counter
        "Bytes of QUIC packets declared lost";
    LostPackets "lost_packets" Packets Counter
        "QUIC packets declared lost";
    MtuBytes "mtu_bytes" Bytes Gauge
        "UDP payload that QUIC sends at most";
    SentPackets "sent_packets" Packets Counter
        "QUIC packets sent";
    BlackHoles "black_holes" Count Counter
        "Times QUIC found that its path MTU had become too large";
    // Others.
    RttNs "rtt_ns" Nanoseconds Gauge
        "Round trip of a latency probe; absent = no answer";
    BacklogBytes "backlog_bytes" Bytes Gauge
        "Bytes in a queue of a lab path";
}

impl Column {
    /// The fields of `TCP_INFO` (include/uapi/linux/tcp.h, Linux 7.2), in the kernel's order.
    pub fn tcp_info() -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.take_while(|column| *column != Self::BytesRead)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Column {
    type Err = UnknownColumn;

    fn from_str(name: &str) -> Result<Self, UnknownColumn> {
        let found = Self::ALL.iter().find(|column| column.name() == name);
        found.copied().ok_or_else(|| UnknownColumn(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_names_round_trip() {
        for &column in Column::ALL {
            assert_eq!(column.name().parse(), Ok(column));
        }
        assert!("luck".parse::<Column>().is_err());
    }

    #[test]
    fn a_unit_that_names_tell_is_the_one_they_tell() {
        for &column in Column::ALL {
            let named = Unit::ALL
                .into_iter()
                .filter(|unit| !unit.suffix().is_empty() && column.name().ends_with(unit.suffix()))
                .max_by_key(|unit| unit.suffix().len());
            assert!(named.is_none_or(|unit| unit == column.unit()), "{column}");
        }
    }
}
