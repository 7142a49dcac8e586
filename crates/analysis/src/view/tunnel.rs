//! The share of the underlay's goodput that a tunnel achieves.

use model::{
    net::Layer,
    run::{FigureKind, Ratio},
};

use super::{DirectionView, Load, View};
use crate::summary;

impl<'a> View<'a> {
    /// The Run's ratio of the tunnel's goodput to that of the underlay, with its load: a
    /// direction's default load, in the direction with the lower ratio.
    pub fn kept(&self) -> Option<(&'a Ratio, Load)> {
        let of = |dir: DirectionView<'a>| {
            let load = dir.default_load()?;
            let ratio = self.run.ratios.iter().find(|r| {
                r.kind == FigureKind::Goodput
                    && r.of.layer == Layer::Tunnel
                    && r.to.layer == Layer::Underlay
                    && r.of.direction == Some(dir.direction)
                    && !r.of.bidirectional
                    && r.of.flows == Some(load.flows)
                    && r.of.cc.as_ref().is_none_or(|cc| *cc == load.cc)
            })?;
            Some((ratio, load))
        };
        let kept = self.directions().into_iter().filter_map(of);
        kept.min_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio))
    }
}

impl DirectionView<'_> {
    /// Goodput of a tunnel's load over that of the path below it, as [`Self::gain`].
    pub fn kept(&self) -> Option<f64> {
        let below = self.underlay()?;
        let inside = self.samples_of(&self.default_load()?);
        let outside = below.samples_of(&below.default_load()?);
        Some(summary::ratio(&inside, &outside, FigureKind::Goodput)?.value)
    }
}
