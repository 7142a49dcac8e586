//! Conversion of a Path into a lab path, with defaults for unknown parameters.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Competitor, CompetitorKind, End, Limit, Line, Loss, Nanos, Parameter, Path, PathError,
    RefusalReason, Refused, Source, Tunnel,
    walk::{Fill, Walk},
};
use crate::{
    cell::{
        self, Batch, CELL_SCHEMA, Cell, EndQdisc, Field, KernelName, LabPath, PathEngine, Queue,
        Table, Traffic, TrafficKind, TunnelAt, TunnelKind, default,
    },
    net::{IpVersion, LoadDirection, Side},
    units::{Bytes, Rate, Seed, Share},
};

/// The experiment on a path: everything of a cell except the path itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Seed of every random number.
    pub seed: Seed,
    /// Measured time, after `warmup`.
    pub duration: Duration,
    /// Duration of the load before the measured time.
    pub warmup: Duration,
    /// Duration of idle probing before the load starts.
    pub idle: Duration,
    /// Interval of the TCP_INFO and queue series.
    pub sample: Duration,
    /// Kernel image that runs it; absent = the lab's default.
    pub kernel: Option<KernelName>,
    /// How the path is made.
    pub engine: PathEngine,
    /// The measured traffic.
    pub traffic: Traffic,
}

impl Default for Trial {
    /// Returns the trial of an empty spec.
    fn default() -> Self {
        Self {
            seed: Seed(1),
            duration: Duration::from_secs(10),
            warmup: Duration::from_secs(2),
            idle: Duration::from_secs(1),
            sample: Duration::from_millis(10),
            kernel: None,
            engine: PathEngine::default(),
            traffic: Traffic::default(),
        }
    }
}

impl Trial {
    /// The experiment of a cell.
    pub fn of(cell: &Cell) -> Self {
        Self {
            seed: cell.seed,
            duration: cell.duration,
            warmup: cell.warmup,
            idle: cell.idle,
            sample: cell.sample,
            kernel: cell.kernel.clone(),
            engine: cell.engine,
            traffic: cell.traffic.clone(),
        }
    }
}

impl Path {
    /// The cell for this path. Unknown parameters get a spec's defaults; an unknown delay gets that
    /// of the other direction.
    ///
    /// # Errors
    /// A parameter is invalid, is not supported by the lab, or conflicts with another.
    pub fn cell(&self, trial: &Trial) -> Result<Cell, PathError> {
        self.check()?;
        let mut refused = self.not_in_the_lab();
        let cell = self.unchecked(trial);
        for impossible in cell.impossible() {
            refused.push(Refused::new(name(impossible.field), impossible.rule));
        }
        PathError::of(refused).map(|()| cell)
    }

    /// This path with the defaults of [`Self::cell`] for unknown parameters, marked
    /// [`Source::Assumed`].
    #[must_use]
    pub fn filled(&self) -> Self {
        let assumed = Self::stated(&self.unchecked(&Trial::default()), Source::Assumed);
        let mut path = self.clone();
        path.underlay.fill(assumed.underlay);
        path.ends.fill(assumed.ends);
        if let (Some(tunnel), Some(assumed)) = (&mut path.tunnel, assumed.tunnel) {
            tunnel.fill(assumed);
        }
        let competitors = path.competitors.iter_mut().zip(assumed.competitors);
        competitors.for_each(|(own, assumed)| own.fill(assumed));
        path
    }

    /// Parameters that the lab does not support.
    fn not_in_the_lab(&self) -> Vec<Refused> {
        let mut refused = Vec::new();
        let mut refuse =
            |name: &str, reason: RefusalReason| refused.push(Refused::new(name, reason));
        if let Some(tunnel) = &self.tunnel {
            for (line, name) in [(&tunnel.down, "tunnel.down"), (&tunnel.up, "tunnel.up")] {
                line.walk(name, &mut |name, _| {
                    let leaf = name.rsplit('.').next().unwrap_or(name);
                    if !matches!(leaf, "rate_bps" | "buffer") && !name.contains(".loss.") {
                        refuse(name, RefusalReason::InsideTunnel);
                    }
                });
            }
        }
        for (index, competitor) in self.competitors.iter().enumerate() {
            let kind = value(&competitor.kind);
            let mut need = |known: bool, of: CompetitorKind, leaf: &str| {
                if kind == Some(of) && !known {
                    let name = format!("competitors.{index}.{leaf}");
                    refuse(&name, RefusalReason::Required);
                }
            };
            need(
                competitor.rate_bps.is_some(),
                CompetitorKind::Udp,
                "rate_bps",
            );
            need(
                competitor.size_bytes.is_some(),
                CompetitorKind::Short,
                "size_bytes",
            );
        }
        refused
    }

    /// The cell, without validation.
    fn unchecked(&self, trial: &Trial) -> Cell {
        Cell {
            schema: CELL_SCHEMA,
            name: self.name.clone(),
            factors: BTreeMap::new(),
            seed: trial.seed,
            duration: trial.duration,
            warmup: trial.warmup,
            idle: trial.idle,
            sample: trial.sample,
            kernel: trial.kernel.clone(),
            engine: trial.engine,
            path: self.lab_path(),
            tunnel: self
                .tunnel
                .as_ref()
                .map(|own| tunnel(own, &self.lab_path())),
            ends: cell::Ends {
                near: end(&self.ends.near),
                far: end(&self.ends.far),
            },
            traffic: trial.traffic.clone(),
            cross: self.competitors.iter().map(competitor).collect(),
        }
    }

    fn lab_path(&self) -> LabPath {
        let (down, up) = (&self.underlay.down, &self.underlay.up);
        let delay = |line: &Line| value(&line.delay_ns).map(Duration::from);
        let down_delay = delay(down).or(delay(up)).unwrap_or(default::DELAY);
        let up_delay = delay(up).unwrap_or(down_delay);
        let mtu = or(&self.underlay.mtu_bytes, default::MTU);
        let rtt = down_delay.saturating_add(up_delay);
        LabPath {
            down: line(down, down_delay, rtt, mtu),
            up: line(up, up_delay, rtt, mtu),
            mtu,
            ip: or(&self.underlay.ip, IpVersion::V4),
            local: None,
        }
    }
}

/// The value of a parameter, if it is known.
fn value<T: Clone>(parameter: &Option<Parameter<T>>) -> Option<T> {
    parameter.as_ref().map(|known| known.value.clone())
}

/// The value of a parameter, or its default.
fn or<T: Clone>(parameter: &Option<Parameter<T>>, default: T) -> T {
    value(parameter).unwrap_or(default)
}

/// A known limit; unknown means no limit.
fn bound<T: Clone>(parameter: &Option<Parameter<Limit<T>>>) -> Option<T> {
    value(parameter).and_then(Limit::bound)
}

fn line(line: &Line, delay: Duration, rtt: Duration, mtu: u32) -> cell::Line {
    let rate = or(&line.rate_bps, Limit::At(default::RATE)).bound();
    let queue = or(&line.queue, Queue::Fifo);
    let usual = default::buffer(rate, queue, mtu, rtt);
    cell::Line {
        delay,
        rate,
        buffer: or(&line.buffer, usual),
        queue,
        loss: line.loss.as_ref().map_or(cell::Loss::None, loss),
        jitter: or(&line.jitter_ns, Nanos(0)).into(),
        reorder: or(&line.reorder, Share::ZERO),
        duplicate: or(&line.duplicate, Share::ZERO),
        faults_first: or(&line.faults_first, false),
        policer: value(&line.policer),
        peak: value(&line.peak),
        rate_steps: value(&line.rate_steps),
        jitter_quantiles: value(&line.jitter_quantiles),
        slots: value(&line.slots_ns).map(Duration::from),
    }
}

fn loss(loss: &Loss) -> cell::Loss {
    match loss {
        Loss::Random { share } if share.value.is_zero() => cell::Loss::None,
        Loss::Random { share } => cell::Loss::Random(share.value),
        Loss::Bursts { p, r, bad, good } => cell::Loss::GilbertElliott {
            p: p.value,
            r: r.value,
            bad: bad.value,
            good: good.value,
        },
        Loss::Every { packets } => cell::Loss::Every(packets.value),
    }
}

/// Returns the stage passed only by tunnel packets, if anything about it is known and not zero.
fn tunnel_stage(line: &Line, path: &LabPath) -> Option<cell::TunnelStage> {
    let rate = bound(&line.rate_bps);
    let loss = line.loss.as_ref().map_or(cell::Loss::None, loss);
    let usual = default::buffer(rate, Queue::Fifo, path.mtu, path.rtt());
    let buffer = or(&line.buffer, usual);
    let some = rate.is_some() || loss != cell::Loss::None;
    some.then_some(cell::TunnelStage { rate, buffer, loss })
}

fn tunnel(tunnel: &Tunnel, path: &LabPath) -> cell::Tunnel {
    cell::Tunnel {
        down: tunnel_stage(&tunnel.down, path),
        up: tunnel_stage(&tunnel.up, path),
        kind: or(&tunnel.kind, TunnelKind::Wireguard),
        mtu: or(&tunnel.mtu_bytes, default::TUNNEL_MTU),
        at: or(&tunnel.at, TunnelAt::Ends),
        ip: or(&tunnel.ip, IpVersion::V4),
    }
}

fn end(end: &End) -> cell::End {
    let usual = cell::End::default();
    cell::End {
        cc: or(&end.cc, usual.cc),
        qdisc: or(&end.qdisc, EndQdisc::Fq),
        shape: bound(&end.shape_bps),
        ecn: or(&end.ecn, usual.ecn),
        rmem: bound(&end.rmem_bytes),
        wmem: bound(&end.wmem_bytes),
        notsent_lowat: bound(&end.notsent_lowat_bytes),
    }
}

fn competitor(own: &Competitor) -> Traffic {
    let kind = match or(&own.kind, CompetitorKind::Tcp) {
        CompetitorKind::Tcp => TrafficKind::Tcp,
        CompetitorKind::Udp => TrafficKind::Udp {
            rate: or(&own.rate_bps, Rate::from_bps(0)),
            payload: or(&own.payload_bytes, default::PAYLOAD),
        },
        CompetitorKind::Short => TrafficKind::Short {
            size: or(&own.size_bytes, Bytes(0)),
            batch: value(&own.requests).map(|requests| Batch {
                requests,
                every: value(&own.every_ns).map(Duration::from),
            }),
        },
    };
    Traffic {
        kind,
        directions: or(&own.direction, LoadDirection::Down)
            .directions()
            .to_vec(),
        flows: or(&own.flows, 1),
        cc: value(&own.cc),
        probe: None,
        start: or(&own.start_ns, Nanos(0)).into(),
        stop: bound(&own.stop_ns).map(Duration::from),
    }
}

/// The name of a cell's value in the document or in [`Trial`].
fn name(field: Field) -> String {
    let leaf = match field.leaf {
        "rate" => "rate_bps",
        "shape" => "shape_bps",
        "delay" => "delay_ns",
        "jitter" => "jitter_ns",
        "slots" => "slots_ns",
        "policer_burst" => "policer",
        "peak_burst" => "peak",
        "start" => "start_ns",
        "stop" => "stop_ns",
        "mtu" => "mtu_bytes",
        "rmem" => "rmem_bytes",
        "wmem" => "wmem_bytes",
        "notsent_lowat" => "notsent_lowat_bytes",
        "payload" => "payload_bytes",
        "size" => "size_bytes",
        "every" => "every_ns",
        leaf => leaf,
    };
    match field.table {
        Table::Top if leaf == "name" => leaf.to_owned(),
        Table::Top => format!("trial.{leaf}"),
        Table::Path => format!("underlay.{leaf}"),
        Table::Line(direction) => format!("underlay.{direction}.{leaf}"),
        Table::Tunnel => format!("tunnel.{leaf}"),
        Table::TunnelLine(direction) => format!("tunnel.{direction}.{leaf}"),
        Table::LocalLine(direction) => format!("local.{direction}.{leaf}"),
        Table::End(Side::Near) => format!("ends.near.{leaf}"),
        Table::End(Side::Far) => format!("ends.far.{leaf}"),
        Table::Traffic => format!("trial.traffic.{}", field.leaf),
        Table::Cross(index) => format!("competitors.{index}.{leaf}"),
    }
}
