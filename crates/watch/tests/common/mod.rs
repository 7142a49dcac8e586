//! Simulated paths: figures with the noise of real lines, from a seed.
//!
//! Noise as in published series: loads scatter by some percent, every evening is a little worse,
//! the level wanders from day to day, and some loads meet other traffic.

#![allow(dead_code, clippy::expect_used)]

use std::os::unix::fs::MetadataExt;

use model::{
    net::{Direction, IpVersion, Layer},
    watch::WatchFigure,
};
use stats::Random;
use watch::{
    Begin, Job, KeptChange, Line, Measured, Next, Watcher, Work,
    config::{self, Config},
    figures::{Figure, Probed},
    message::{Event, Message},
    moment::{DAY_NS, Moment, SECOND_NS},
    state::Folder,
};

/// 2026-11-23, a Monday, in an hour of Central Europe.
pub(crate) const START: Moment = Moment {
    boot_ns: 1_000_000 * SECOND_NS,
    wall_us: 1_795_392_000_000_000,
    offset_s: 3600,
};

/// Simulated truth about a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truth {
    pub(crate) rtt_s: f64,
    pub(crate) lost: f64,
    pub(crate) goodput_bps: [f64; 2],
    pub(crate) added_s: [f64; 2],
}

/// A change of a path.
#[derive(Clone, Debug)]
pub(crate) struct Planted {
    pub(crate) path: usize,
    pub(crate) day: f64,
    pub(crate) what: &'static str,
    pub(crate) apply: fn(&mut Truth),
}

/// A simulated path.
struct Path {
    truth: Truth,
    /// Degradation in its evenings, a share.
    evening: f64,
    /// Current deviation of its level, a share.
    wander: f64,
    wander_hour: u64,
}

/// A watch of simulated paths.
pub(crate) struct World {
    pub(crate) watcher: Watcher,
    pub(crate) now: Moment,
    /// All messages, with when they were sent.
    pub(crate) messages: Vec<Message>,
    /// Payload bytes of all loads by month, as the line has carried them.
    pub(crate) carried: std::collections::BTreeMap<String, u64>,
    /// Loads, full plans and groups of probes so far.
    pub(crate) loads: u64,
    pub(crate) fulls: u64,
    pub(crate) groups: u64,
    paths: Vec<Path>,
    planted: Vec<Planted>,
    random: Random,
    noise: Random,
    /// Kept changes of `tune` on this host, which are considered once an hour.
    pub(crate) kept: Vec<KeptChange>,
    considered: u64,
    /// Folder in which the state is saved, in the daemon's format.
    pub(crate) folder: Option<Folder>,
    /// Copies of the state from memory to disk.
    pub(crate) copies: u64,
}

impl World {
    /// A number of paths with a budget, such as `400GB`.
    pub(crate) fn new(paths: usize, budget: &str, planted: Vec<Planted>, seed: u64) -> Self {
        Self::with(paths, budget, planted, (seed, ""))
    }

    /// The same with more keys of each path.
    pub(crate) fn with(
        paths: usize,
        budget: &str,
        planted: Vec<Planted>,
        (seed, more): (u64, &str),
    ) -> Self {
        let mut random = Random::new(seed);
        let mut noise = Random::new(seed ^ 0xabcd);
        let mut text = format!("[budget]\nmonth = \"{budget}\"\n");
        for number in 0..paths {
            // Rarer than by default, which makes finding changes harder.
            text += &format!(
                "[[path]]\nname = \"p{number}\"\nhost = \"192.0.2.{number}\"\nprobe = \"5m\"\n{more}"
            );
        }
        let config: Config = config::parse("simulated", &text).expect("a config");
        let watcher = Watcher::new(config, "boot", START, &mut random);
        let paths = (0..paths).map(|_| Path::new(&mut noise)).collect();
        Self {
            watcher,
            now: START,
            messages: Vec::new(),
            carried: Default::default(),
            loads: 0,
            fulls: 0,
            groups: 0,
            paths,
            planted,
            random,
            noise,
            kept: Vec::new(),
            considered: 0,
            folder: None,
            copies: 0,
        }
    }

    /// A world whose watch continues from the state in a folder, `days` after the start.
    pub(crate) fn resumed(
        paths: usize,
        budget: &str,
        day: f64,
        (folder, seed): (Folder, u64),
    ) -> Self {
        let mut world = Self::new(paths, budget, Vec::new(), seed);
        world.now = START.after((day * DAY_NS as f64) as u64);
        let config = world.watcher.config().clone();
        let now = ("boot", world.now);
        let opened = Watcher::open(&folder, config, now, &mut world.random);
        world.watcher = opened.expect("a state that can be read");
        world.folder = Some(folder);
        world
    }

    fn save(&mut self, values: bool) {
        if let Some(folder) = &self.folder {
            let file = folder.path().join("watch.json");
            let inode = || file.metadata().map(|of| of.ino()).ok();
            let before = inode();
            self.watcher.copy(folder, self.now).expect("copy the state");
            self.copies += u64::from(inode() != before);
            self.watcher.save(folder, values).expect("save the state");
        }
    }

    /// Days since the start.
    pub(crate) fn day(&self) -> f64 {
        (self.now.boot_ns - START.boot_ns) as f64 / DAY_NS as f64
    }

    /// Returns the start of a day, µs since 1970.
    pub(crate) fn at_us(day: f64) -> u64 {
        START.wall_us + (day * 86_400e6) as u64
    }

    /// Sets the clock of the host.
    pub(crate) fn set_clock(&mut self, by_us: i64) {
        self.now.wall_us = self.now.wall_us.saturating_add_signed(by_us);
    }

    /// Watches until a day.
    pub(crate) fn run(&mut self, until: f64) {
        while self.day() < until {
            self.plant();
            self.watcher.report_overdue(self.now);
            let hour = self.now.boot_ns / (3600 * SECOND_NS);
            if self.considered != hour {
                self.considered = hour;
                self.watcher
                    .consider(&self.kept, self.now, &mut self.random);
            }
            while let Some(message) = self.watcher.outgoing(self.now).cloned() {
                self.watcher.delivered(message.id);
                self.messages.push(message);
            }
            match self.watcher.next(self.now) {
                Next::Wait(until) => self.now = self.now.after(until - self.now.boot_ns),
                Next::Due(candidate) => {
                    let line = Line {
                        others_bps: Some(if self.noise.unit() < 0.1 { 9e8 } else { 1e4 }),
                        metered: false,
                    };
                    match self
                        .watcher
                        .begin(candidate, line, self.now, &mut self.random)
                    {
                        Begin::Run(job) => {
                            self.save(false);
                            self.measure(job);
                        }
                        Begin::Postponed(_) => self.save(false),
                    }
                }
            }
        }
    }

    fn plant(&mut self) {
        let day = self.day();
        let (due, later) = std::mem::take(&mut self.planted)
            .into_iter()
            .partition(|planted| planted.day <= day);
        self.planted = later;
        for planted in due {
            (planted.apply)(&mut self.paths[planted.path].truth);
        }
    }

    fn measure(&mut self, job: Job) {
        let hour = self.now.boot_ns / (3600 * SECOND_NS);
        let evening = (19 * 60..23 * 60).contains(&self.now.minute_of_day());
        let path = &mut self.paths[job.path];
        path.drift(hour, &mut self.noise);
        let worse = if evening { path.evening } else { 0.0 };
        if job.work == Work::Probe {
            self.groups += 1;
            let probed = path.probes(worse, &mut self.noise);
            self.now = self.now.after(SECOND_NS);
            self.watcher
                .probed(job, vec![probed], self.now, &mut self.random);
            return;
        }
        let measured = path.load(job.payload, worse, &mut self.noise);
        let month = self.now.month().to_string();
        if self.folder.is_some() {
            // For the process that kills this one: from now on, these bytes are on the line.
            let bytes = measured.payload.unwrap_or(job.payload);
            println!("carried {} {bytes} {month}", self.day());
        }
        *self.carried.entry(month).or_default() += measured.payload.unwrap_or(job.payload);
        let seconds = match job.work {
            Work::Full => 60,
            _ => 8,
        };
        match job.work {
            Work::Full => self.fulls += 1,
            _ => self.loads += 1,
        }
        self.now = self.now.after(seconds * SECOND_NS);
        self.watcher
            .measured(job, measured, self.now, &mut self.random);
        self.save(true);
    }

    /// Reports of changed figures.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|m| m.event == Event::Changed)
    }
}

/// A folder for a test.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn normal(random: &mut Random) -> f64 {
    // Box and Muller 1958.
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

impl Path {
    fn new(random: &mut Random) -> Self {
        let rate = 20e6 * 25f64.powf(random.unit());
        Self {
            truth: Truth {
                rtt_s: 0.008 * 10f64.powf(random.unit()),
                lost: 0.0002,
                goodput_bps: [0.94 * rate, 0.94 * rate * (0.2 + 0.8 * random.unit())],
                added_s: [0.02 + 0.06 * random.unit(), 0.03 + 0.1 * random.unit()],
            },
            evening: 0.08 * random.unit(),
            wander: 0.0,
            wander_hour: 0,
        }
    }

    /// The level wanders with a standard deviation of 0.7 % and a memory of a day.
    fn drift(&mut self, hour: u64, random: &mut Random) {
        const MEMORY: f64 = 0.959; // e^(-1/24)
        if self.wander_hour != hour {
            self.wander_hour = hour;
            let fresh = (1.0 - MEMORY * MEMORY).sqrt() * 0.007;
            self.wander = MEMORY * self.wander + fresh * normal(random);
        }
    }

    fn probes(&self, worse: f64, random: &mut Random) -> Probed {
        let mut probed = Probed {
            layer: Layer::Underlay,
            family: IpVersion::V4,
            rtt_s: Vec::new(),
            lost: 0,
        };
        let base = self.truth.rtt_s * (1.0 + 0.5 * self.wander + 0.3 * worse);
        // In one of thirty groups, other traffic fills the queue.
        let queue = if random.unit() < 0.033 {
            0.05 * random.unit()
        } else {
            0.0
        };
        for _ in 0..10 {
            if random.unit() < self.truth.lost {
                probed.lost += 1;
            } else {
                let jitter = -0.03 * self.truth.rtt_s * random.unit().ln();
                probed.rtt_s.push(base + jitter + queue);
            }
        }
        probed
    }

    fn load(&self, payload: u64, worse: f64, random: &mut Random) -> Measured {
        let mut figures = Vec::new();
        for (at, direction) in [Direction::Down, Direction::Up].into_iter().enumerate() {
            let of = |kind| Figure {
                kind,
                layer: Layer::Underlay,
                family: IpVersion::V4,
                direction: Some(direction),
            };
            // In one of fifty loads there is other traffic.
            let met = if random.unit() < 0.02 {
                0.4 + 0.5 * random.unit()
            } else {
                1.0
            };
            let level = (1.0 + self.wander) * (1.0 - worse) * met;
            let goodput = self.truth.goodput_bps[at] * level * (1.0 + 0.02 * normal(random));
            figures.push((of(WatchFigure::Goodput), goodput));
            let added = self.truth.added_s[at] * (1.0 + 0.08 * normal(random)).max(0.1) / met;
            figures.push((of(WatchFigure::Added), added));
        }
        // Now and then a session breaks, and the bytes it moved are unknown.
        let known = random.unit() > 0.01;
        let share = 0.5 + 0.5 * random.unit();
        Measured {
            run: Some("r".to_owned()),
            payload: known.then_some((payload as f64 * share) as u64),
            figures,
            ..Measured::default()
        }
    }
}
