//! The ten findings.

use crate::{
    cell::{Cell, Factor},
    compare::{Group, Only, Quantity, Rule},
    finding::{Finding, Found},
};

/// All findings over the cells.
pub fn found(cells: &[Cell]) -> Vec<Found> {
    let of = |finding: Finding| Found {
        groups: finding.rule.groups(cells),
        finding,
    };
    all().into_iter().map(of).collect()
}

/// Queues that keep a burst: all but the shortest buffer and the policer.
const LONG: &[&str] = &["fifo 40ms", "fifo 200ms", "fq_codel", "cake"];
/// All queues that hold packets.
const QUEUES: &[&str] = &[
    "fifo 10ms",
    "fifo 40ms",
    "fifo 200ms",
    "pie",
    "fq_codel",
    "cake",
];

/// Median of the group with these levels.
fn median(groups: &[Group], levels: &[&str]) -> f64 {
    let found = groups.iter().find(|group| group.levels == levels);
    found.map_or(f64::NAN, |group| group.median)
}

/// All findings, the most useful first.
pub fn all() -> Vec<Finding> {
    vec![
        loss(),
        clean(),
        deep(),
        managed(),
        short(),
        policed(),
        shared(),
        crowd(),
        tunnel(),
        several(),
    ]
}

fn loss() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, LONG),
        (Factor::Loss, &["0.1%", "1%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow"]),
    ];
    Finding {
        id: "loss",
        claim: "On a lossy line bbr keeps its goodput, and cubic loses it: the more, the longer the round trip",
        text: "cubic takes every loss for a full queue. After each it needs time to grow again, and what it can \
               grow to between two losses is less the longer the round trip is. bbr follows the rate at which \
               packets arrive. If losses are not the queue's, it is the first thing to try on a sender.",
        rule: Rule {
            quantity: Quantity::Goodput,
            ratio: Some((Factor::Cc, "bbr", "cubic")),
            only: ONLY,
            by: &[Factor::Loss, Factor::Rtt],
        },
        shown_if: "at 1 % loss the median is above 2 from an RTT of 20 ms on, and at 200 ms above that at 20 ms",
        holds: |groups| {
            let at = |rtt| median(groups, &["1%", rtt]);
            ["20ms", "50ms", "100ms", "200ms"]
                .iter()
                .all(|rtt| at(rtt) > 2.0)
                && at("200ms") > at("20ms")
        },
    }
}

fn clean() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, LONG),
        (Factor::Loss, &["0%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow"]),
    ];
    Finding {
        id: "clean",
        claim: "Where nothing is lost at random, cubic is as good as bbr",
        text: "With a queue of 40 ms or more, or one that is managed, a cubic flow fills the line. Another congestion \
               control then brings no goodput; what it may bring is less delay in a deep buffer.",
        rule: Rule {
            quantity: Quantity::Goodput,
            ratio: Some((Factor::Cc, "bbr", "cubic")),
            only: ONLY,
            by: &[Factor::Rtt],
        },
        shown_if: "the median is between 0.9 and 1.1 at every RTT up to 100 ms",
        holds: |groups| {
            let rtts = ["5ms", "20ms", "50ms", "100ms"];
            rtts.iter()
                .all(|rtt| (0.9..=1.1).contains(&median(groups, &[rtt])))
        },
    }
}

fn deep() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, QUEUES),
        (Factor::Loss, &["0%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow"]),
        (Factor::Cc, &["cubic"]),
    ];
    Finding {
        id: "deep",
        claim: "A deep buffer is filled by one cubic flow, and everybody waits; fq_codel and cake end that",
        text: "The probes are small packets of another program beside the flow. In a fifo they wait behind all of the \
               flow's packets, as a call or a game would. With fq_codel or cake at the bottleneck they do not, and \
               the flow loses hardly any goodput (see the next finding).",
        rule: Rule {
            quantity: Quantity::AddedDelay,
            ratio: None,
            only: ONLY,
            by: &[Factor::Queue],
        },
        shown_if: "the median is above 50 ms with a fifo of 200 ms, and below 10 ms with fq_codel and cake",
        holds: |groups| {
            let at = |queue| median(groups, &[queue]);
            at("fifo 200ms") > 50.0 && at("fq_codel") < 10.0 && at("cake") < 10.0
        },
    }
}

fn managed() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, &["fq_codel", "fifo 200ms"]),
        (Factor::Loss, &["0%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow", "4 flows"]),
    ];
    Finding {
        id: "managed",
        claim: "fq_codel costs cubic and bbr hardly any goodput, and reno more",
        text: "It drops early, so a loss-based flow with a long round trip gets less than from a deep fifo, and more \
               so reno, which takes the longest to grow again. Four flows lose less of it than one.",
        rule: Rule {
            quantity: Quantity::Goodput,
            ratio: Some((Factor::Queue, "fq_codel", "fifo 200ms")),
            only: ONLY,
            by: &[Factor::Flows, Factor::Cc],
        },
        shown_if: "the median of cubic and bbr is above 0.95, and that of reno below them",
        holds: |groups| {
            ["1 flow", "4 flows"].iter().all(|flows| {
                let at = |cc| median(groups, &[flows, cc]);
                let least = at("cubic").min(at("bbr"));
                least > 0.95 && at("reno") < least
            })
        },
    }
}

fn short() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, &["fifo 10ms", "fifo 200ms"]),
        (Factor::Loss, &["0%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow"]),
    ];
    Finding {
        id: "short",
        claim: "A short buffer costs reno and cubic goodput on long paths, and bbr little",
        text: "A loss-based flow that halves its window needs a queue of about the RTT to keep the line busy meanwhile. \
               Where a router, a switch or a shaper has only a few milliseconds, a longer queue or bbr helps, and \
               nothing at the receiver does.",
        rule: Rule {
            quantity: Quantity::Goodput,
            ratio: Some((Factor::Queue, "fifo 10ms", "fifo 200ms")),
            only: ONLY,
            by: &[Factor::Cc, Factor::Rtt],
        },
        shown_if: "at an RTT of 100 ms the median of bbr is above those of cubic and reno",
        holds: |groups| {
            let at = |cc| median(groups, &[cc, "100ms"]);
            at("bbr") > at("cubic") && at("bbr") > at("reno")
        },
    }
}

fn policed() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, &["policer 10ms"]),
        (Factor::Loss, &["0%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow"]),
    ];
    Finding {
        id: "policed",
        claim: "Behind a policer bbr sends more of its data again than cubic, at every round trip",
        text: "A policer has no queue: what exceeds its rate is dropped. bbr probes for more and does not slow down \
               for losses. It is still the faster one there, at the price of everybody in front of the policer.",
        rule: Rule {
            quantity: Quantity::Retransmitted,
            ratio: None,
            only: ONLY,
            by: &[Factor::Cc, Factor::Rtt],
        },
        shown_if: "the median of bbr is above that of cubic at every RTT",
        holds: |groups| {
            let rtts = ["5ms", "20ms", "50ms", "100ms", "200ms"];
            let at = |cc, rtt| median(groups, &[cc, rtt]);
            rtts.iter().all(|rtt| at("bbr", rtt) > at("cubic", rtt))
        },
    }
}

fn shared() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, QUEUES),
        (Factor::Loss, &["0%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow beside cubic"]),
    ];
    Finding {
        id: "shared",
        claim: "In a short fifo a bbr flow takes the line from a cubic one, in a deep one less of it; fq_codel and \
                cake share equally whatever the other flow runs",
        text: "What a cubic flow gets beside one other flow. bbr's own limit is two bandwidth-delay products in flight: \
               in a buffer that is shorter than that its losses are cubic's, in a longer one cubic fills the rest, so that \
               what is deep depends on the round trip. \
               With a queue for each flow, the congestion control of others is a matter of no concern.",
        rule: Rule {
            quantity: Quantity::CompetitorShare,
            ratio: None,
            only: ONLY,
            by: &[Factor::Queue, Factor::Cc],
        },
        shown_if: "beside bbr the median is below 35 % in a fifo of 10 ms, higher in one of 200 ms, and between 40 % \
                   and 60 % with fq_codel and cake",
        holds: |groups| {
            let at = |queue| median(groups, &[queue, "bbr"]);
            let equal = |queue| (0.4..=0.6).contains(&at(queue));
            let fifo = at("fifo 10ms") < 0.35 && at("fifo 200ms") > at("fifo 10ms");
            fifo && equal("fq_codel") && equal("cake")
        },
    }
}

fn crowd() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, QUEUES),
        (Factor::Loss, &["0%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["4 flows"]),
    ];
    Finding {
        id: "crowd",
        claim: "Four bbr flows in a short fifo send several per cent of their data again, and more than cubic ones",
        text: "Each of them probes for more on its own and does not slow down for the losses of all. Before a server \
               is changed to bbr for many connections, look at the buffer in front of its bottleneck.",
        rule: Rule {
            quantity: Quantity::Retransmitted,
            ratio: None,
            only: ONLY,
            by: &[Factor::Queue, Factor::Cc],
        },
        shown_if: "in a fifo of 10 ms the median of bbr is above 3 % and above that of cubic",
        holds: |groups| {
            let at = |cc| median(groups, &["fifo 10ms", cc]);
            at("bbr") > 0.03 && at("bbr") > at("cubic")
        },
    }
}

fn tunnel() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, LONG),
        (Factor::Flows, &["1 flow", "4 flows"]),
    ];
    Finding {
        id: "tunnel",
        claim: "WireGuard costs little more than its headers in the median, at any loss",
        text: "With a tunnel MTU of 1420 a full packet carries 1368 bytes in 1494 on the wire, for 1448 in 1514 without: \
               a ratio of 0.957. With and without it, other packets are lost, so that a single cell with loss may differ \
               much more. A tunnel that costs more in practice is limited by a processor, its MTU or its \
               path, none of which the atlas varies.",
        rule: Rule {
            quantity: Quantity::Goodput,
            ratio: Some((Factor::Tunnel, "wireguard", "none")),
            only: ONLY,
            by: &[Factor::Loss, Factor::Cc],
        },
        shown_if: "the median is within 0.05 of 0.957 in every group",
        holds: |groups| {
            groups
                .iter()
                .all(|group| (group.median - 0.957).abs() < 0.05)
        },
    }
}

fn several() -> Finding {
    const ONLY: Only = &[
        (Factor::Queue, LONG),
        (Factor::Loss, &["0%", "0.1%", "1%"]),
        (Factor::Tunnel, &["none"]),
        (Factor::Flows, &["1 flow", "4 flows"]),
    ];
    Finding {
        id: "several",
        claim: "Four cubic flows hide what one suffers from loss: test with one",
        text: "Losses meet one flow at a time, so four of them lose a quarter as much each. A speed test with many \
               connections shows a good line on which a download or a backup of one connection crawls.",
        rule: Rule {
            quantity: Quantity::Goodput,
            ratio: Some((Factor::Flows, "4 flows", "1 flow")),
            only: ONLY,
            by: &[Factor::Loss, Factor::Cc],
        },
        shown_if: "at 1 % loss the median of cubic is above 2, and without loss below 1.1",
        holds: |groups| {
            median(groups, &["1%", "cubic"]) > 2.0 && median(groups, &["0%", "cubic"]) < 1.1
        },
    }
}
