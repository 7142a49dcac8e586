//! An offload, a driver or the kernel breaks packets of one direction.

use analysis::view::{DirectionView, Host};
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::Action,
    text,
    text::Text,
};

use super::{percent, rate};
use crate::{
    advice::{Scope, device},
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown, worded},
};

/// TCP below this share of what UDP gets, datagram by datagram, has collapsed.
const COLLAPSED: f64 = 0.1;
/// The best direction must be this many times as fast for "one direction only".
const ONE_WAY: f64 = 5.0;

/// Kernel releases with known faults of segmentation offload over tunnels: from, up to and not
/// with.
const FAULTY: [([u32; 3], [u32; 3], Text); 1] = [(
    [7, 0, 0],
    [7, 1, 5],
    text!("UDP segmentation of tunnels, tailscale/tailscale#19777"),
)];

pub(super) const CAUSE: Cause = Cause {
    code: "offload-fault",
    title: "trains of packets break in a host: offload, driver or kernel",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::Sweep],
    masked_by: &["mtu-black-hole", "udp-socket-drops", "fq-flow-limit"],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::Offload,
        what: "try with tx-udp-segmentation and tx-tcp-segmentation off (ethtool -K), one by one, then \
            update kernel, driver or VPN; leave offloads on where that changes nothing, they are worth \
            half of the speed",
        on: On::Sender,
        why: "large segments are cut up in the sending host; the receiver's merging of packets comes \
            second",
        actions,
    },
    about: "Kernel and card handle many packets as one and cut them up late. A fault in that loses or \
        corrupts trains of packets while single ones pass: UDP sent datagram by datagram is fine at many \
        times the rate at which TCP collapses. It often concerns one direction only, whatever the \
        congestion control; windows stay at a few segments, and `UdpInCsumErrors` or \
        `TcpInCsumErrors` may move at the receiver. It looks like terrible loss, and is none of the line.",
    sources: &[
        "tailscale/tailscale#19777 and pull 19918 (Linux 7.0 to 7.1.4), #21335 (virtio_net: 2.2 against 400 \
            Mbit/s), #13041, #10181",
        "vmware/open-vm-tools#166: LRO on a router, 500 times slower",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let off = |feature: &str| Action::Offload {
        device: device(scope.sender()),
        feature: feature.to_owned(),
        on: false,
    };
    vec![off("tx-udp-segmentation"), off("tx-tcp-segmentation")]
}

fn test(way: &DirectionView) -> Verdict {
    let (Some(load), Some(sweep)) = (way.default_load(), way.sweep()) else {
        return unknown(Need::Sweep.missing(), Need::Sweep.settle());
    };
    let best = way
        .loads()
        .into_iter()
        .filter(|l| l.flows == load.flows)
        .max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps))
        .unwrap_or(load);
    let Some(filled) = way.utilization(&best) else {
        return unknown(Need::Sweep.missing(), Need::Sweep.settle());
    };
    if filled > COLLAPSED {
        return not(text!(
            "TCP with {cc} takes {filled} of the path",
            cc = &best.cc,
            filled = percent(filled)
        ));
    }
    let alone = sweep.below.loss();
    let Some(again) = best.retransmitted_segments() else {
        return unknown(Need::TcpInfo.missing(), Need::TcpInfo.settle());
    };
    if again < 0.02 || again < 5.0 * alone {
        return not(text!(
            "TCP sends {again} again and UDP loses {alone}: nothing breaks",
            again = percent(again),
            alone = percent(alone)
        ));
    }
    let samples = way.tcp_samples();
    let receiver = way.receiver();
    let sums = receiver.counter_increase(&samples, "nstat", &["InCsumErrors"]);
    let mut evidence = vec![
        figure(text!("sent again of TCP"), Value::Share(again))
            .against(text!("close to what UDP loses"))
            .of(&best.samples)
            .deciding(),
        figure(
            text!("lost of UDP, datagram by datagram"),
            Value::Share(alone),
        )
        .of(&sweep.samples),
        figure(
            text!("goodput of {cc}", cc = &best.cc),
            Value::Bps(best.goodput_bps),
        )
        .of(&best.samples),
        figure(text!("capacity by UDP"), Value::Bps(sweep.capacity_bps)).of(&sweep.samples),
    ];
    let back = way.reverse().default_load().map(|l| l.goodput_bps);
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
                .against(text!("none"))
                .on(receiver.side),
        );
    }
    let known = known_fault(&way.sender()).or_else(|| known_fault(&receiver));
    let fault_known = known.is_some();
    if let Some(known) = known {
        evidence.push(worded(text!("known fault"), known));
    }
    let text = text!(
        "TCP gets {goodput} with any congestion control and sends {again} again, while UDP passes at {capacity}",
        goodput = rate(best.goodput_bps),
        again = percent(again),
        capacity = rate(sweep.capacity_bps)
    );
    let certain = sums.is_some_and(|s| s > 0.0) || fault_known;
    holds(
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
