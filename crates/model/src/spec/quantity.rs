//! Quantities as text: `20ms`, `100mbit`, `256kB`, `0.5%`.
//!
//! Numbers are exact decimals, so what [`show_duration`] and the `Display` of the units print is
//! read back as the same value.

use std::time::Duration;

use crate::{
    cell::Loss,
    units::{Bytes, Rate, Share},
};

/// A quantity, or why the text is none.
pub type Parsed<T> = Result<T, String>;

const TIMES: &[(&str, u128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
];
const RATES: &[(&str, u128)] = &[
    ("bit", 1),
    ("kbit", 1_000),
    ("mbit", 1_000_000),
    ("gbit", 1_000_000_000),
];
const SIZES: &[(&str, u128)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Fastest rate the grammar accepts: 1 Tbit/s.
pub const MAX_RATE: Rate = Rate::from_bps(1_000_000_000_000);
/// Longest span of time the grammar accepts: a week.
pub const MAX_TIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// Largest size the grammar accepts: 1 TB.
pub const MAX_SIZE: Bytes = Bytes(1_000_000_000_000);

/// Most packets the kernel counts between two that it drops.
const MAX_EVERY: u64 = 65_535;

/// Reads a span of time: `20ms`.
pub fn duration(text: &str) -> Parsed<Duration> {
    let (number, unit) = split(text)?;
    let ns = number.times(unit_of(text, unit, TIMES, "20ms")?);
    match u64::try_from(ns) {
        Ok(ns) if u128::from(ns) <= MAX_TIME.as_nanos() => Ok(Duration::from_nanos(ns)),
        _ => Err(format!(
            "\"{text}\" is too long; the longest is {}",
            show_duration(MAX_TIME)
        )),
    }
}

/// Reads a rate: `100mbit`, `2.5gbit/s`.
pub fn rate(text: &str) -> Parsed<Rate> {
    let (number, unit) = split(text)?;
    let lower = unit.to_ascii_lowercase();
    if lower.ends_with("bps") {
        return Err(format!(
            "\"{unit}\" means bits to some and bytes to others; use \"mbit\""
        ));
    }
    let plain = lower.strip_suffix("/s").unwrap_or(&lower);
    let bps = number.times(unit_of(text, plain, RATES, "100mbit")?);
    match u64::try_from(bps) {
        Ok(0) => Err("a rate of 0 lets nothing through".to_owned()),
        Ok(bps) if bps <= MAX_RATE.bps() => Ok(Rate::from_bps(bps)),
        _ => Err(format!("\"{text}\" is too fast; the limit is {MAX_RATE}")),
    }
}

/// Reads a size: `256kB`, `4MiB`.
pub fn size(text: &str) -> Parsed<Bytes> {
    let (number, unit) = split(text)?;
    let unit = if unit == "KB" { "kB" } else { unit };
    let bytes = number.times(unit_of(text, unit, SIZES, "256kB")?);
    match u64::try_from(bytes) {
        Ok(bytes) if bytes <= MAX_SIZE.0 => Ok(Bytes(bytes)),
        _ => Err(format!("\"{text}\" is too large; the limit is {MAX_SIZE}")),
    }
}

/// Reads a share between 0 and 100 %: `0.5%`.
pub fn share(text: &str) -> Parsed<Share> {
    let (_, unit) = split(text)?;
    if unit != "%" {
        return Err(format!(
            "\"{text}\" is not a percentage; write for instance \"0.5%\""
        ));
    }
    let number = text.trim().trim_end_matches('%').trim_end();
    let value: f64 = format!("{number}e-2")
        .parse()
        .map_err(|_| format!("\"{text}\" is not a percentage"))?;
    Share::new(value).ok_or_else(|| format!("{text} is more than 100 %"))
}

/// Reads a loss: `0.5%`, `gemodel(1%, 10%)`, `every 1000`.
pub fn loss(text: &str) -> Parsed<Loss> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("every") {
        return every(rest.trim());
    }
    if let Some(rest) = text.strip_prefix("gemodel") {
        return gilbert_elliott(rest.trim());
    }
    match share(text).map_err(|e| match text.ends_with('%') {
        true => e,
        false => format!("{e}, \"gemodel(1%, 10%)\" or \"every 1000\""),
    })? {
        p if p.is_zero() => Ok(Loss::None),
        p if p.get() >= 1.0 => Err("a loss of 100 % lets nothing through".to_owned()),
        p => Ok(Loss::Random(p)),
    }
}

fn every(text: &str) -> Parsed<Loss> {
    match (text.parse::<u64>(), text.parse()) {
        (Ok(0 | 1), _) => Err("every n-th packet needs an n of at least 2".to_owned()),
        (Ok(n), Ok(every)) if n <= MAX_EVERY => Ok(Loss::Every(every)),
        (Ok(n), _) => Err(format!(
            "every {n} is too many; the kernel counts to {MAX_EVERY}"
        )),
        (Err(_), _) => Err(format!(
            "\"every {text}\" has no number; write for instance \"every 1000\""
        )),
    }
}

fn gilbert_elliott(text: &str) -> Parsed<Loss> {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).ok_or(
        "gemodel takes its values in brackets: \"gemodel(p, r, 1-h, 1-k)\", the last two optional",
    )?;
    let shares: Vec<Share> = inner
        .split(',')
        .map(|t| share(t.trim()))
        .collect::<Parsed<_>>()?;
    let (p, r, bad, good) = match shares.as_slice() {
        [p, r] => (*p, *r, Share::ONE, Share::ZERO),
        [p, r, bad] => (*p, *r, *bad, Share::ZERO),
        [p, r, bad, good] => (*p, *r, *bad, *good),
        other => return Err(format!("gemodel takes 2 to 4 values, not {}", other.len())),
    };
    let stuck = r.is_zero() && !p.is_zero() && bad == Share::ONE;
    if stuck || good == Share::ONE {
        return Err("these values let nothing through after a while".to_owned());
    }
    Ok(Loss::GilbertElliott { p, r, bad, good })
}

/// Prints a span of time in the largest unit that divides it.
pub fn show_duration(span: Duration) -> String {
    let ns = span.as_nanos();
    let fits = TIMES
        .iter()
        .rev()
        .find(|(_, unit)| ns != 0 && ns.is_multiple_of(*unit));
    match fits {
        Some((name, unit)) => format!("{}{name}", ns / unit),
        None => "0s".to_owned(),
    }
}

/// Prints a loss so that [`loss`] reads it back.
pub fn show_loss(loss: &Loss) -> String {
    match loss {
        Loss::None => "0%".to_owned(),
        Loss::Random(p) => p.to_string(),
        Loss::GilbertElliott { p, r, bad, good } => format!("gemodel({p}, {r}, {bad}, {good})"),
        Loss::Every(n) => format!("every {n}"),
    }
}

/// An exact decimal number that is not negative: `mantissa / 10^scale`.
#[derive(Clone, Copy)]
struct Decimal {
    mantissa: u128,
    scale: u32,
}

impl Decimal {
    /// More digits than any unit needs; with any unit of this file they fit 128 bits.
    const DIGITS: usize = 24;

    /// This many units, rounded to whole ones.
    fn times(self, unit: u128) -> u128 {
        let divisor = 10u128.pow(self.scale);
        (self.mantissa * unit + divisor / 2) / divisor
    }
}

/// Takes a text apart into its number and its unit.
fn split(text: &str) -> Parsed<(Decimal, &str)> {
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(format!("\"{text}\" is negative"));
    }
    let end = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    if digits.len() > Decimal::DIGITS {
        return Err(format!("\"{text}\" has too many digits"));
    }
    let mantissa = match digits.parse() {
        Ok(mantissa) if !whole.is_empty() && !number.ends_with('.') => mantissa,
        _ => return Err(format!("\"{text}\" does not start with a number")),
    };
    Ok((
        Decimal {
            mantissa,
            scale: part.len() as u32,
        },
        unit.trim_start(),
    ))
}

fn unit_of(text: &str, unit: &str, units: &[(&str, u128)], example: &str) -> Parsed<u128> {
    if let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) {
        return Ok(*factor);
    }
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    match unit {
        "" => Err(format!(
            "\"{text}\" has no unit; write for instance \"{example}\""
        )),
        _ => Err(format!(
            "\"{text}\": unknown unit \"{unit}\"; valid are {}",
            names.join(", ")
        )),
    }
}
