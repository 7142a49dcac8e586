//! Properties of the path that follow from a Run by arithmetic.

mod bucket;
mod changes;
mod estimate;
mod held;
mod jitter;
mod line;
mod loss;
mod payload;
mod policed;
mod queue;
mod tunnel;

use analysis::view::View;
use model::{
    net::{Direction, IpVersion, Layer},
    run::Run,
    text,
    text::Text,
};

use crate::error::{Missing, TwinError};

use jitter::Jitter;

pub use estimate::Estimate;
pub use line::LineMoments;
pub use loss::LossMoments;
pub use tunnel::{StageMoments, TunnelMoments};

/// Properties of the path of a Run.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Layer that they belong to.
    pub layer: Layer,
    /// Address family.
    pub family: IpVersion,
    /// The tunnel over that layer or around it, if one was measured.
    pub tunnel: Option<TunnelMoments>,
    /// Round trip without load, s.
    pub rtt_s: Estimate,
    /// Half width of a uniform delay variation in each direction, s; 0 beside a distribution.
    pub jitter_s: f64,
    /// MTU of the links between the ends, bytes; absent = unknown.
    pub mtu: Option<u32>,
    /// From the far end to the near one.
    pub down: LineMoments,
    /// From the near end to the far one.
    pub up: LineMoments,
    /// Missing measurements and their substitutes.
    pub notes: Vec<Text>,
}

impl Moments {
    /// A direction.
    pub fn line(&self, direction: Direction) -> &LineMoments {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// Input of a fit.
    ///
    /// # Errors
    /// The Run lacks a parameter of the path, or has an impossible one.
    pub fn of(run: &Run) -> Result<Self, TwinError> {
        let lacks = |missing: Vec<Missing>| TwinError::Missing {
            missing,
            cut_short: run.cut_short.is_some(),
        };
        let top = View::new(run).ok_or_else(|| lacks(vec![Missing::Everything]))?;
        // The underlay first: stages of the tunnel only are added to it.
        let below = top.underlay().filter(|below| missing(below).is_empty());
        let view = below.unwrap_or(top);
        let missing = missing(&view);
        if !missing.is_empty() {
            return Err(lacks(missing));
        }
        let mut notes = Vec::new();
        let rtt_s = rtt(&view, &mut notes).ok_or_else(|| lacks(vec![Missing::BaseRtt]))?;
        estimate::sane("a round trip in seconds", rtt_s.value, 1e-6, 60.0)?;
        let wire = view.wire();
        let jitter = Jitter::of(&view, rtt_s.value / 2.0);
        let times_s = [rtt_s.value, jitter.half_width_s];
        let mut line =
            |direction| LineMoments::of(&view.direction(direction), times_s, wire, &mut notes);
        let (mut down, mut up) = (line(Direction::Down)?, line(Direction::Up)?);
        [down.jitter_quantiles, up.jitter_quantiles] = jitter.quantiles;
        let tunnel = TunnelMoments::of(&top, view.layer, rtt_s.value, [&down, &up], &mut notes);
        Ok(Self {
            layer: view.layer,
            family: view.family,
            tunnel,
            rtt_s,
            jitter_s: jitter.half_width_s,
            mtu: view.mtu_bytes().filter(|_| view.layer == Layer::Underlay),
            down,
            up,
            notes,
        })
    }
}

/// Returns the measurements missing from a view.
fn missing(view: &View<'_>) -> Vec<Missing> {
    let tcp = |direction| {
        let mut loads = view.direction(direction).loads();
        loads.retain(|load| load.goodput_bps > 0.0);
        loads.is_empty().then_some(Missing::Tcp(direction))
    };
    let mut missing: Vec<Missing> = [Direction::Down, Direction::Up]
        .into_iter()
        .filter_map(tcp)
        .collect();
    let idle = view.idle().is_some();
    let min_rtt = |d| {
        view.direction(d)
            .loads()
            .iter()
            .any(|l| l.min_rtt_us.is_some())
    };
    if !idle && !min_rtt(Direction::Down) && !min_rtt(Direction::Up) {
        missing.push(Missing::BaseRtt);
    }
    missing
}

/// The round trip without any queue ([`View::unqueued_us`]), with bounds.
fn rtt(view: &View<'_>, notes: &mut Vec<Text>) -> Option<Estimate> {
    if let Some((idle, base_us)) = view.idle().zip(view.base_us()) {
        // With a one-sided variation the truth would be the smallest.
        let low = idle.min_us.min(base_us);
        return Some(Estimate {
            value: base_us / 1e6,
            low: low / 1e6 * 0.995,
            high: base_us / 1e6 * 1.005,
        });
    }
    let smallest_s = view.unqueued_us()? / 1e6;
    notes.push(text!(
        "no latency probes without load: the base round trip is the smallest under load, and delay under load is not fitted"
    ));
    Some(Estimate {
        value: smallest_s,
        low: smallest_s * 0.7,
        high: smallest_s * 1.02,
    })
}
