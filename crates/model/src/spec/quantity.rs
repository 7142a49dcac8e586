//! Quantities as text: `20ms`, `100mbit`, `256kB`, `0.5%`.
//!
//! Numbers are exact decimals, so that the output of [`show_duration`] and of `Display` parses to
//! the same value.

mod error;
mod steps;

use std::time::Duration;

use crate::{
    cell::{
        Loss, Rule,
        bounds::{MAX_RATE, MAX_SIZE, MAX_TIME},
        loss_rule,
    },
    units::{Bytes, Rate, Share, TIMES},
};

pub use crate::units::show_duration;
pub use error::{QuantityError, ValueError};
pub use steps::{ReadError, StepsError};

/// A quantity, or the reason why the text is not one.
type Parsed<T> = Result<T, QuantityError>;

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

/// Reads a span of time: `20ms`.
///
/// # Errors
/// The text is not a duration, or longer than a week.
pub fn duration(text: &str) -> Parsed<Duration> {
    let (number, unit) = split(text)?;
    let ns = number.times(unit_of(text, unit, TIMES, "20ms")?);
    match u64::try_from(ns) {
        Ok(ns) if u128::from(ns) <= MAX_TIME.as_nanos() => Ok(Duration::from_nanos(ns)),
        _ => Err(QuantityError::TooLong(text.to_owned())),
    }
}

/// Reads a rate: `100mbit`, `2.5gbit/s`.
///
/// # Errors
/// The text is not a rate, 0, or above 1 Tbit/s.
pub fn rate(text: &str) -> Parsed<Rate> {
    let (number, unit) = split(text)?;
    let lower = unit.to_ascii_lowercase();
    if lower.ends_with("bps") {
        return Err(QuantityError::Ambiguous(unit.to_owned()));
    }
    let plain = lower.strip_suffix("/s").unwrap_or(&lower);
    let bps = number.times(unit_of(text, plain, RATES, "100mbit")?);
    match u64::try_from(bps) {
        Ok(0) => Err(Rule::NoRate.into()),
        Ok(bps) if bps <= MAX_RATE.bps() => Ok(Rate::from_bps(bps)),
        _ => Err(QuantityError::TooFast(text.to_owned())),
    }
}

/// Reads a size: `256kB`, `4MiB`.
///
/// # Errors
/// The text is not a size, or above 1 TB.
pub fn size(text: &str) -> Parsed<Bytes> {
    let (number, unit) = split(text)?;
    let unit = if unit == "KB" { "kB" } else { unit };
    let bytes = number.times(unit_of(text, unit, SIZES, "256kB")?);
    match u64::try_from(bytes) {
        Ok(bytes) if bytes <= MAX_SIZE.0 => Ok(Bytes(bytes)),
        _ => Err(QuantityError::TooLarge(text.to_owned())),
    }
}

/// Reads a share between 0 and 100 %: `0.5%`.
///
/// # Errors
/// The text is not a percentage, or above 100 %.
pub fn share(text: &str) -> Parsed<Share> {
    let (number, unit) = number_and_unit(text)?;
    if unit != "%" {
        return Err(QuantityError::NotShare(text.to_owned()));
    }
    // The float nearest to the decimal; a share is printed with all digits needed.
    let value: f64 = format!("{number}e-2")
        .parse()
        .map_err(|_| QuantityError::NotShare(text.to_owned()))?;
    Share::new(value).ok_or_else(|| QuantityError::MoreThanAll(text.to_owned()))
}

/// Reads a loss: `0.5%`, `gemodel(1%, 10%)`, `every 1000`.
///
/// # Errors
/// The text is not a loss, or drops everything.
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
        false => QuantityError::NotLoss(Box::new(e)),
    })? {
        p if p.is_zero() => Ok(Loss::None),
        p => possible(Loss::Random(p)),
    }
}

fn possible(loss: Loss) -> Parsed<Loss> {
    match loss_rule(&loss) {
        Some(rule) => Err(rule.into()),
        None => Ok(loss),
    }
}

fn every(text: &str) -> Parsed<Loss> {
    match (text.parse::<u64>(), text.parse()) {
        (_, Ok(every)) => possible(Loss::Every(every)),
        (Ok(n), _) => Err(QuantityError::TooRare(n)),
        (Err(_), _) => Err(QuantityError::Every(text.to_owned())),
    }
}

fn gilbert_elliott(text: &str) -> Parsed<Loss> {
    let inner = text
        .strip_prefix('(')
        .and_then(|t| t.strip_suffix(')'))
        .ok_or(QuantityError::NoBrackets)?;
    let shares: Vec<Share> = inner
        .split(',')
        .map(|t| share(t.trim()))
        .collect::<Parsed<_>>()?;
    let (p, r, bad, good) = match shares.as_slice() {
        [p, r] => (*p, *r, Share::ONE, Share::ZERO),
        [p, r, bad] => (*p, *r, *bad, Share::ZERO),
        [p, r, bad, good] => (*p, *r, *bad, *good),
        other => return Err(QuantityError::Values(other.len())),
    };
    possible(Loss::GilbertElliott { p, r, bad, good })
}

/// Prints a loss in the form that [`loss`] parses.
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
    /// Maximum number of digits; with any unit of this file they fit into 128 bits.
    const DIGITS: usize = 24;

    /// This multiple of `unit`, rounded to an integer.
    fn times(self, unit: u128) -> u128 {
        let divisor = 10u128.pow(self.scale);
        (self.mantissa * unit + divisor / 2) / divisor
    }
}

/// Splits a text into number and unit.
fn split(text: &str) -> Parsed<(Decimal, &str)> {
    let (number, unit) = number_and_unit(text)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    if digits.len() > Decimal::DIGITS {
        return Err(QuantityError::Digits(text.to_owned()));
    }
    let mantissa = digits.parse().map_err(|_| no_number(text))?;
    let scale = part.len() as u32;
    Ok((Decimal { mantissa, scale }, unit))
}

/// A decimal that begins and ends with a digit, and the rest of the text.
fn number_and_unit(text: &str) -> Parsed<(&str, &str)> {
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(QuantityError::Negative(text.to_owned()));
    }
    let end = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let digits = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    match digits && number.matches('.').count() <= 1 {
        true => Ok((number, unit.trim_start())),
        false => Err(no_number(text)),
    }
}

fn no_number(text: &str) -> QuantityError {
    QuantityError::NoNumber(text.to_owned())
}

fn unit_of(
    text: &str,
    unit: &str,
    units: &[(&'static str, u128)],
    example: &'static str,
) -> Parsed<u128> {
    if let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) {
        return Ok(*factor);
    }
    match unit {
        "" => Err(QuantityError::NoUnit {
            text: text.to_owned(),
            example,
        }),
        _ => Err(QuantityError::Unit {
            text: text.to_owned(),
            unit: unit.to_owned(),
            valid: units.iter().map(|(name, _)| *name).collect(),
        }),
    }
}
