//! The tunnel of a Run, and what is left over of its limits once the path below it is known.

use analysis::view::{DirectionView, View};
use model::{
    net::{Direction, IpVersion, Layer},
    text,
    text::{Text, Value},
    wire::Wire,
};

use super::{
    estimate::Estimate,
    line::{self, LineMoments, RATES},
    loss::{LossMoments, QueueMoments, most_by_tcp},
    queue::queues,
};
use crate::policing::Dropper;

/// Share of the rate of the path below that a tunnel carries at least, if nothing but its headers
/// limits it: both rates have errors of about 1 %, and other tunnels have more headers than
/// WireGuard, as which they count.
const EXPECTED: f64 = 0.93;
/// Error of the rate of a stage.
const RATE_ERROR: f64 = 0.02;
/// Largest share that a path may lose.
const MOST_LOSS: f64 = 0.9;
/// Round trip that a tunnel adds without a longer way, s, and as a share.
const ADDED: (f64, f64) = (0.003, 0.1);

/// The tunnel of a Run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TunnelMoments {
    /// MTU of its device, bytes of the inner packet; absent = unknown.
    pub mtu: Option<u32>,
    /// Address family inside.
    pub family: IpVersion,
    /// True if the path below it was measured, too.
    pub beside_underlay: bool,
    /// Stage that only its packets from the far end pass.
    pub down: StageMoments,
    /// Stage that only its packets to the far end pass.
    pub up: StageMoments,
}

/// A stage that only packets of the tunnel pass: absent values are those of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageMoments {
    /// Rate, bit/s with all headers of the path below.
    pub rate_bps: Option<Estimate>,
    /// Share lost in addition.
    pub loss: Option<Estimate>,
}

impl TunnelMoments {
    /// The stage of a direction.
    pub fn stage(&self, direction: Direction) -> &StageMoments {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// The tunnel `top`, if it is one. Where the path below it was `measured`, `down` and `up` are
    /// its lines, and what they do not explain becomes a stage.
    pub(super) fn of(
        top: &View<'_>,
        measured: Layer,
        rtt_s: f64,
        [down, up]: [&LineMoments; 2],
        notes: &mut Vec<Text>,
    ) -> Option<Self> {
        let tunnel = Self {
            mtu: top.mtu_bytes(),
            family: top.family,
            beside_underlay: measured == Layer::Underlay,
            down: StageMoments::default(),
            up: StageMoments::default(),
        };
        match (top.layer, measured) {
            (Layer::Underlay, _) => return None,
            (_, Layer::Tunnel) => return Some(tunnel),
            (_, Layer::Underlay) => {}
        }
        let wire = top.wire();
        let mut stage = |direction, below: &LineMoments| {
            let stage = StageMoments::of(&top.direction(direction), wire, rtt_s, below);
            notes.extend(stage.notes(direction, below));
            stage
        };
        let (down, up) = (stage(Direction::Down, down), stage(Direction::Up, up));
        notes.extend(longer(top, rtt_s));
        Some(Self { down, up, ..tunnel })
    }
}

impl StageMoments {
    /// What the tunnel carries less, and loses more, than the path `below` explains.
    fn of(inside: &DirectionView<'_>, wire: Wire, rtt_s: f64, below: &LineMoments) -> Self {
        Self {
            rate_bps: rate(inside, wire, below),
            loss: loss(inside, rtt_s, below),
        }
    }

    fn notes(&self, direction: Direction, below: &LineMoments) -> Vec<Text> {
        let rate = self.rate_bps.map(|rate| {
            text!(
                "{direction}: the tunnel carries {rate} with its headers, {share} of the path below it, so it has a stage of that rate",
                direction = direction,
                rate = Value::Bps(rate.value),
                share = Value::Share(rate.value / below.rate_bps.value)
            )
        });
        let loss = self.loss.map(|loss| {
            text!(
                "{direction}: the tunnel loses {share} more than the path below it, in a stage of its own",
                direction = direction,
                share = Value::Share(loss.value)
            )
        });
        rate.into_iter().chain(loss).collect()
    }
}

/// The rate of the tunnel where UDP was offered more than it carries, if the path below and the
/// headers do not explain it.
fn rate(inside: &DirectionView<'_>, wire: Wire, below: &LineMoments) -> Option<Estimate> {
    let (found, is_least) = line::rate(inside, wire);
    let possible = (RATES[0]..=RATES[1]).contains(&found.value);
    let less = found.value < EXPECTED * below.rate_bps.value;
    (possible && less && !is_least).then(|| Estimate::around(found.value, RATE_ERROR))
}

/// The loss of the tunnel beyond that of the path below it, if both intervals are apart: a packet
/// passes both, one after the other. TCP in the tunnel bounds it: a processor that has too much to
/// do loses datagrams at rates at which TCP, which sends what arrives, loses none.
fn loss(inside: &DirectionView<'_>, rtt_s: f64, line: &LineMoments) -> Option<Estimate> {
    let (below, below_bps) = (&line.loss, line.rate_bps.value);
    let rises = inside.rises().unwrap_or_default();
    let queues = queues(&rises, Dropper::Unknown);
    let queue = QueueMoments::of(&rises, &queues, below_bps);
    let found = LossMoments::of(inside, rtt_s, false, &queue).share;
    let most = most_by_tcp(inside, rtt_s).min(MOST_LOSS);
    if !found.value.is_finite() || found.low.min(most) <= below.share.high {
        return None;
    }
    let more = |all: f64, known: f64| (1.0 - (1.0 - all.min(most)) / (1.0 - known)).max(0.0);
    Some(Estimate {
        value: more(found.value, below.share.value),
        low: more(found.low, below.share.high),
        high: more(found.high, below.share.low),
    })
}

/// Says that the tunnel takes a longer way than the path below, as through a relay: its stage in
/// the lab has no delay.
fn longer(top: &View<'_>, rtt_s: f64) -> Option<Text> {
    let own_s = top.unqueued_us()? / 1e6;
    (own_s - rtt_s > ADDED.0.max(ADDED.1 * rtt_s)).then(|| {
        text!(
            "the round trip in the tunnel is {own}, {below} below it: the twin's tunnel does not have the difference, and its figures differ from the run's",
            own = Value::Us(own_s * 1e6),
            below = Value::Us(rtt_s * 1e6)
        )
    })
}
