//! Effects of faults to the truth.

use model::{
    cause::CauseCode,
    cell::{Buffer, Cell},
    net::Direction,
};

use super::{
    ADDED_US, Allowed, Cause, Effect, SHARE, Truth,
    fault::{self, Fault},
    mean,
};

/// Importance of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Matters {
    No,
    Hardly,
    Yes,
}

impl Truth {
    /// The truth of a path from the measurements, so that it can also be derived from stored
    /// effects.
    pub fn of(cell: &Cell, recovers: f64, effects: Vec<Effect>) -> Self {
        let mut truth = Self {
            recovers,
            ..Self::default()
        };
        for direction in [Direction::Down, Direction::Up] {
            let own: Vec<&Effect> = effects
                .iter()
                .filter(|e| e.direction == direction)
                .collect();
            truth.judge(cell, direction, &own);
        }
        for fault in fault::of(cell) {
            truth.also.extend(fault.always().iter().cloned());
            if fault == Fault::TunnelMtu {
                truth.doubled_packets(cell);
            }
        }
        truth.also.extend(fault::of_setting(cell));
        truth.effects = effects;
        truth.finish()
    }

    /// The same by the definitions of this program, from its effects.
    pub fn again(self, cell: &Cell) -> Self {
        Self::of(cell, self.recovers, self.effects)
    }

    fn judge(&mut self, cell: &Cell, direction: Direction, effects: &[&Effect]) {
        let mut found = false;
        let mut hidden = Vec::new();
        for effect in effects {
            let fault = effect.fault;
            let (matters, weight) = match fault.is_of_latency() {
                true => by_latency(&effect.added_us, noticed_us(cell, fault)),
                false => (by_goodput(&effect.share), mean(&effect.share)),
            };
            let fair = fault.is_fair_share(cell);
            match matters {
                Matters::Yes => {
                    found |= !fault.is_of_latency();
                    match fair {
                        true => self.allow(fault, direction),
                        false => self.add(fault, Some(direction), weight, false),
                    }
                }
                _ if by_goodput(&effect.alone) == Matters::Yes => {
                    hidden.push((fault, mean(&effect.alone), fair));
                }
                Matters::Hardly => self.allow(fault, direction),
                Matters::No => {}
            }
        }
        for (fault, weight, fair) in hidden {
            match found || fair {
                true => self.allow(fault, direction),
                false => self.add(fault, Some(direction), weight, true),
            }
        }
    }

    /// Adds a tunnel whose full packets are fragmented into two on the path: the lab's routers
    /// forward both without cost, real ones do not. If routers fragment them, the ends can detect
    /// that only by its cost.
    fn doubled_packets(&mut self, cell: &Cell) {
        let costs = self.causes.iter().any(|c| c.fault == Fault::TunnelMtu);
        if costs || !fault::is_tunnel_between(cell) {
            return self.add(Fault::TunnelMtu, None, 0.5, false);
        }
        let codes = Fault::TunnelMtu.codes();
        self.also.extend(codes.right.iter().cloned());
        self.causes.push(Cause {
            fault: Fault::TunnelMtu,
            codes: Vec::new(),
            directions: Vec::new(),
            weight: 0.5,
            masked: false,
        });
    }

    /// Returns true if no fault has a relevant effect.
    pub fn is_healthy(&self) -> bool {
        self.causes.is_empty()
    }

    fn add(&mut self, fault: Fault, load: Option<Direction>, weight: f64, masked: bool) {
        let codes = fault.codes();
        self.also.extend(codes.also.iter().cloned());
        // Where a fault is, and on which load it acts; for neighbours only the former.
        let load = load.filter(|_| !matches!(fault, Fault::Neighbours(_)));
        let places = fault.direction().into_iter().chain(load);
        if let Some(cause) = self.causes.iter_mut().find(|c| c.fault == fault) {
            cause.weight = cause.weight.max(weight);
            cause.masked &= masked;
            cause.directions.extend(places);
            cause.directions.sort();
            cause.directions.dedup();
            return;
        }
        let mut directions: Vec<Direction> = places.collect();
        directions.dedup();
        self.causes.push(Cause {
            fault,
            codes: codes.right.to_vec(),
            directions,
            weight,
            masked,
        });
    }

    fn allow(&mut self, fault: Fault, load: Direction) {
        let codes = fault.codes();
        let all = codes.right.iter().chain(codes.also);
        self.also.extend(all.cloned());
        let mut directions: Vec<Direction> = fault.direction().into_iter().chain([load]).collect();
        directions.dedup();
        for code in codes.right {
            self.allowed.push(Allowed {
                code: code.clone(),
                directions: directions.clone(),
            });
        }
    }

    /// Orders the causes and makes their weights sum up to 1.
    fn finish(mut self) -> Self {
        let sum: f64 = self.causes.iter().map(|c| c.weight).sum();
        for cause in &mut self.causes {
            cause.weight /= sum;
        }
        self.causes.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for code in self.causes.iter().flat_map(|c| &c.codes) {
            self.also.remove(code);
        }
        // Codes allowed everywhere need no directions.
        let also = &self.also;
        self.allowed.retain(|a| !also.contains(&a.code));
        self
    }
}

/// Returns true if a code is allowed in a direction without being a cause there.
pub(in crate::drawn) fn allows(
    causes: &[Cause],
    allowed: &[Allowed],
    code: &CauseCode,
    direction: Option<Direction>,
) -> bool {
    let Some(direction) = direction else {
        return false;
    };
    let is_cause = |c: &Cause| {
        let here = c.directions.is_empty() || c.directions.contains(&direction);
        here && c.codes.contains(code)
    };
    let is_allowed = |a: &Allowed| a.code == *code && a.directions.contains(&direction);
    allowed.iter().any(is_allowed) && !causes.iter().any(is_cause)
}

/// Returns true if these shares of goodput, of one seed each, are a relevant effect.
pub(in crate::drawn) fn is_relevant(shares: &[f64]) -> bool {
    by_goodput(shares) == Matters::Yes
}

fn by_goodput(shares: &[f64]) -> Matters {
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    match mean(shares) {
        share if share >= SHARE && least >= SHARE / 2.0 => Matters::Yes,
        share if share >= SHARE / 2.0 => Matters::Hardly,
        _ => Matters::No,
    }
}

/// Relevant delay, µs: a noticeable one, or on a slow line the time of three packets, the one in
/// transmission and the two of the smallest window that keeps the line busy.
fn noticed_us(cell: &Cell, fault: Fault) -> f64 {
    let packets = Buffer::Packets(3).bytes(cell.path.mtu);
    let line = fault.direction().and_then(|d| cell.path.line(d).rate);
    let shaper = match fault {
        Fault::OwnQueue(side) => cell.ends.end(side).shape,
        _ => None,
    };
    let rate = line.into_iter().chain(shaper).min();
    let least = rate.map_or(0.0, |rate| rate.time_for(packets).as_secs_f64() * 1e6);
    ADDED_US.max(least)
}

/// Returns whether the delay with and without a fault is relevant, from `noticed_us` on, and the
/// share that is recovered.
fn by_latency(added_us: &[[f64; 2]], noticed_us: f64) -> (Matters, f64) {
    let with = mean(&added_us.iter().map(|a| a[0]).collect::<Vec<_>>());
    let gone = mean(&added_us.iter().map(|a| a[1]).collect::<Vec<_>>());
    let least = added_us
        .iter()
        .map(|a| a[0] - a[1])
        .fold(f64::INFINITY, f64::min);
    let matters = match with - gone {
        gain if with >= noticed_us && gain >= with / 2.0 && least >= ADDED_US / 4.0 => Matters::Yes,
        gain if gain >= ADDED_US / 3.0 => Matters::Hardly,
        _ => Matters::No,
    };
    (matters, (with - gone) / with.max(1.0))
}
