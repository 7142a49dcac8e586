//! Validation of cells: the rules shared by the spec grammar and [`crate::path`].

use std::time::Duration;

use super::{
    Batch, Cell, End, LabPath, Traffic, TrafficKind,
    bounds::{
        MAX_FLOWS, MAX_LOWAT, MAX_MTU, MAX_PAYLOAD, MAX_REQUESTS, MAX_SIZE, MAX_SOCKET, MIN_MTU_V4,
        MIN_MTU_V6, MIN_PAYLOAD, MIN_PROBE, MIN_SOCKET, MIN_TIME,
    },
    collect::Check,
    field::{Field, Table},
    line,
    rule::{Impossible, Rule, is_cc, is_name},
};
use crate::{
    net::{Direction, IpVersion, Side},
    units::Bytes,
};

impl Cell {
    /// Invalid values in the order of the fields; empty if the cell can be run.
    pub fn impossible(&self) -> Vec<Impossible> {
        let mut check = Check::default();
        self.check_times(&mut check);
        path(&self.path, &mut check);
        if let Some(tunnel) = &self.tunnel {
            mtu(
                tunnel.mtu,
                tunnel.ip,
                Table::Tunnel.field("mtu"),
                &mut check,
            );
        }
        for direction in [Direction::Down, Direction::Up] {
            let stage = self.tunnel.as_ref().and_then(|t| t.stage(direction));
            if let Some(stage) = stage {
                let table = Table::TunnelLine(direction);
                line::stage(stage, self.path.mtu, table, &mut check);
            }
            if let Some(local) = &self.path.local {
                let (stage, table) = (local.line(direction), Table::LocalLine(direction));
                line::stage(stage, self.path.mtu, table, &mut check);
                line::shaper(&self.path, local.shaper(direction), direction, &mut check);
            }
        }
        end(&self.ends.near, Side::Near, &mut check);
        end(&self.ends.far, Side::Far, &mut check);
        self.check_traffic(&mut check);
        check.0
    }

    fn check_times(&self, check: &mut Check) {
        let top = |leaf| Table::Top.field(leaf);
        check.need(
            is_name(&self.name),
            top("name"),
            Rule::NoName(self.name.clone()),
        );
        check.time(self.duration, MIN_TIME, top("duration"));
        check.time(self.warmup, Duration::ZERO, top("warmup"));
        check.time(self.idle, Duration::ZERO, top("idle"));
        check.time(self.sample, MIN_TIME, top("sample"));
        check.need(
            self.sample <= self.duration,
            top("sample"),
            Rule::SampleTooLong,
        );
    }

    fn check_traffic(&self, check: &mut Check) {
        let own = Table::Traffic;
        traffic(&self.traffic, own, check);
        if let Some(probe) = self.traffic.probe {
            check.time(probe, MIN_PROBE, own.field("probe"));
        }
        let idle = self.traffic.kind == TrafficKind::Idle;
        let nothing = idle && self.traffic.probe.is_none();
        check.need(!nothing, own.field("probe"), Rule::NothingToMeasure);
        let whole = self.traffic.start.is_zero() && self.traffic.stop.is_none();
        check.need(whole, own.field("start"), Rule::WholeCell);
        for (index, cross) in self.cross.iter().enumerate() {
            self.check_cross(cross, Table::Cross(index), check);
        }
        let flows = |t: &Traffic| u64::from(t.flows) * t.directions.len() as u64;
        let total = std::iter::once(&self.traffic)
            .chain(&self.cross)
            .map(flows)
            .sum();
        check.need(total <= MAX_FLOWS, own.field("flows"), Rule::Crowd(total));
    }

    fn check_cross(&self, cross: &Traffic, table: Table, check: &mut Check) {
        traffic(cross, table, check);
        check.need(
            cross.kind != TrafficKind::Idle,
            table.field("kind"),
            Rule::IdleCompetitor,
        );
        check.need(
            cross.probe.is_none(),
            table.field("probe"),
            Rule::ProbingCompetitor,
        );
        check.time(cross.start, Duration::ZERO, table.field("start"));
        if let Some(stop) = cross.stop {
            check.time(stop, Duration::ZERO, table.field("stop"));
            let after = Rule::StopBeforeStart(cross.start);
            check.need(stop > cross.start, table.field("stop"), after);
        }
        let length = self.warmup + self.duration;
        let late = Rule::StartAfterEnd(length);
        check.need(cross.start < length, table.field("start"), late);
    }
}

fn path(path: &LabPath, check: &mut Check) {
    mtu(path.mtu, path.ip, Table::Path.field("mtu"), check);
    for direction in [Direction::Down, Direction::Up] {
        line::check(path, direction, check);
    }
}

fn mtu(mtu: u32, ip: IpVersion, field: Field, check: &mut Check) {
    check.count(mtu, MIN_MTU_V4, MAX_MTU, field);
    let short = ip == IpVersion::V6 && (MIN_MTU_V4..MIN_MTU_V6).contains(&mtu);
    check.need(!short, field, Rule::ShortForIpv6);
}

fn end(end: &End, side: Side, check: &mut Check) {
    let field = |leaf| Table::End(side).field(leaf);
    check.need(is_cc(&end.cc), field("cc"), Rule::NoCc(end.cc.clone()));
    check.rate(end.shape, field("shape"));
    check.size(end.rmem, MIN_SOCKET, MAX_SOCKET, field("rmem"));
    check.size(end.wmem, MIN_SOCKET, MAX_SOCKET, field("wmem"));
    check.size(
        end.notsent_lowat,
        Bytes(1),
        MAX_LOWAT,
        field("notsent_lowat"),
    );
}

/// Checks that measured and cross traffic share.
fn traffic(traffic: &Traffic, table: Table, check: &mut Check) {
    match traffic.kind {
        TrafficKind::Tcp => {}
        TrafficKind::Udp { rate, payload } => {
            check.rate(Some(rate), table.field("rate"));
            check.count(payload, MIN_PAYLOAD, MAX_PAYLOAD, table.field("payload"));
        }
        TrafficKind::Short { size, batch } => {
            check.size(Some(size), Bytes(1), MAX_SIZE, table.field("size"));
            if let Some(Batch { requests, every }) = batch {
                check.count(requests, 1, MAX_REQUESTS, table.field("requests"));
                let every = every.unwrap_or(MIN_TIME);
                check.time(every, MIN_TIME, table.field("every"));
            }
        }
        TrafficKind::Idle => check.count(traffic.flows, 0, 0, table.field("flows")),
    }
    if traffic.kind != TrafficKind::Idle {
        check.count(traffic.flows, 1, MAX_FLOWS as u32, table.field("flows"));
    }
    let known = matches!(
        traffic.directions.as_slice(),
        [_] | [Direction::Down, Direction::Up]
    );
    check.need(known, table.field("direction"), Rule::NoDirection);
    if let Some(cc) = &traffic.cc {
        let tcp = matches!(traffic.kind, TrafficKind::Tcp | TrafficKind::Short { .. });
        check.need(tcp, table.field("cc"), Rule::CcWithoutTcp);
        check.need(is_cc(cc), table.field("cc"), Rule::NoCc(cc.clone()));
    }
}
