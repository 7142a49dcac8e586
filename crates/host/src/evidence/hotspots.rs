//! Profile of the processors by classes of the kernel's functions.
//!
//! It covers the whole host and costs about a thousandth of it, so it is recorded only on request
//! and where permitted.

mod classes;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader},
    sync::atomic::{AtomicBool, Ordering},
};

use model::evidence::{HotSpotClass, HotSpots};
use sys::perf::{PerfError, Sampler, Samples};

pub use classes::class;

/// Samples a second on each processor; not a multiple or divisor of the kernel's tick, to avoid
/// sampling in lockstep.
const FREQUENCY_HZ: u32 = 997;
/// Functions that are listed by name.
const MAX_FUNCTIONS: usize = 10;

/// True while a profile is being recorded: its buffers are some hundred kB for each processor, so a
/// process records one at a time.
static RECORDING: AtomicBool = AtomicBool::new(false);

/// Reason for the lack of a profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// Only one profile can be recorded at a time.
    #[error("another profile of the processors is being recorded")]
    Busy,
    /// The kernel refused.
    #[error(transparent)]
    Sampler(#[from] PerfError),
    /// The sampler was never started.
    #[error("no profile of the processors was recorded")]
    NotStarted,
    /// The names of functions could not be read.
    #[error("cannot read /proc/kallsyms: {0}")]
    Symbols(#[source] io::Error),
    /// The names have no addresses.
    #[error(
        "the kernel hides the addresses of its functions; this needs root or sysctl kernel.kptr_restrict=0"
    )]
    HiddenAddresses,
}

/// A profile being recorded; one at a time in a process.
#[derive(Debug)]
pub struct Recording {
    sampler: Option<Sampler>,
}

impl Recording {
    /// Starts to sample all processors. It may run for 16 seconds; later samples are counted as
    /// lost.
    ///
    /// # Errors
    /// Another profile is being recorded, or the kernel refuses; the error states the missing
    /// permission.
    pub fn start() -> Result<Recording, ProfileError> {
        if RECORDING.swap(true, Ordering::AcqRel) {
            return Err(ProfileError::Busy);
        }
        // If a later step fails, dropping this permits other recordings again.
        let mut recording = Recording { sampler: None };
        let sampler = Sampler::start(FREQUENCY_HZ)?;
        recording.sampler = Some(sampler);
        Ok(recording)
    }

    /// Ends it, and classifies the samples.
    ///
    /// # Errors
    /// The kernel hides the names of its functions.
    pub fn stop(mut self) -> Result<HotSpots, ProfileError> {
        let sampler = self.sampler.take().ok_or(ProfileError::NotStarted)?;
        let frequency_hz = sampler.frequency_hz();
        let samples = sampler.stop();
        let addresses: Vec<u64> = samples.kernel.keys().copied().collect();
        let symbols = File::open("/proc/kallsyms")
            .and_then(|file| Symbols::find(&addresses, BufReader::new(file)))
            .map_err(ProfileError::Symbols)?
            .ok_or(ProfileError::HiddenAddresses)?;
        Ok(summary(&samples, &symbols, frequency_hz))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDING.store(false, Ordering::Release);
    }
}

/// The functions of the kernel that some addresses are in.
#[derive(Debug)]
pub struct Symbols<'a> {
    addresses: &'a [u64],
    /// For each address the start, the name and the module of the last function that begins at or
    /// before it.
    functions: Vec<(u64, String, String)>,
}

impl<'a> Symbols<'a> {
    /// Finds the functions of `addresses`, which are sorted, in text like `/proc/kallsyms`:
    /// address, type, name, and the module in brackets. The file has some 10 MB, so only the
    /// matching functions are stored. `None` if it has no addresses.
    ///
    /// # Errors
    /// The text cannot be read.
    pub fn find(addresses: &'a [u64], text: impl BufRead) -> io::Result<Option<Symbols<'a>>> {
        let mut functions = vec![(0, String::new(), String::new()); addresses.len()];
        let mut any = false;
        for line in text.lines() {
            let line = line?;
            let Some((start, name, module)) = symbol(&line) else {
                continue;
            };
            any = true;
            let next = addresses.partition_point(|&address| address < start);
            if let Some(found) = functions.get_mut(next).filter(|found| found.0 < start) {
                *found = (start, name.to_owned(), module.to_owned());
            }
        }
        for i in 1..functions.len() {
            if functions[i].0 < functions[i - 1].0 {
                functions[i] = functions[i - 1].clone();
            }
        }
        Ok(any.then_some(Symbols {
            addresses,
            functions,
        }))
    }

    /// The function that one of the addresses is in, and its module, which is empty for the kernel
    /// itself.
    pub fn at(&self, address: u64) -> Option<(&str, &str)> {
        let (start, name, module) = &self.functions[self.addresses.binary_search(&address).ok()?];
        (*start != 0).then_some((name, module))
    }
}

/// A function with an address; `None` for variables (types other than `t` and `w`).
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
    top.truncate(MAX_FUNCTIONS);
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
