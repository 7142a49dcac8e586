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

use super::{
    recipe::{DEFAULT_QUEUE, name},
    trial::cc,
};

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
            "{direction}: {cc} gets no more than {now} here, which gets {share} of the rate; it helps where packets are lost without a full queue, or where the queue is large",
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
                "{direction}: the {added} added by a flow do not decrease, so the queue is elsewhere; it helps where this host's own traffic fills the bottleneck's queue",
                direction = name,
                added = Value::Us(added)
            ),
            Flow::Ingress => text!(
                "{direction}: behind the bottleneck it can only slow senders down, and the {added} added by a flow remain; it helps where few flows fill the queue, and each slows down in time",
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

/// Returns why each part of a recipe without effect has none, and where it would: in full if that
/// is the same for all of them, else in short.
pub(super) fn no_part(remedies: &[Remedy], context: &Context<'_>) -> Vec<Text> {
    let mut whys: Vec<(Text, Text)> = Vec::new();
    for remedy in remedies {
        let Some(why) = short(remedy, context) else {
            continue;
        };
        if whys.iter().all(|(_, known)| *known != why) {
            whys.push((name(&remedy.action), why));
        }
    }
    let alike = remedies.first().filter(|_| whys.len() == 1);
    if let Some(full) = alike.and_then(|remedy| nothing(remedy, context)) {
        return vec![full];
    }
    let each = whys
        .into_iter()
        .map(|(part, why)| text!("{part}: {why}", part = part, why = why));
    let all = text!("none of its parts acts on this path");
    std::iter::once(all).chain(each).collect()
}

/// [`nothing`] in short, for a part of a recipe.
fn short(remedy: &Remedy, context: &Context<'_>) -> Option<Text> {
    let sends = remedy.on.side().map(sent_by);
    Some(match &remedy.action {
        Action::CongestionControl { cc: name, .. } => {
            let now = cc(context.path, sends?);
            if now == *name {
                return Some(text!("this host already uses it"));
            }
            text!(
                "no more than {now}, which gets {share} of the rate; it helps against loss without a full queue",
                now = now,
                share = Value::Share(context.used(sends?)?.min(1.0))
            )
        }
        Action::Sysctl { name, .. } if name != DEFAULT_QUEUE => return None,
        Action::Queue { .. } | Action::Sysctl { .. } => {
            text!("the queue is not on this host; it helps where its own link is the bottleneck")
        }
        Action::SocketBuffer { .. } => {
            text!("the present buffers suffice; larger ones help where rate times RTT exceeds them")
        }
        Action::NotsentLowat { .. } => {
            text!("no other flow sees it; it helps programs that choose the next data late")
        }
        Action::Ecn { .. } => {
            text!("no queue here marks packets; it helps where the bottleneck does")
        }
        _ => return None,
    })
}

/// Returns which part of a recipe acts: of the parts that were tried, with their worths; `None` if
/// the whole has no effect.
pub(super) fn parts(whole: f64, parts: &[(Text, f64)]) -> Option<Text> {
    if whole.abs() <= GAIN {
        return None;
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        path::{Nanos, Parameter, Source},
        remedy::{Buffer, CcScope, Location},
        units::Rate,
    };

    /// 10 Mbit/s and 20 ms, without a tunnel.
    fn path() -> Path {
        let mut path = Path::named("p");
        for direction in [Direction::Down, Direction::Up] {
            let line = path.underlay.line_mut(direction);
            let rate = Limit::At(Rate::from_bps(10_000_000));
            line.rate_bps = Some(Parameter::new(rate, Source::Measured));
            line.delay_ns = Some(Parameter::new(Nanos(10_000_000), Source::Measured));
        }
        path
    }

    fn outcome(goodput_bps: f64, rtt_us: f64) -> [Outcome; 2] {
        [Direction::Down, Direction::Up].map(|direction| Outcome {
            direction,
            goodput_bps,
            rtt_p50_us: rtt_us,
            rtt_p99_us: None,
            retransmitted: None,
        })
    }

    fn on_far(action: Action) -> Remedy {
        Remedy::new(action, Location::Far, Text::plain("test"))
    }

    fn bbr() -> Remedy {
        on_far(Action::CongestionControl {
            cc: "bbr".to_owned(),
            scope: CcScope::Host,
        })
    }

    fn said(remedy: &Remedy, [goodput_bps, rtt_us]: [f64; 2]) -> String {
        let (path, unchanged) = (path(), outcome(goodput_bps, rtt_us));
        let context = Context {
            path: &path,
            unchanged: &unchanged,
        };
        nothing(remedy, &context).unwrap().to_string()
    }

    #[test]
    fn bbr_without_effect_on_a_path_that_is_not_full_says_where_it_would_have_one() {
        for goodput in [2e6, 8e6, 9.5e6] {
            let text = said(&bbr(), [goodput, 25_000.0]);
            assert!(text.contains("helps where packets are lost"), "{text}");
        }
    }

    #[test]
    fn a_shaper_that_leaves_a_long_queue_says_where_it_would_not() {
        for flow in [Flow::Egress, Flow::Ingress] {
            let shaper = on_far(Action::Shaper {
                device: None,
                rate_bps: Some(9_000_000),
                queue: model::remedy::Discipline::Cake,
                flow,
                direction: Direction::Down,
                below: model::remedy::Bottleneck::Queue,
            });
            for rtt_us in [25_000.0, 120_000.0] {
                let text = said(&shaper, [9e6, rtt_us]);
                assert!(text.contains("it helps where"), "{text}");
            }
        }
    }

    #[test]
    fn a_recipe_without_effect_says_of_each_part_why_and_where_it_would_have_one() {
        let (path, unchanged) = (path(), outcome(9.5e6, 25_000.0));
        let context = Context {
            path: &path,
            unchanged: &unchanged,
        };
        let buffer = |buffer| {
            on_far(Action::SocketBuffer {
                buffer,
                keep: None,
                max_bytes: Some(1 << 20),
            })
        };
        let buffers = [Buffer::Receive, Buffer::Send].map(buffer);
        let alike = no_part(&buffers, &context);
        assert!(alike.len() == 1 && alike[0].to_string().contains("larger ones help where"));
        let [ecn, lowat] = [
            Action::Ecn { on: true },
            Action::NotsentLowat { bytes: 8192 },
        ];
        let mut all = vec![bbr(), on_far(ecn), on_far(lowat)];
        all.extend(buffers);
        let texts: Vec<String> = no_part(&all, &context)
            .iter()
            .map(Text::to_string)
            .collect();
        assert_eq!(texts.len(), 5, "{texts:?}");
        assert!(texts[1..].iter().all(|t| t.contains("help")), "{texts:?}");
        assert!(texts[1].starts_with("bbr: no more than cubic"), "{texts:?}");
    }
}
