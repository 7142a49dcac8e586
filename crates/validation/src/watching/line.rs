//! The parts of a watched path that vary and change, each on its node of the lab.

use std::{io::Write, time::Duration};

use anyhow::Context;
use model::cell::Cell;
use serde::{Deserialize, Serialize};
use sys::{Netlink, clock, link};
use testbed::Timers;

use super::{draw::Drawn, weather::Level};

/// What a router does.
#[derive(Debug, Serialize, Deserialize)]
pub struct Script {
    /// Its name.
    pub router: String,
    /// The path.
    pub drawn: Drawn,
    /// Length of the watch, days.
    pub days: f64,
}

/// A setting of a host that changes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Setting {
    /// Since boot, s.
    pub at_s: f64,
    /// Name of the sysctl.
    pub name: String,
    /// Its value from then on.
    pub value: String,
}

/// Bytes that have passed a router since boot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Since 1970, s.
    pub at_s: u64,
    /// In both directions, Ethernet headers included.
    pub bytes: u64,
}

impl Script {
    /// Lets this router's queues follow the variation of the line, and its change. At each level,
    /// and at each full hour of the clock, the bytes so far are written to standard output.
    ///
    /// # Errors
    /// The kernel refused a change, or there is no such device.
    pub fn run(&self) -> anyhow::Result<()> {
        let mut nl = Netlink::route().context("open a netlink socket")?;
        let device = link::index(&mut nl, "to-server").context("find the line")?;
        let mut current = self.drawn.cell.clone();
        for level in self.levels() {
            sleep_until(level.at_s);
            let next = self.cell(&level);
            testbed::alter(&mut nl, &self.router, (&current, &next), Timers::Exact)
                .with_context(|| format!("change the line {} s after the boot", level.at_s))?;
            current = next;
            let counters = link::show(&mut nl, device)
                .context("read counters")?
                .counters;
            let at_s = clock::realtime_ns() / 1_000_000_000;
            let passed = Passed {
                at_s,
                bytes: counters.rx_bytes + counters.tx_bytes,
            };
            let mut out = std::io::stdout().lock();
            writeln!(out, "{}", serde_json::to_string(&passed)?).context("write the bytes")?;
        }
        Ok(())
    }

    /// The levels, with one at the change and one at the start of each hour of the clock, at which
    /// months end.
    fn levels(&self) -> Vec<Level> {
        let mut levels = self.drawn.weather.levels(self.days);
        let first = 3600 - super::weather::BOOT_S % 3600;
        let hours = (0..(24.0 * self.days) as u64).map(|hour| (first + 3600 * hour) as f64);
        let planted = self.drawn.planted.iter().map(|planted| planted.at_s);
        for at_s in hours.chain(planted) {
            let after = levels.partition_point(|level| level.at_s <= at_s);
            let level = levels[after.saturating_sub(1)];
            levels.insert(after, Level { at_s, ..level });
        }
        levels
    }

    /// The path at a level.
    fn cell(&self, level: &Level) -> Cell {
        let planted = self.drawn.planted.as_ref();
        let mut cell = match planted.is_some_and(|planted| planted.at_s <= level.at_s) {
            true => self.drawn.after(),
            false => self.drawn.cell.clone(),
        };
        for line in [&mut cell.path.down, &mut cell.path.up] {
            line.rate = line.rate.map(|rate| rate.scaled(level.rate));
            line.delay = line.delay.mul_f64(level.delay) + Duration::from_secs_f64(level.queue_s);
        }
        cell
    }
}

impl Setting {
    /// Changes it at its time.
    ///
    /// # Errors
    /// The kernel has no such setting, or refuses the value.
    pub fn run(&self) -> anyhow::Result<()> {
        sleep_until(self.at_s);
        sys::sysctl::write(&self.name, &self.value).context("change the far end")
    }
}

/// Sleeps until this many seconds after the boot.
pub(super) fn sleep_until(at_s: f64) {
    clock::Instant(0)
        .after(Duration::from_secs_f64(at_s))
        .wait();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::units::Seed;

    use super::*;
    use crate::watching::{draw, weather::BOOT_S};

    #[test]
    fn a_line_is_what_it_was_until_its_change_and_counts_at_each_full_hour() {
        let drawn = draw::draw(1, 10.0, Seed(1)).unwrap().remove(0);
        let planted = drawn.planted.clone().unwrap();
        let script = Script {
            router: "near".to_owned(),
            drawn: drawn.clone(),
            days: 10.0,
        };
        let levels = script.levels();
        assert!(levels.windows(2).all(|pair| pair[0].at_s <= pair[1].at_s));
        assert!(levels.iter().any(|level| level.at_s == planted.at_s));
        let full = levels
            .iter()
            .filter(|l| (BOOT_S + l.at_s as u64).is_multiple_of(3600));
        assert!(full.count() >= 239);
        let rate = |cell: &Cell| cell.path.down.rate.unwrap().bps() as f64;
        for level in levels {
            let share = rate(&script.cell(&level)) / rate(&drawn.cell) / level.rate;
            let change = rate(&drawn.after()) / rate(&drawn.cell);
            let expected = if level.at_s < planted.at_s {
                1.0
            } else {
                change
            };
            assert!((share - expected).abs() < 1e-3, "{share} {expected}");
        }
    }
}
