//! A sample of what the processors do, by classes of the kernel's functions.
//!
//! It sees the whole host and costs about a thousandth of it, so it is taken only where asked for and permitted.

mod classes;

use std::collections::BTreeMap;

use model::evidence::{HotSpotClass, HotSpots};
use sys::{
    perf::{PerfError, Sampler, Samples},
    procfs,
};

pub use classes::class;

/// Samples a second on each processor; not a divisor of the kernel's tick, with which it would run in step.
const FREQUENCY_HZ: u32 = 997;
/// Functions that are told by name.
const MOST_FUNCTIONS: usize = 10;

/// A sample being taken.
#[derive(Debug)]
pub struct Recording(Sampler);

impl Recording {
    /// Starts to sample all processors. It may run for 16 seconds; what comes later is counted as lost.
    ///
    /// # Errors
    /// The kernel refuses; the error says what it needs.
    pub fn start() -> Result<Recording, PerfError> {
        Sampler::start(FREQUENCY_HZ).map(Recording)
    }

    /// Ends it. `Err` says why what was seen cannot be told apart.
    ///
    /// # Errors
    /// The kernel hides the names of its functions.
    pub fn stop(self) -> Result<HotSpots, String> {
        let frequency_hz = self.0.frequency_hz();
        let samples = self.0.stop();
        let text = procfs::read("/proc/kallsyms")
            .map_err(|e| format!("cannot read /proc/kallsyms: {e}"))?;
        let symbols = Symbols::parse(&text).ok_or(
            "the kernel hides the addresses of its functions; this needs root or sysctl kernel.kptr_restrict=0",
        )?;
        Ok(summary(&samples, &symbols, frequency_hz))
    }
}

/// Functions of the kernel by address.
#[derive(Debug)]
pub struct Symbols<'a>(Vec<(u64, &'a str, &'a str)>);

impl<'a> Symbols<'a> {
    /// Reads `/proc/kallsyms`: address, type, name, and the module in brackets. `None` if it has no addresses.
    pub fn parse(text: &'a str) -> Option<Symbols<'a>> {
        let mut all: Vec<_> = text.lines().filter_map(symbol).collect();
        all.sort_unstable();
        (!all.is_empty()).then_some(Symbols(all))
    }

    /// The function that an address is in, and its module, which is empty for the kernel itself.
    pub fn at(&self, address: u64) -> Option<(&'a str, &'a str)> {
        let after = self.0.partition_point(|(start, ..)| *start <= address);
        let (_, name, module) = self.0.get(after.checked_sub(1)?)?;
        Some((name, module))
    }
}

/// A function with an address; variables (types other than `t` and `w`) are none.
fn symbol(line: &str) -> Option<(u64, &str, &str)> {
    let mut words = line.split_whitespace();
    let address = u64::from_str_radix(words.next()?, 16)
        .ok()
        .filter(|&a| a != 0)?;
    let kind = words.next()?;
    let name = words.next()?;
    let module = words.next().unwrap_or_default();
    matches!(kind, "t" | "T" | "w" | "W").then(|| (address, name, module.trim_matches(['[', ']'])))
}

fn summary(samples: &Samples, symbols: &Symbols<'_>, frequency_hz: u32) -> HotSpots {
    let all = samples.count();
    let share = |count: u64| count as f64 / all.max(1) as f64;
    let mut classes: BTreeMap<HotSpotClass, u64> = BTreeMap::new();
    let mut functions: BTreeMap<&str, u64> = BTreeMap::new();
    for (&address, &count) in &samples.kernel {
        let at = symbols.at(address);
        let class = at.map_or(HotSpotClass::Other, |(name, module)| class(name, module));
        *classes.entry(class).or_default() += count;
        *functions
            .entry(at.map_or("unknown", |(name, _)| name))
            .or_default() += count;
    }
    let mut add = |class, count| {
        if count > 0 {
            *classes.entry(class).or_default() += count;
        }
    };
    add(HotSpotClass::User, samples.user);
    add(HotSpotClass::Other, samples.other);
    let mut top: Vec<(&str, u64)> = functions.into_iter().collect();
    top.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    top.truncate(MOST_FUNCTIONS);
    HotSpots {
        samples: all,
        lost: samples.lost,
        frequency_hz,
        shares: classes.into_iter().map(|(c, n)| (c, share(n))).collect(),
        top: top
            .into_iter()
            .map(|(name, n)| (name.to_owned(), share(n)))
            .collect(),
    }
}

#[cfg(test)]
mod tests;
