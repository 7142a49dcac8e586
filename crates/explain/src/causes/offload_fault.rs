//! Faults of offloads, drivers or the kernel.

use analysis::view::{DirectionView, Host};
use model::{
    evidence::CounterKind,
    findings::{Severity, Value},
    remedy::Action,
    text,
    text::Text,
};

use super::{no_capacity, percent, rate};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::{Scope, device},
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, text_figure, undecided},
};

/// TCP below this share of UDP's rate with single datagrams has collapsed.
const COLLAPSED: f64 = 0.1;
/// Minimum ratio of the directions for "one direction only".
const ONE_WAY: f64 = 5.0;

/// Share of the capacity that the acknowledgements of a flow take in the other direction: one of 72
/// bytes (IPv6 with timestamps, RFC 7323) for every second segment (RFC 5681 section 4.2) of 1500.
const ACKS: f64 = 0.024;

/// Kernel releases with known faults of segmentation offload over tunnels: first affected, first
/// fixed.
const FAULTY: [([u32; 3], [u32; 3], Text); 1] = [(
    [7, 0, 0],
    [7, 1, 5],
    text!("UDP segmentation of tunnels, tailscale/tailscale#19777"),
)];

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::OFFLOAD_FAULT,
    title: "bursts of packets are lost or corrupted in a host: offload, driver or kernel",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::Sweep],
    masked_by: &[
        CauseCode::MTU_BLACK_HOLE,
        CauseCode::UDP_SOCKET_DROPS,
        CauseCode::FQ_FLOW_LIMIT,
        CauseCode::POLICER,
        CauseCode::REORDERING,
    ],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "large segments are split in the sending host; aggregation at the receiver is the second suspect",
        actions,
    },
    about: "Kernel and card handle many packets as one and split them late. A fault in this code \
        loses or corrupts bursts of packets while single packets pass: UDP with single datagrams \
        works at many times the rate at which TCP collapses. It often affects one direction only, \
        with any congestion control; windows stay at a few segments, and `UdpInCsumErrors` or \
        `TcpInCsumErrors` may move at the receiver. It looks like terrible loss, and is none of \
        the line.",
    sources: &[
        "tailscale/tailscale#19777 and pull 19918 (Linux 7.0 to 7.1.4), #21335 (virtio_net: 2.2 against 400 \
            Mbit/s), #13041, #10181",
        "vmware/open-vm-tools#166: LRO on a router, 500 times slower",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let off = |feature: &str| Action::Offload {
        device: device(scope.sender()),
        feature: feature.to_owned(),
        on: false,
    };
    vec![off("tx-udp-segmentation"), off("tx-tcp-segmentation")]
}

fn test(dir: &DirectionView) -> Verdict {
    let (Some(load), Some(sweep)) = (dir.default_load(), dir.sweep()) else {
        return undecided(Need::Sweep.missing(), Need::Sweep.settle());
    };
    let best = dir
        .loads()
        .into_iter()
        .filter(|l| l.flows == load.flows)
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps))
        .unwrap_or(load);
    let Some(filled) = dir.utilization(&best) else {
        return no_capacity(dir);
    };
    if filled > COLLAPSED {
        return ruled_out(text!(
            "TCP with {cc} reaches {filled} of the path's capacity",
            cc = &best.cc,
            filled = percent(filled)
        ));
    }
    let alone = sweep.below.loss();
    let Some(again) = best.retransmitted_segments() else {
        return undecided(Need::TcpInfo.missing(), Need::TcpInfo.settle());
    };
    if again < 0.02 || again < 5.0 * alone {
        return ruled_out(text!(
            "TCP retransmits {again} and UDP loses {alone}: no sign of broken bursts",
            again = percent(again),
            alone = percent(alone)
        ));
    }
    if let Some(back) = dir
        .reverse()
        .carried_bps()
        .filter(|b| *b < ACKS * sweep.capacity_bps)
    {
        return undecided(
            text!(
                "the other direction carries {back}, too little for the acknowledgements of {capacity}",
                back = rate(back),
                capacity = rate(sweep.capacity_bps)
            ),
            text!("the same plan when nothing else uses the line"),
        );
    }
    let samples = dir.tcp_samples();
    let receiver = dir.receiver();
    let sums = receiver.counter_increase(&samples, CounterKind::ChecksumErrors);
    let mut evidence = vec![
        figure(text!("segments retransmitted by TCP"), Value::Share(again))
            .bound(text!("close to UDP's loss"))
            .samples(&best.samples)
            .decisive(),
        figure(text!("UDP loss, single datagrams"), Value::Share(alone)).samples(&sweep.samples),
        figure(
            text!("goodput of {cc}", cc = &best.cc),
            Value::Bps(best.goodput_bps),
        )
        .samples(&best.samples),
        figure(
            text!("capacity measured by UDP"),
            Value::Bps(sweep.capacity_bps),
        )
        .samples(&sweep.samples),
    ];
    let back = dir.reverse().default_load().map(|l| l.goodput_bps);
    let one_way = back.is_some_and(|b| b > ONE_WAY * best.goodput_bps);
    if let Some(back) = back {
        evidence.push(figure(
            text!("goodput of the other direction"),
            Value::Bps(back),
        ));
    }
    if let Some(sums) = sums {
        evidence.push(
            figure(text!("wrong checksums"), Value::Count(sums))
                .bound(text!("none"))
                .end(receiver.side),
        );
    }
    let known = known_fault(&dir.sender()).or_else(|| known_fault(&receiver));
    let fault_known = known.is_some();
    if let Some(known) = known {
        evidence.push(text_figure(text!("known fault"), known));
    }
    let text = text!(
        "TCP reaches {goodput} with any congestion control and retransmits {again}, while UDP reaches {capacity}",
        goodput = rate(best.goodput_bps),
        again = percent(again),
        capacity = rate(sweep.capacity_bps)
    );
    let certain = sums.is_some_and(|s| s > 0.0) || fault_known;
    confirmed(
        Strength::of(&[one_way, certain, alone < 1e-3]),
        text,
        evidence,
    )
    .settled_by(text!("the same plan with tx-udp-segmentation off"))
}

/// A known fault of a host's kernel.
fn known_fault(host: &Host) -> Option<Text> {
    let release = host.facts.kernel.as_deref()?;
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let version = [next(), next(), next()];
    let known = FAULTY
        .into_iter()
        .find(|(from, to, _)| version >= *from && version < *to);
    known.map(|(_, _, what)| what)
}
