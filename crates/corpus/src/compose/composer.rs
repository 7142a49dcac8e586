//! Builder of a Run.

use model::{
    net::{Direction, IpVersion, Layer},
    run::{Key, Probes, Sample, StepKind},
};
use stats::Random;

use super::{line::Line, scene::Scene};

/// A Run that is being composed.
pub(super) struct Composer<'a> {
    pub(super) scene: &'a Scene,
    pub(super) random: Random,
    pub(super) samples: Vec<Sample>,
    pub(super) at_us: u64,
}

impl Composer<'_> {
    pub(super) fn line(&self, layer: Layer, direction: Direction) -> Line {
        let line = match direction {
            Direction::Down => self.scene.down.clone(),
            Direction::Up => self.scene.up.clone(),
        };
        match (&self.scene.tunnel, layer) {
            (Some(tunnel), Layer::Tunnel) => tunnel.inside(line),
            (Some(_), Layer::Underlay) => Line {
                cpu_cap_mbps: None,
                local_loss: 0.0,
                largest: None,
                ..line
            },
            _ => line,
        }
    }

    /// A value with relative noise.
    pub(super) fn about(&mut self, value: f64, share: f64) -> f64 {
        // The sum of four uniform values is close enough to a normal distribution.
        let sum: f64 = (0..4).map(|_| self.uniform() - 0.5).sum();
        value * (1.0 + share * sum * 1.7)
    }

    pub(super) fn uniform(&mut self) -> f64 {
        self.random.next_u64() as f64 / u64::MAX as f64
    }

    pub(super) fn probes(&mut self, p50_us: f64, jitter_us: f64, n: f64) -> Probes {
        let p50 = self.about(p50_us, 0.005);
        Probes {
            sent: n as u64,
            n: n as u64,
            lost: 0.0,
            min_us: Some(p50 - jitter_us),
            mean_us: Some(p50 + 0.1 * jitter_us),
            p50_us: Some(p50),
            p95_us: Some(p50 + jitter_us),
            p99_us: Some(p50 + 1.4 * jitter_us),
            kernel_times: true,
            series: None,
        }
    }

    pub(super) fn push(&mut self, key: Key, seconds: f64, fill: impl FnOnce(&mut Sample)) {
        let took_us = (seconds * 1e6) as u64;
        let mut sample = Sample {
            number: self.samples.len() as u32,
            took_us,
            ..Sample::new(key, self.at_us)
        };
        fill(&mut sample);
        self.at_us += took_us;
        self.samples.push(sample);
    }
}

pub(super) fn key(step: StepKind, layer: Layer, direction: Option<Direction>) -> Key {
    Key {
        step,
        layer,
        family: IpVersion::V4,
        direction,
        bidirectional: false,
        flows: None,
        cc: None,
        rate_bps: None,
        bytes: None,
    }
}
