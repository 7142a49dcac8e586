//! Conversion of a cell into a spec.

use std::{fmt, time::Duration};

use super::{
    kind::{self, word_for},
    line::name,
    quantity::{show_duration, show_loss},
    steps::{show_quantiles, show_steps},
};
use crate::{
    cell::{Buffer, Cell, End, Line, Traffic, TrafficKind, Tunnel, TunnelStage},
    net::LoadDirection,
    net::{Direction, Side},
};

/// Writes a spec whose only cell is this one, except for the factors.
///
/// ```
/// use model::spec::{Spec, write};
///
/// let cells = Spec::parse("a.toml", "[path]\nrate = \"8mbit\"")?.cells()?;
/// assert_eq!(Spec::parse("b.toml", &write(&cells[0]))?.cells()?, cells);
/// # Ok::<(), model::spec::SpecError>(())
/// ```
pub fn write(cell: &Cell) -> String {
    let mut spec = Writer(String::new());
    spec.quoted("name", &cell.name);
    match i64::try_from(cell.seed.0) {
        Ok(seed) => spec.plain("seed", seed),
        Err(_) => spec.quoted("seed", cell.seed),
    }
    spec.time("duration", cell.duration);
    spec.time("warmup", cell.warmup);
    spec.time("idle", cell.idle);
    spec.time("sample", cell.sample);
    if let Some(kernel) = &cell.kernel {
        spec.quoted("kernel", kernel);
    }
    if !cell.engine.is_default() {
        spec.quoted("engine", word_for(kind::ENGINES, &cell.engine));
    }
    spec.table("[path]");
    spec.plain("mtu", cell.path.mtu);
    spec.quoted("ip", word_for(kind::FAMILIES, &cell.path.ip));
    for direction in [Direction::Down, Direction::Up] {
        spec.table(&format!("[path.{}]", name(direction)));
        spec.line(cell.path.line(direction));
    }
    if let Some(local) = &cell.path.local {
        for direction in [Direction::Down, Direction::Up] {
            spec.stage("local", direction, local.line(direction));
            if let Some(shaper) = local.shaper(direction) {
                spec.quoted("shape", shaper.rate);
                spec.quoted("shape_queue", shaper.queue);
            }
        }
    }
    if let Some(tunnel) = &cell.tunnel {
        spec.tunnel(tunnel);
    }
    for side in [Side::Near, Side::Far] {
        spec.table(&format!("[ends.{}]", side.spec_name()));
        spec.end(cell.ends.end(side));
    }
    spec.table("[traffic]");
    spec.load(&cell.traffic);
    spec.optional("probe", cell.traffic.probe.map(show_duration), "off");
    for cross in &cell.cross {
        spec.table("[[cross]]");
        spec.load(cross);
        spec.time("start", cross.start);
        spec.optional("stop", cross.stop.map(show_duration), "end");
    }
    spec.0
}

/// The keys of a competing group.
pub(super) fn keys_of(traffic: &Traffic) -> String {
    let mut keys = Writer(String::new());
    keys.load(traffic);
    keys.0
}

/// Writer of lines.
struct Writer(String);

impl Writer {
    fn table(&mut self, head: &str) {
        self.0 += &format!("\n{head}\n");
    }

    fn plain(&mut self, key: &str, value: impl fmt::Display) {
        self.0 += &format!("{key} = {value}\n");
    }

    /// Writes a text. Texts of a valid cell need no escaping.
    fn quoted(&mut self, key: &str, value: impl fmt::Display) {
        self.0 += &format!("{key} = \"{value}\"\n");
    }

    fn time(&mut self, key: &str, value: Duration) {
        self.quoted(key, show_duration(value));
    }

    fn optional(&mut self, key: &str, value: Option<impl fmt::Display>, none: &str) {
        match value {
            Some(value) => self.quoted(key, value),
            None => self.quoted(key, none),
        }
    }

    fn line(&mut self, line: &Line) {
        self.time("delay", line.delay);
        self.optional("rate", line.rate, "unlimited");
        self.quoted("queue", line.queue);
        self.buffer(line.buffer);
        self.quoted("loss", show_loss(&line.loss));
        self.time("jitter", line.jitter);
        self.quoted("reorder", line.reorder);
        self.quoted("duplicate", line.duplicate);
        self.plain("faults_first", line.faults_first);
        if let Some(policer) = line.policer {
            self.quoted("policer", policer.rate);
            self.quoted("policer_burst", policer.burst);
        }
        if let Some(peak) = line.peak {
            self.quoted("peak", peak.rate);
            self.quoted("peak_burst", peak.burst);
        }
        if let Some(steps) = &line.rate_steps {
            self.quoted("rate_steps", show_steps(steps));
        }
        if let Some(quantiles) = &line.jitter_quantiles {
            self.quoted("jitter_quantiles", show_quantiles(quantiles));
        }
        if let Some(slot) = line.slots {
            self.time("slots", slot);
        }
    }

    fn tunnel(&mut self, tunnel: &Tunnel) {
        self.table("[tunnel]");
        self.quoted("kind", word_for(kind::TUNNELS, &tunnel.kind));
        self.plain("mtu", tunnel.mtu);
        self.quoted("at", word_for(kind::PLACES, &tunnel.at));
        self.quoted("ip", word_for(kind::FAMILIES, &tunnel.ip));
        for direction in [Direction::Down, Direction::Up] {
            if let Some(stage) = tunnel.stage(direction) {
                self.stage("tunnel", direction, stage);
            }
        }
    }

    fn stage(&mut self, table: &str, direction: Direction, stage: &TunnelStage) {
        self.table(&format!("[{table}.{}]", name(direction)));
        self.optional("rate", stage.rate, "unlimited");
        self.buffer(stage.buffer);
        self.quoted("loss", show_loss(&stage.loss));
    }

    fn buffer(&mut self, buffer: Buffer) {
        match buffer {
            Buffer::Packets(packets) => self.quoted("buffer", format_args!("{packets}p")),
            Buffer::Bytes(bytes) => self.quoted("buffer", bytes),
            // The default of this queue.
            Buffer::Kernel => {}
        }
    }

    fn end(&mut self, end: &End) {
        self.quoted("cc", &end.cc);
        self.quoted("qdisc", word_for(kind::QDISCS, &end.qdisc));
        self.optional("shape", end.shape, "none");
        self.plain("ecn", end.ecn);
        self.optional("rmem", end.rmem, "auto");
        self.optional("wmem", end.wmem, "auto");
        self.optional("notsent_lowat", end.notsent_lowat, "auto");
    }

    /// Common part of measured and competing traffic.
    fn load(&mut self, traffic: &Traffic) {
        let kind = match traffic.kind {
            TrafficKind::Tcp => "tcp",
            TrafficKind::Udp { .. } => "udp",
            TrafficKind::Short { .. } => "short",
            TrafficKind::Idle => "idle",
        };
        self.quoted("kind", kind);
        match traffic.kind {
            TrafficKind::Udp { rate, payload } => {
                self.quoted("rate", rate);
                self.plain("payload", payload);
            }
            TrafficKind::Short { size, batch } => {
                self.quoted("size", size);
                if let Some(batch) = batch {
                    self.plain("requests", batch.requests);
                    self.optional("every", batch.every.map(show_duration), "once");
                }
            }
            TrafficKind::Tcp | TrafficKind::Idle => {}
        }
        if let Some(directions) = LoadDirection::of(&traffic.directions) {
            self.quoted("direction", word_for(kind::DIRECTIONS, &directions));
        }
        if traffic.kind != TrafficKind::Idle {
            self.plain("flows", traffic.flows);
        }
        if let Some(cc) = &traffic.cc {
            self.quoted("cc", cc);
        }
    }
}
