//! Computed Runs, for causes that a lab cannot produce and for tests of the rules.
//!
//! A [`Scene`] describes the limits of each direction and the hosts; [`run`] computes the figures
//! that a measurement would see, with noise from a seed: window over RTT, the loss formulas, the
//! size of a buffer. Such a Run is marked by its `program`, [`PROGRAM`].

mod composer;
mod evidence;
mod facts;
mod hosts;
mod line;
mod scene;
mod series;
mod tcp;
mod udp;

use std::net::{IpAddr, Ipv4Addr};

use model::{
    net::{Direction, IpVersion, Layer, Side},
    plan::{PLAN_SCHEMA, Plan},
    run::{LayerAddress, RUN_SCHEMA, Run, StepKind},
};
use stats::Random;

use composer::{Composer, key};

pub use facts::PROGRAM;
pub use hosts::{Device, Machine, Tunnel};
pub use line::Line;
pub use scene::{Measured, Scene};
pub use series::with_series;

/// Computes the Run of a scene. The same seed gives the same Run.
pub fn run(scene: &Scene, seed: u64) -> Run {
    let mut composer = Composer {
        scene,
        random: Random::new(seed),
        samples: Vec::new(),
        at_us: 0,
    };
    let layers: &[Layer] = match scene.tunnel {
        Some(_) => &[Layer::Underlay, Layer::Tunnel],
        None => &[Layer::Underlay],
    };
    for layer in layers {
        composer.layer(*layer);
    }
    let samples = composer.samples;
    let address = |end: u8| IpAddr::V4(Ipv4Addr::new(192, 0, 2, end));
    Run {
        schema: RUN_SCHEMA,
        id: format!("{seed:016x}"),
        program: PROGRAM.to_owned(),
        started_us: 0,
        took_s: samples.iter().map(|s| s.took_us as f64 / 1e6).sum(),
        lab: false,
        spec: None,
        plan: Plan {
            schema: PLAN_SCHEMA,
            name: PROGRAM.to_owned(),
            seed: None,
            layers: Vec::new(),
            families: Vec::new(),
            probe_ms: Some(10.0),
            hotspots: true,
            adapt: false,
            repeats: model::plan::Repeats::default(),
            budget: model::plan::Budget::default(),
            steps: Vec::new(),
        },
        near: facts::end(&scene.near, scene.tunnel.as_ref(), Side::Near),
        far: facts::end(&scene.far, scene.tunnel.as_ref(), Side::Far),
        layers: layers
            .iter()
            .map(|&layer| LayerAddress {
                layer,
                family: IpVersion::V4,
                near: address(1),
                far: address(2),
            })
            .collect(),
        unreached: Vec::new(),
        asked: None,
        third: None,
        caveats: Vec::new(),
        samples,
        figures: Vec::new(),
        ratios: Vec::new(),
        cut_short: None,
        notes: vec![model::text!("computed, not measured")],
    }
}

impl Composer<'_> {
    fn layer(&mut self, layer: Layer) {
        let measured = self.scene.measured.clone();
        self.idle(layer);
        if measured.sizes {
            self.sizes(layer);
        }
        for direction in [Direction::Down, Direction::Up] {
            if measured.sweep {
                self.sweep(layer, direction);
            }
            for _ in 0..measured.repeats {
                for cc in &measured.cc {
                    for &flows in &measured.flows {
                        self.tcp(layer, direction, cc, flows);
                    }
                }
            }
        }
    }

    fn idle(&mut self, layer: Layer) {
        let line = self.line(layer, Direction::Down);
        let rtt_us = line.rtt_ms * 1e3;
        let probes = self.probes(rtt_us, line.jitter_ms * 1e3, 200.0);
        let key = key(StepKind::Idle, layer, None);
        self.push(key, 2.0, |s| s.probes = Some(probes));
    }
}
