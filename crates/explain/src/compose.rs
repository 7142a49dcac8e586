//! Computed Runs, for causes that a lab cannot produce and for tests of the rules.
//!
//! A [`Scene`] describes the limits of each direction and the hosts; [`run`] computes the figures
//! that a measurement would see, with noise from a seed: window over RTT, the loss formulas, the
//! size of a buffer. Such a Run is marked by its `program`, [`PROGRAM`].

mod hosts;
mod tcp;
mod udp;

use std::net::{IpAddr, Ipv4Addr};

use model::{
    net::{Direction, IpVersion, Layer, Side},
    plan::{PLAN_SCHEMA, Plan},
    run::{Key, LayerAddress, Probes, RUN_SCHEMA, Run, Sample, StepKind},
};
use serde::Deserialize;
use stats::Random;

pub use hosts::{Device, Machine, Tunnel};

/// `program` of a composed Run.
pub const PROGRAM: &str = "composed";

/// Input of a composed Run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scene {
    /// From the far end to the near one.
    pub down: Line,
    /// From the near end to the far one.
    pub up: Line,
    /// The near host.
    pub near: Machine,
    /// The far host.
    pub far: Machine,
    /// A tunnel, measured together with its underlay.
    pub tunnel: Option<Tunnel>,
    /// Measured steps.
    pub measured: Measured,
}

/// One direction of a [`Scene`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Line {
    /// Rate of the line, Mbit/s.
    pub rate_mbps: f64,
    /// Idle RTT, ms.
    pub rtt_ms: f64,
    /// Delay of the full buffer at the bottleneck, ms; 0 = a policer.
    pub buffer_ms: f64,
    /// Random loss, a share.
    pub loss: f64,
    /// Jitter, ms from the median to the 95th percentile.
    pub jitter_ms: f64,
    /// Share of reordered packets.
    pub reorder: f64,
    /// Receive window, kB.
    pub rwnd_kb: Option<f64>,
    /// Send buffer, kB.
    pub sndbuf_kb: Option<f64>,
    /// Limit per flow, Mbit/s.
    pub flow_cap_mbps: Option<f64>,
    /// Limit of UDP, Mbit/s.
    pub udp_cap_mbps: Option<f64>,
    /// Limit of a processor for all traffic, Mbit/s.
    pub cpu_cap_mbps: Option<f64>,
    /// Limit of the sending program, Mbit/s.
    pub app_cap_mbps: Option<f64>,
    /// Loss of TCP's packets in the hosts, as a share.
    pub local_loss: f64,
    /// Path MTU, bytes.
    pub largest: Option<u32>,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            rate_mbps: 100.0,
            rtt_ms: 20.0,
            buffer_ms: 20.0,
            loss: 0.0,
            jitter_ms: 0.1,
            reorder: 0.0,
            rwnd_kb: None,
            sndbuf_kb: None,
            flow_cap_mbps: None,
            udp_cap_mbps: None,
            cpu_cap_mbps: None,
            app_cap_mbps: None,
            local_loss: 0.0,
            largest: None,
        }
    }
}

/// Measured steps of a [`Scene`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Measured {
    /// Congestion controls.
    pub cc: Vec<String>,
    /// Numbers of flows.
    pub flows: Vec<u32>,
    /// True if a UDP sweep is included.
    pub sweep: bool,
    /// Repeats of TCP.
    pub repeats: u32,
    /// True if path MTU and sizes are included.
    pub sizes: bool,
    /// Duration of a load, s.
    pub seconds: f64,
}

impl Default for Measured {
    fn default() -> Self {
        Self {
            cc: vec!["cubic".to_owned(), "bbr".to_owned()],
            flows: vec![1, 4],
            sweep: true,
            repeats: 3,
            sizes: true,
            seconds: 5.0,
        }
    }
}

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
        near: hosts::end(&scene.near, scene.tunnel.as_ref(), Side::Near),
        far: hosts::end(&scene.far, scene.tunnel.as_ref(), Side::Far),
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
        third: None,
        caveats: Vec::new(),
        samples,
        figures: Vec::new(),
        ratios: Vec::new(),
        cut_short: None,
        notes: vec![model::text!("computed, not measured")],
    }
}

/// Builder of a Run.
struct Composer<'a> {
    scene: &'a Scene,
    random: Random,
    samples: Vec<Sample>,
    at_us: u64,
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

    fn line(&self, layer: Layer, direction: Direction) -> Line {
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
    fn about(&mut self, value: f64, share: f64) -> f64 {
        // The sum of four uniform values is close enough to a normal distribution.
        let sum: f64 = (0..4).map(|_| self.uniform() - 0.5).sum();
        value * (1.0 + share * sum * 1.7)
    }

    fn uniform(&mut self) -> f64 {
        self.random.next_u64() as f64 / u64::MAX as f64
    }

    fn idle(&mut self, layer: Layer) {
        let line = self.line(layer, Direction::Down);
        let rtt_us = line.rtt_ms * 1e3;
        let probes = self.probes(rtt_us, line.jitter_ms * 1e3, 200.0);
        let key = key(StepKind::Idle, layer, None);
        self.push(key, 2.0, |s| s.probes = Some(probes));
    }

    fn probes(&mut self, p50_us: f64, jitter_us: f64, n: f64) -> Probes {
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

    fn push(&mut self, key: Key, seconds: f64, fill: impl FnOnce(&mut Sample)) {
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

fn key(step: StepKind, layer: Layer, direction: Option<Direction>) -> Key {
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
