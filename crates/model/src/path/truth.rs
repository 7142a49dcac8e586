//! Conversion of a cell into its true Path.

use super::{
    Competitor, CompetitorKind, End, Ends, Limit, Line, Loss, Parameter, Path, Source, Tunnel,
    Underlay,
};
use crate::{
    cell::{self, Cell, TrafficKind},
    net::LoadDirection,
    units::Share,
};

impl Path {
    /// The true path of a cell: every parameter is known, and [`Source::Given`].
    pub fn of(cell: &Cell) -> Self {
        Self::stated(cell, Source::Given)
    }

    /// The path of a cell, with this source for all parameters.
    pub(super) fn stated(cell: &Cell, source: Source) -> Self {
        let sourced = Sourced(source);
        Self {
            underlay: sourced.underlay(&cell.path),
            tunnel: cell.tunnel.as_ref().map(|tunnel| sourced.tunnel(tunnel)),
            ends: Ends {
                near: sourced.end(&cell.ends.near),
                far: sourced.end(&cell.ends.far),
            },
            competitors: cell
                .cross
                .iter()
                .map(|cross| sourced.competitor(cross))
                .collect(),
            ..Self::named(&cell.name)
        }
    }
}

/// Makes parameters with one source.
#[derive(Clone, Copy)]
struct Sourced(Source);

impl Sourced {
    // All fields are parameters.
    #[expect(clippy::unnecessary_wraps)]
    fn value<T>(self, value: impl Into<T>) -> Option<Parameter<T>> {
        Some(Parameter::new(value.into(), self.0))
    }

    fn underlay(self, path: &cell::LabPath) -> Underlay {
        Underlay {
            down: self.line(&path.down),
            up: self.line(&path.up),
            mtu_bytes: self.value(path.mtu),
            ip: self.value(path.ip),
        }
    }

    fn line(self, line: &cell::Line) -> Line {
        Line {
            rate_bps: self.value(line.rate),
            queue: self.value(line.queue),
            buffer: self.value(line.buffer),
            delay_ns: self.value(line.delay),
            jitter_ns: self.value(line.jitter),
            loss: Some(self.loss(line.loss)),
            reorder: self.value(line.reorder),
            duplicate: self.value(line.duplicate),
            faults_first: self.value(line.faults_first),
            policer: line.policer.and_then(|policer| self.value(policer)),
            peak: line.peak.and_then(|peak| self.value(peak)),
            rate_steps: line.rate_steps.clone().and_then(|steps| self.value(steps)),
            jitter_quantiles: line
                .jitter_quantiles
                .clone()
                .and_then(|all| self.value(all)),
            slots_ns: line.slots.and_then(|slot| self.value(slot)),
        }
    }

    fn loss(self, loss: cell::Loss) -> Loss {
        let share = |share: Share| Parameter::new(share, self.0);
        match loss {
            cell::Loss::None => Loss::Random {
                share: share(Share::ZERO),
            },
            cell::Loss::Random(p) => Loss::Random { share: share(p) },
            cell::Loss::GilbertElliott { p, r, bad, good } => Loss::Bursts {
                p: share(p),
                r: share(r),
                bad: share(bad),
                good: share(good),
            },
            cell::Loss::Every(n) => Loss::Every {
                packets: Parameter::new(n, self.0),
            },
        }
    }

    /// The tunnel; a direction without a separate stage remains unknown.
    fn tunnel(self, tunnel: &cell::Tunnel) -> Tunnel {
        Tunnel {
            kind: self.value(tunnel.kind),
            mtu_bytes: self.value(tunnel.mtu),
            at: self.value(tunnel.at),
            ip: self.value(tunnel.ip),
            down: self.tunnel_stage(tunnel.down),
            up: self.tunnel_stage(tunnel.up),
        }
    }

    fn tunnel_stage(self, stage: Option<cell::TunnelStage>) -> Line {
        stage.map_or_else(Line::default, |stage| Line {
            rate_bps: self.value(stage.rate),
            buffer: self.value(stage.buffer),
            loss: Some(self.loss(stage.loss)),
            ..Line::default()
        })
    }

    fn end(self, end: &cell::End) -> End {
        End {
            cc: self.value(end.cc.as_str()),
            qdisc: self.value(end.qdisc),
            shape_bps: self.value(end.shape),
            ecn: self.value(end.ecn),
            rmem_bytes: self.value(end.rmem),
            wmem_bytes: self.value(end.wmem),
            notsent_lowat_bytes: self.value(end.notsent_lowat),
        }
    }

    fn competitor(self, cross: &cell::Traffic) -> Competitor {
        let mut competitor = Competitor {
            direction: LoadDirection::of(&cross.directions).and_then(|d| self.value(d)),
            flows: self.value(cross.flows),
            cc: cross.cc.as_deref().and_then(|cc| self.value(cc)),
            start_ns: self.value(cross.start),
            stop_ns: self.value(Limit::from(cross.stop.map(Into::into))),
            ..Competitor::default()
        };
        let kind = match cross.kind {
            TrafficKind::Udp { rate, payload } => {
                competitor.rate_bps = self.value(rate);
                competitor.payload_bytes = self.value(payload);
                CompetitorKind::Udp
            }
            TrafficKind::Short { size, batch } => {
                competitor.size_bytes = self.value(size);
                competitor.requests = batch.and_then(|batch| self.value(batch.requests));
                let every = batch.and_then(|batch| batch.every);
                competitor.every_ns = every.and_then(|every| self.value(every));
                CompetitorKind::Short
            }
            TrafficKind::Tcp | TrafficKind::Idle => CompetitorKind::Tcp,
        };
        competitor.kind = self.value(kind);
        competitor
    }
}
