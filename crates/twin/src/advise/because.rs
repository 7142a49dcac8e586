//! Reasons why a remedy has no effect on a path, and the paths where it would.

use analysis::{figures::added_us, models::buffer_bytes};
use model::{
    advice::{Outcome, guards::GAIN},
    net::{Direction, IpVersion, Layer, Side},
    path::{Limit, Path},
    remedy::{Action, Flow, Remedy, SHAPED},
    text,
    text::{Text, Value},
};

use super::{recipe::DEFAULT_QUEUE, trial::cc};

/// Delay under load below which a shaper is not useful, µs.
const SHORT_QUEUE_US: f64 = 10_000.0;
/// Share of the rate from which a flow has nothing to gain.
const FULL: f64 = 0.85;

/// Properties of the path without a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) path: &'a Path,
    pub(super) unchanged: &'a [Outcome],
}

impl Context<'_> {
    fn outcome(&self, direction: Direction) -> Option<&Outcome> {
        self.unchanged.iter().find(|o| o.direction == direction)
    }

    /// Returns the rate left for the payload of TCP in the topmost layer, bit/s.
    fn payload_bps(&self, direction: Direction) -> Option<f64> {
        let path = self.path;
        let (layer, ip) = match &path.tunnel {
            Some(tunnel) => (Layer::Tunnel, tunnel.ip.as_ref()),
            None => (Layer::Underlay, path.underlay.ip.as_ref()),
        };
        let ip = ip.map_or(IpVersion::V4, |known| known.value);
        match path.underlay.line(direction).rate_bps.as_ref()?.value {
            Limit::At(rate) => Some(path.wire(layer).tcp_payload_bps(rate, ip)),
            Limit::Unlimited => None,
        }
    }

    fn rtt_us(&self) -> f64 {
        let delay = |d| {
            let delay = self.path.underlay.line(d).delay_ns.as_ref();
            delay.map_or(0.0, |p| p.value.0 as f64 / 1e3)
        };
        delay(Direction::Down) + delay(Direction::Up)
    }

    /// Delay that a flow adds to the path's own, µs.
    fn added_us(&self, direction: Direction) -> Option<f64> {
        Some(added_us(self.outcome(direction)?.rtt_p50_us, self.rtt_us()))
    }

    /// Share of the rate that one flow gets, with the headers around its payload.
    fn used(&self, direction: Direction) -> Option<f64> {
        Some(self.outcome(direction)?.goodput_bps / self.payload_bps(direction)?)
    }
}

/// Returns why one remedy has no effect.
pub(super) fn nothing(remedy: &Remedy, context: &Context<'_>) -> Option<Text> {
    let sends = remedy.on.side().map(sent_by);
    match &remedy.action {
        Action::CongestionControl { cc: name, .. } => congestion(name, sends?, context),
        Action::Shaper {
            direction, flow, ..
        } => shaper(*direction, *flow, context),
        Action::Sysctl { name, .. } if name != DEFAULT_QUEUE => None,
        Action::Queue { .. } | Action::Sysctl { .. } => Some(text!(
            "the queue forms in the bottleneck and not in this host's own device, so its queue stays empty; it helps where the host's own link is the bottleneck, or in a shaper"
        )),
        Action::SocketBuffer { .. } => buffers(context),
        Action::NotsentLowat { .. } => Some(text!(
            "it limits unsent data in the program's own socket, which no other flow sees; it helps programs that choose the next data late, such as HTTP/2 servers"
        )),
        Action::Ecn { .. } => Some(text!(
            "no queue on this path marks packets; it helps where the bottleneck has queue management with ECN"
        )),
        Action::TunnelMtu { .. } | Action::LinkMtu { .. } => Some(text!(
            "full packets pass, and smaller ones only add headers; it helps where large packets vanish or are fragmented"
        )),
        _ => None,
    }
}

/// The direction in which a host sends.
fn sent_by(side: Side) -> Direction {
    match Side::sends(Direction::Down) == side {
        true => Direction::Down,
        false => Direction::Up,
    }
}

fn congestion(name: &str, direction: Direction, context: &Context<'_>) -> Option<Text> {
    let now = cc(context.path, direction);
    if now == name {
        return Some(text!("this host already uses {cc}", cc = now));
    }
    let used = context.used(direction)?;
    Some(if used >= FULL {
        text!(
            "{direction}: {now} already gets {share} of the rate; {cc} helps where packets are lost without a full queue, or where the queue is large",
            direction = direction,
            now = now,
            share = Value::Share(used.min(1.0)),
            cc = name
        )
    } else {
        text!(
            "{direction}: {cc} gets no more than {now} here, which gets {share} of the rate",
            direction = direction,
            now = now,
            share = Value::Share(used),
            cc = name
        )
    })
}

fn shaper(direction: Direction, flow: Flow, context: &Context<'_>) -> Option<Text> {
    let added = context.added_us(direction)?;
    let name = direction;
    Some(if added < SHORT_QUEUE_US {
        text!(
            "{direction}: a flow adds only {added} of delay, and a shaper costs {cost} of the rate; it helps where a large queue adds much delay",
            direction = name,
            added = Value::Us(added),
            cost = Value::Share(1.0 - SHAPED)
        )
    } else {
        match flow {
            Flow::Egress => text!(
                "{direction}: the {added} added by a flow do not decrease, so the queue is elsewhere",
                direction = name,
                added = Value::Us(added)
            ),
            Flow::Ingress => text!(
                "{direction}: behind the bottleneck it can only slow senders down, and the {added} added by a flow remain",
                direction = name,
                added = Value::Us(added)
            ),
        }
    })
}

fn buffers(context: &Context<'_>) -> Option<Text> {
    let needed = [Direction::Down, Direction::Up]
        .into_iter()
        .filter_map(|direction| {
            let rtt_s = context.outcome(direction)?.rtt_p50_us / 1e6;
            Some(buffer_bytes(rtt_s, context.payload_bps(direction)?))
        });
    let needed = needed.reduce(f64::max)?;
    Some(text!(
        "this path needs {needed} in flight at most, which the present buffers allow; larger ones help where rate times RTT exceeds them",
        needed = Value::Bytes(needed)
    ))
}

/// Returns which part of a recipe acts: of the parts that were tried, with their worths.
pub(super) fn parts(whole: f64, parts: &[(Text, f64)]) -> Option<Text> {
    if whole.abs() <= GAIN {
        return Some(text!("none of its parts acts on this path"));
    }
    let best = parts.iter().max_by(|a, b| {
        let ordered = a.1.total_cmp(&b.1);
        if whole > 0.0 {
            ordered
        } else {
            ordered.reverse()
        }
    })?;
    let alone = (best.1 - whole).abs() <= GAIN.max(0.15 * whole.abs());
    let ahead = if whole > 0.0 {
        best.1 > whole + GAIN
    } else {
        best.1 < whole - GAIN
    };
    Some(if alone {
        text!("its whole effect comes from {part}", part = best.0.clone())
    } else if ahead && whole > 0.0 {
        text!("{part} alone does more", part = best.0.clone())
    } else {
        text!(
            "most of its effect comes from {part}",
            part = best.0.clone()
        )
    })
}
