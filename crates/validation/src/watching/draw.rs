//! The paths that are watched, from priors.

use std::time::Duration;

use model::{
    cell::{Buffer, Cell, Quantile, Quantiles},
    net::Direction,
    path::{Limit, Line, Loss, Nanos, Parameter, Path, PathError, Trial},
    units::{Rate, Seed, Share},
};
use serde::{Deserialize, Serialize};
use stats::Random;

use super::{
    planted::{Change, Planted},
    weather::Weather,
};

/// Of this many paths each ...
const OF: usize = 5;
/// ... this many change.
const CHANGED: usize = 3;
/// Budget of a path in a month, bytes: enough for the usual pace, and for a fifth of it.
const MONTH: u64 = 7_000_000_000;
const TIGHT: u64 = 1_200_000_000;
/// A change comes after this share of the time, and a day before its end at the latest.
const LEARNED: f64 = 0.4;

/// A path to be watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// The path before its change.
    pub cell: Cell,
    /// Its variation.
    pub weather: Weather,
    /// Its change; absent = none.
    pub planted: Option<Planted>,
    /// Its budget in a month, bytes.
    pub month_bytes: u64,
}

impl Drawn {
    /// The path after its change, if it has one.
    pub fn after(&self) -> Cell {
        let mut cell = self.cell.clone();
        if let Some(planted) = &self.planted {
            planted.change.apply(&mut cell);
        }
        cell
    }
}

/// Draws paths for a watch of this many days: rates of 4 to 16 Mbit/s, the upload up to four times
/// slower, round trips of 10 to 80 ms with a few percent of jitter, queues of 40 to 120 ms, up to
/// 0.05 % of loss. Three of five change once.
///
/// # Errors
/// A drawn path is impossible.
pub fn draw(paths: usize, days: f64, seed: Seed) -> Result<Vec<Drawn>, PathError> {
    (0..paths).map(|number| one(number, days, seed)).collect()
}

/// One path; it follows from its number and the seed, not from the paths before it.
fn one(number: usize, days: f64, seed: Seed) -> Result<Drawn, PathError> {
    let mut random = Random::new(seed.0 ^ 0x0077_6174_6368 ^ ((number as u64) << 48));
    let mut between = |low: f64, high: f64| low * (high / low).powf(random.unit());
    let (rate, uplink, rtt) = (between(4e6, 16e6), between(1.0, 4.0), between(10.0, 80.0));
    let (queue_ms, lost) = (between(40.0, 120.0), between(0.005, 0.05));
    let evening = between(0.01, 0.08);
    let at = LEARNED + (1.0 - LEARNED - 1.2 / days).max(0.0) * between(0.01, 1.0);
    let place = (number / OF * CHANGED) + number % OF;
    let is_changed = number % OF < CHANGED;
    let change = is_changed.then(|| change(place, &mut between));
    let name = format!("watch-{number}");
    let path = Drawing {
        rates: [rate, rate / uplink],
        rtt_ms: rtt,
        queue_ms,
        loss_percent: lost,
        cc: "cubic",
    };
    let cell = path.cell(&name, Seed(number as u64 + 1))?;
    Ok(Drawn {
        name,
        cell,
        weather: Weather {
            seed: random.next_u64() >> 32,
            evening,
        },
        planted: change.map(|change| Planted {
            at_s: 86_400.0 * days * at,
            change,
        }),
        month_bytes: if number % OF == OF - 1 { TIGHT } else { MONTH },
    })
}

/// Drawn values of a path.
struct Drawing<'a> {
    /// Rates down and up, bit/s.
    rates: [f64; 2],
    rtt_ms: f64,
    /// Delay of each full buffer.
    queue_ms: f64,
    /// Loss in each direction.
    loss_percent: f64,
    /// Congestion control of the far end.
    cc: &'a str,
}

impl Drawing<'_> {
    /// The path, with values rounded to those of a readable spec: kbit/s, ms of buffer, µs of
    /// jitter, 10 µs of the round trip, 0.001 % of loss.
    fn cell(&self, name: &str, seed: Seed) -> Result<Cell, PathError> {
        let mut path = Path::named(name);
        let rtt = Duration::from_micros(10 * (self.rtt_ms * 100.0).round() as u64);
        // The odd nanosecond is of the upload.
        let delays = [rtt / 2, rtt - rtt / 2];
        for (direction, (rate, delay)) in [Direction::Down, Direction::Up]
            .into_iter()
            .zip(self.rates.into_iter().zip(delays))
        {
            *path.underlay.line_mut(direction) = self.line(rate, delay);
        }
        path.ends.far.cc = Some(Parameter::given(self.cc.to_owned()));
        path.cell(&Trial {
            seed,
            ..Trial::default()
        })
    }

    fn line(&self, rate_bps: f64, delay: Duration) -> Line {
        let rate = Rate::from_bps(1000 * (rate_bps / 1e3).round() as u64);
        let buffer = rate.bytes_in(Duration::from_millis(self.queue_ms.round() as u64));
        let quantile = |percent: u64, us_per_ms: f64| {
            Some(Quantile {
                share: Share::new(percent as f64 / 100.0)?,
                delay: Duration::from_micros((self.rtt_ms * us_per_ms).round() as u64),
            })
        };
        let jitter = [(50, 10.0), (90, 33.0), (99, 70.0)];
        let jitter = jitter.into_iter().filter_map(|(p, us)| quantile(p, us));
        let loss = (self.loss_percent * 1e3).round() / 1e5;
        Line {
            rate_bps: Some(Parameter::given(Limit::At(rate))),
            buffer: Some(Parameter::given(Buffer::Bytes(buffer))),
            delay_ns: Some(Parameter::given(Nanos(delay.as_nanos() as u64))),
            loss: Share::new(loss).map(|share| Loss::Random {
                share: Parameter::given(share),
            }),
            jitter_quantiles: Some(Parameter::given(Quantiles(jitter.collect()))),
            ..Line::default()
        }
    }
}

/// The kinds of changes in turn, each with a drawn size.
fn change(place: usize, between: &mut impl FnMut(f64, f64) -> f64) -> Change {
    match place % 12 {
        0 => Change::Rate([1.0 - between(0.05, 0.08), 1.0]),
        1 => Change::Loss(Direction::Down, between(0.006, 0.02)),
        2 => Change::Queue(between(2.0, 3.0)),
        3 => Change::Route {
            delay: between(1.3, 1.8),
            rate: between(0.6, 0.8),
        },
        4 => Change::Congestion("bbr".to_owned()),
        5 => Change::Rate([1.0 - between(0.1, 0.25); 2]),
        6 => Change::FqCodel,
        7 => Change::Route {
            delay: between(1.05, 1.1),
            rate: 1.0,
        },
        8 => Change::Loss(Direction::Up, between(0.006, 0.02)),
        9 => Change::Rate([1.0, 1.0 - between(0.06, 0.12)]),
        10 => Change::Kernel,
        _ => Change::Rate([between(1.06, 1.12), 1.0]),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn twelve_of_twenty_paths_change_once_each_in_its_own_way_with_a_day_left() {
        let drawn = draw(20, 30.0, Seed(3)).unwrap();
        let planted: Vec<&Planted> = drawn.iter().filter_map(|d| d.planted.as_ref()).collect();
        assert_eq!(planted.len(), 12);
        assert!(
            planted
                .iter()
                .all(|p| (12.0..=28.8).contains(&(p.at_s / 86_400.0)))
        );
        for one in &drawn {
            assert!(one.cell.impossible().is_empty() && one.after().impossible().is_empty());
            let sysctl = one.planted.as_ref().and_then(|p| p.change.sysctl());
            let is_of_host = |p: &Planted| p.change == Change::Kernel || sysctl.is_some();
            match &one.planted {
                None => assert_eq!(one.after(), one.cell),
                Some(planted) => assert!((one.after() != one.cell) != is_of_host(planted)),
            }
            // It must not be what it was.
            assert!(sysctl.is_none_or(|(_, cc)| cc != one.cell.ends.far.cc));
        }
        let kinds: std::collections::BTreeSet<String> =
            planted.iter().map(|p| p.change.to_string()).collect();
        assert_eq!(kinds.len(), 12);
    }

    /// The watched paths of `docs/reference/watch.md` were drawn as specs of this form.
    #[test]
    fn a_drawn_path_is_that_of_its_spec() {
        let mut random = Random::new(7);
        let mut between = |low: f64, high: f64| low * (high / low).powf(random.unit());
        for number in 1..200 {
            let drawing = Drawing {
                rates: [between(4e6, 16e6), between(1e6, 4e6)],
                rtt_ms: between(10.0, 80.0),
                queue_ms: between(40.0, 120.0),
                loss_percent: between(0.005, 0.05),
                cc: "bbr",
            };
            let Drawing {
                rates: [down, up],
                rtt_ms: rtt,
                queue_ms: queue,
                loss_percent: loss,
                ..
            } = drawing;
            let text = format!(
                "name = \"x\"\n[ends.server]\ncc = \"bbr\"\n[path]\nrtt = \"{rtt:.2}ms\"\n\
                 loss = \"{loss:.3}%\"\n\
                 jitter_quantiles = \"50% {:.0}us, 90% {:.0}us, 99% {:.0}us\"\n\
                 [path.down]\nrate = \"{:.0}kbit\"\nbuffer = \"{queue:.0}ms\"\n\
                 [path.up]\nrate = \"{:.0}kbit\"\nbuffer = \"{queue:.0}ms\"\n",
                rtt * 10.0,
                rtt * 33.0,
                rtt * 70.0,
                down / 1e3,
                up / 1e3
            );
            let spec = model::spec::Spec::parse("x", &text).unwrap();
            let (cell, _) = spec.with_seed(number).first_cell().unwrap();
            assert_eq!(cell, drawing.cell("x", Seed(number)).unwrap());
        }
    }

    #[test]
    fn a_path_is_the_same_among_more_paths() {
        let few = draw(3, 30.0, Seed(3)).unwrap();
        assert_eq!(few[..], draw(9, 30.0, Seed(3)).unwrap()[..3]);
    }
}
