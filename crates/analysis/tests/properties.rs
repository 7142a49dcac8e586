//! Invariants of every load, for arbitrary counters of its connections.

#![allow(clippy::unwrap_used)]

use analysis::{figures::value, flow, flows};
use model::{
    net::{IpVersion, Layer},
    run::{Column, FigureKind, FlowResult, Key, Sample, Series, StepKind, Tcp, Unit},
};
use proptest::prelude::*;

/// A counter's values at eleven times, 100 ms apart.
fn counter() -> impl Strategy<Value = Vec<Option<u64>>> {
    prop::collection::vec(0u64..100_000, 11).prop_map(|steps| {
        let mut sum = 0;
        let grow = |step| {
            sum += step;
            Some(sum)
        };
        steps.into_iter().map(grow).collect()
    })
}

/// A kernel's counters of a sender, also with parts of the time greater than the time, as ticks
/// give.
fn sent() -> impl Strategy<Value = Series> {
    let columns = [
        Column::BytesSent,
        Column::BytesRetrans,
        Column::BusyTimeUs,
        Column::RwndLimitedUs,
        Column::SndbufLimitedUs,
        Column::TotalRetrans,
        Column::DataSegsOut,
    ];
    let gauge = prop::collection::vec(prop::option::of(1u64..500_000), 11);
    (prop::collection::vec(counter(), columns.len()), gauge).prop_map(move |(counters, rtts)| {
        let mut series = Series {
            at_us: (0..11).map(|i| i * 100_000).collect(),
            ..Series::default()
        };
        for (column, values) in columns.into_iter().zip(counters) {
            series.push(column, values);
        }
        series.push(Column::RttUs, rtts);
        series
    })
}

fn connection() -> impl Strategy<Value = FlowResult> {
    (sent(), counter()).prop_map(|(sent, arrived)| {
        let mut received = Series {
            at_us: sent.at_us.clone(),
            ..Series::default()
        };
        received.push(Column::BytesReceived, arrived);
        flow::tcp(&sent, &received, [150_000, 900_000])
    })
}

fn sample(flows: Vec<FlowResult>) -> Sample {
    let key = Key {
        step: StepKind::Tcp,
        layer: Layer::Underlay,
        family: IpVersion::V4,
        direction: None,
        bidirectional: false,
        flows: None,
        cc: None,
        rate_bps: None,
        bytes: None,
    };
    let mut sample = Sample::new(key, 0);
    sample.tcp = Some(Tcp {
        goodput_bps: flows.iter().map(|f| f.goodput_bps).sum(),
        flows,
        ..Tcp::default()
    });
    sample
}

/// Equal but for the rounding of sums in another order.
fn equal(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn the_order_of_connections_changes_no_figure(
        (there, other) in prop::collection::vec(connection(), 1..6)
            .prop_flat_map(|flows| (Just(flows.clone()), Just(flows).prop_shuffle()))
    ) {
        for of in [flows::rwnd_limited, flows::sndbuf_limited, flows::busy, flows::retransmitted] {
            prop_assert!(equal(of(&there), of(&other)));
        }
        prop_assert_eq!(
            flows::total(&there, |f| f.retransmits),
            flows::total(&other, |f| f.retransmits)
        );
        let (there, other) = (sample(there), sample(other));
        for kind in FigureKind::ALL {
            prop_assert!(equal(value(&there, kind), value(&other, kind)), "{}", kind);
        }
    }

    #[test]
    fn shares_are_between_nothing_and_all(flows in prop::collection::vec(connection(), 1..6)) {
        let of = [flows::rwnd_limited, flows::sndbuf_limited, flows::busy, flows::retransmitted];
        let sample = sample(flows.clone());
        let figures = FigureKind::ALL.into_iter().filter(|kind| kind.unit() == Unit::Share);
        let shares = of.iter().filter_map(|of| of(&flows));
        for share in shares.chain(figures.filter_map(|kind| value(&sample, kind))) {
            prop_assert!((0.0..=1.0).contains(&share), "{}", share);
        }
    }

    /// Two equal connections give the same as one, except for sums.
    #[test]
    fn a_connection_twice_has_the_shares_of_one(flow in connection()) {
        let (one, two) = (vec![flow.clone()], vec![flow.clone(), flow]);
        for of in [flows::rwnd_limited, flows::sndbuf_limited, flows::busy, flows::retransmitted] {
            prop_assert!(equal(of(&one), of(&two)));
        }
        let rtt = |flows| value(&sample(flows), FigureKind::TcpRttP50);
        let goodput = |flows| value(&sample(flows), FigureKind::Goodput).unwrap();
        prop_assert_eq!(rtt(one.clone()), rtt(two.clone()));
        prop_assert_eq!(2.0 * goodput(one), goodput(two));
    }
}
