//! Send buffers that are too small.

use analysis::{
    models,
    view::{DirectionView, Host, Load},
};
use model::{
    findings::{EvidenceItem, Severity, Value},
    remedy::{Action, Buffer},
    text,
};

use super::{
    FULL, bytes,
    limited::{self, Limited},
    percent, rate, time,
};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure},
};

/// Bytes in flight, as a share of the buffer, from which it counts as full: the kernel charges
/// packets with their memory overhead.
const BUFFER_FULL: f64 = 0.6;
/// Bytes that may be in flight beyond the buffer: the kernel checks for space before a write is
/// queued, not after (sk_stream_memory_free, Linux include/net/sock.h), and one packet of
/// segmentation offload has 64 kB; at a round trip that varies, in flight is an estimate.
const BEYOND: f64 = 2.0 * 65_536.0;
/// The congestion window is not the limit above this multiple of the bytes in flight.
const CWND_ROOM: f64 = 1.3;
/// Ratio of goodputs of two congestion controls, either way, up to which both are equally fast.
const SAME: f64 = 1.1;

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::SEND_BUFFER,
    title: "the send buffer is too small for this path",
    severity: Severity::High,
    needs: &[Need::Tcp, Need::TcpInfo],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "sent data stays in the sender's buffer until it is acknowledged; buffers of the receiver or of routers do not matter",
        actions,
    },
    about: "Data in flight is kept in the sender's socket buffer until it is acknowledged, so a \
        buffer of B bytes allows at most about B / RTT. The kernel counts the time in which the \
        buffer and not the network was the limit (`tcpi_sndbuf_limited` of `tcpi_busy_time`). A \
        program that sets SO_SNDBUF switches the kernel's own growth of the buffer off, which is \
        the usual reason.",
    sources: &[
        "Linux commit b0f71bd3e190 (tcp: instrument how long TCP is limited by insufficient send buffer)",
        "Linux net/ipv4/tcp_output.c, tcp_cwnd_validate: when the time counts as limited by the send buffer",
        "Linux net/ipv4/tcp_bbr.c, bbr_sndbuf_expand: three times the window",
        "erebe/wstunnel#80: SO_SNDBUF switches autotuning off",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![scope.buffer(scope.sender(), Buffer::Send, 4.0)]
}

fn test(dir: &DirectionView) -> Verdict {
    let mut limited = match limited::by(dir, text!("send buffer"), |l| l.sndbuf_limited) {
        Ok(limited) => limited,
        Err(verdict) => {
            let found = full(dir).or_else(|| beside(dir)).or_else(|| small(dir));
            return found.unwrap_or(verdict);
        }
    };
    limited.in_flight();
    limited.needs(dir, text!("required bytes in flight"));
    limited.evidence.extend(maximum(dir));
    let text = text!(
        "the send buffer limited the sender for {share} of its busy time, at {goodput}",
        share = percent(limited.share),
        goodput = rate(limited.load.goodput_bps)
    );
    let [clear, clean] = limited.signs();
    confirmed(
        Strength::of(&[clear, limited.filled.is_some(), clean]),
        text,
        limited.evidence,
    )
}

/// Detects a buffer that limits this load although the kernel counts no time for it, by a load with
/// another congestion control that it does limit: both are equally fast, and the congestion window
/// of this one is larger than the bytes in flight.
fn beside(dir: &DirectionView) -> Option<Verdict> {
    let load = dir.default_load()?;
    let filled = dir.utilization(&load).filter(|filled| *filled < FULL)?;
    let (other, share) = limited_beside(dir, &load)?;
    let mut limited = Limited {
        evidence: beside_evidence(&load, &other, share),
        filled: Some(filled),
        load: load.clone(),
        share,
    };
    let window = load.cwnd_p50? * load.mss_bytes();
    if window < CWND_ROOM * limited.in_flight()? {
        return None;
    }
    limited.evidence.push(larger_window(&load, window));
    limited.evidence.extend(maximum(dir));
    let text = text!(
        "the send buffer limited {other} for {share} of its busy time, and {cc} reaches no more: {filled} of the path's capacity",
        other = &other.cc,
        share = percent(share),
        cc = &load.cc,
        filled = percent(filled)
    );
    let [_, clean] = limited.signs();
    Some(confirmed(Strength::of(&[clean]), text, limited.evidence))
}

/// A load that is as fast as this one with another congestion control, and the share of its time
/// for which the send buffer limited it, if that is much.
fn limited_beside(dir: &DirectionView, load: &Load) -> Option<(Load, f64)> {
    let alike = |l: &Load| {
        let ratio = l.goodput_bps / load.goodput_bps;
        l.cc != load.cc && (1.0 / SAME..=SAME).contains(&ratio)
    };
    let others = dir.single_loads().into_iter().filter(alike);
    others
        .filter_map(|l| l.sndbuf_limited.map(|share| (l, share)))
        .find(|(_, share)| *share > limited::LIMITED)
}

fn beside_evidence(load: &Load, other: &Load, share: f64) -> Vec<EvidenceItem> {
    vec![
        figure(
            text!("time limited by the send buffer with {cc}", cc = &other.cc),
            Value::Share(share),
        )
        .bound(text!(
            "above {bound} of the busy time",
            bound = Value::Share(limited::LIMITED)
        ))
        .samples(&other.samples)
        .decisive(),
        figure(
            text!("goodput of {cc}", cc = &other.cc),
            Value::Bps(other.goodput_bps),
        )
        .samples(&other.samples),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
    ]
}

/// The evidence that not the congestion window is the limit.
fn larger_window(load: &Load, window: f64) -> EvidenceItem {
    figure(text!("congestion window"), Value::Bytes(window))
        .bound(text!("larger than the bytes in flight"))
        .samples(&load.samples)
}

/// The sender's limit as evidence, if it is known.
fn maximum(dir: &DirectionView) -> Option<EvidenceItem> {
    let sender = dir.sender();
    let max = max_send_buffer(&sender)?;
    Some(figure(text!("tcp_wmem, maximum"), Value::Bytes(max)).end(sender.side))
}

/// The host's limit of send buffer autotuning, bytes.
fn max_send_buffer(host: &Host) -> Option<f64> {
    let [_, _, max] = host.facts.sysctl_triple("net.ipv4.tcp_wmem")?;
    Some(max as f64)
}

/// Detects a host whose largest send buffer is smaller than the path needs, where no other
/// congestion control carries more: then it limits both, whatever the kernel counts. A buffer of
/// one packet of segmentation offload is never full while a write waits.
fn small(dir: &DirectionView) -> Option<Verdict> {
    let load = dir.default_load()?;
    let filled = dir.utilization(&load).filter(|filled| *filled < FULL)?;
    let base_us = dir.view.base_us()?;
    let carries = dir.payload_capacity_bps(&load)?;
    let needed = models::needed_bytes(carries, base_us / 1e6);
    let max = max_send_buffer(&dir.sender()).filter(|max| *max < needed)?;
    let loads = dir.single_loads();
    let others: Vec<&Load> = loads.iter().filter(|l| l.cc != load.cc).collect();
    let fastest = others.iter().map(|l| l.goodput_bps).reduce(f64::max)?;
    if fastest > SAME * load.goodput_bps {
        return None;
    }
    let mut evidence: Vec<EvidenceItem> = maximum(dir).map(Figure::decisive).into_iter().collect();
    evidence.push(
        figure(text!("required bytes in flight"), Value::Bytes(needed)).formula(text!(
            "rate * RTT = {capacity} * {rtt}",
            capacity = rate(carries),
            rtt = time(base_us)
        )),
    );
    evidence.push(figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples));
    for other in others {
        let name = text!("goodput of {cc}", cc = &other.cc);
        evidence.push(figure(name, Value::Bps(other.goodput_bps)).samples(&other.samples));
    }
    let text = text!(
        "the sender's buffer may hold {max}, the path {needed}: TCP reaches {filled} of the path's capacity with any congestion control",
        max = bytes(max),
        needed = bytes(needed),
        filled = percent(filled)
    );
    let far_smaller = max < needed / 2.0;
    let clean = load.loss().is_some_and(|p| p < 1e-3);
    Some(confirmed(
        Strength::of(&[far_smaller, clean]),
        text,
        evidence,
    ))
}

/// Detects a buffer that is always full although the kernel counts no time limited by it: the
/// kernel starts that clock only if a write is waiting for space when the last segment leaves
/// (tcp_cwnd_validate). Otherwise it counts the sender as application-limited, while the bytes in
/// flight equal the buffer and the congestion window is larger.
fn full(dir: &DirectionView) -> Option<Verdict> {
    let mut limited = limited::by(dir, text!("application, as counted by the kernel"), |l| {
        l.app_limited
    })
    .ok()
    .filter(|limited| limited.share > 0.5)?;
    let sender = dir.sender();
    let max = max_send_buffer(&sender)?;
    let load = limited.load.clone();
    let window = load.cwnd_p50? * load.mss_bytes();
    let in_flight = limited.in_flight()?;
    let ratio = in_flight / max;
    let most = 1.3 + BEYOND / max;
    if !(BUFFER_FULL..=most).contains(&ratio) || window < CWND_ROOM * in_flight {
        return None;
    }
    for item in &mut limited.evidence {
        item.decides = false;
    }
    limited.evidence.push(
        figure(
            text!("bytes in flight / maximum of tcp_wmem"),
            Value::Ratio(ratio),
        )
        .bound(text!("close to 1"))
        .formula(text!(
            "{in_flight} / {max}",
            in_flight = bytes(in_flight),
            max = bytes(max)
        ))
        .end(sender.side)
        .decisive(),
    );
    limited.evidence.push(larger_window(&load, window));
    limited.needs(dir, text!("required bytes in flight"));
    let text = text!(
        "{in_flight} are in flight, all that the send buffer can hold, at {goodput}",
        in_flight = bytes(in_flight),
        goodput = rate(load.goodput_bps)
    );
    let clean = load.loss().is_some_and(|p| p < 1e-3);
    let signs = [limited.filled.is_some() && clean];
    Some(confirmed(Strength::of(&signs), text, limited.evidence))
}
