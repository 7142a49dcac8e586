//! Parsers of written values, one for each form. Their errors are shown to users.

use std::time::Duration;

use super::{
    nearest::nearest,
    quantity::{self, Parsed, show_duration},
    value::{BufferText, Scalar, ShapeText},
};
use crate::{
    cell::{Rule, bounds::MAX_TIME, is_cc, is_name},
    units::{Bytes, Share},
};

pub(super) fn names<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(name, _)| *name).collect()
}

pub(super) fn is(scalar: &Scalar, word: &str) -> bool {
    matches!(scalar, Scalar::Text(text) if text == word)
}

pub(super) fn text<'a>(scalar: &'a Scalar, example: &str) -> Parsed<&'a str> {
    match scalar {
        Scalar::Text(text) => Ok(text),
        Scalar::Integer(_) | Scalar::Float(_) => Err(format!(
            "{scalar} has no unit; write for instance \"{example}\""
        )),
        _ => Err(format!(
            "{scalar} is not a text; write for instance \"{example}\""
        )),
    }
}

pub(super) fn word<T: Copy>(scalar: &Scalar, words: &[(&'static str, T)]) -> Parsed<T> {
    let valid = names(words);
    let list = valid.join(", ");
    let Scalar::Text(text) = scalar else {
        return Err(format!("{scalar} is not one of {list}"));
    };
    if let Some((_, value)) = words.iter().find(|(name, _)| name == text) {
        return Ok(*value);
    }
    Err(match nearest(text, valid.iter().copied()) {
        Some(near) => format!("\"{text}\" is not one of {list}; nearest is {near}"),
        None => format!("\"{text}\" is not one of {list}"),
    })
}

pub(super) fn not_in_lab(scalar: &Scalar, words: &[&str], instead: &str) -> Parsed<()> {
    match words.iter().find(|word| is(scalar, word)) {
        Some(word) => Err(format!(
            "\"{word}\" is not in this version of the lab; {instead}"
        )),
        None => Ok(()),
    }
}

pub(super) fn name(scalar: &Scalar) -> Parsed<String> {
    let text = text(scalar, "dorm")?;
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(Rule::NoName(text.to_owned()).to_string()),
    }
}

pub(super) fn cc(scalar: &Scalar) -> Parsed<String> {
    let text = text(scalar, "cubic")?;
    match is_cc(text) {
        true => Ok(text.to_owned()),
        false => Err(Rule::NoCc(text.to_owned()).to_string()),
    }
}

/// A seed: a whole number, or one as text, which may go up to 2^64 - 1.
pub(super) fn seed(scalar: &Scalar) -> Parsed<u64> {
    match scalar {
        Scalar::Text(digits) => digits
            .parse()
            .map_err(|_| format!("{scalar} is not a whole number below 2^64")),
        other => count(other, 0, u64::MAX),
    }
}

pub(super) fn count(scalar: &Scalar, low: u64, high: u64) -> Parsed<u64> {
    let Scalar::Integer(n) = scalar else {
        return Err(format!("{scalar} is not a whole number"));
    };
    match u64::try_from(*n) {
        Ok(n) if n < low => Err(format!("{n} is too small; the minimum is {low}")),
        Ok(n) if n > high => Err(format!("{n} is too large; the maximum is {high}")),
        Ok(n) => Ok(n),
        Err(_) => Err(format!("{n} is negative")),
    }
}

pub(super) fn time(scalar: &Scalar, low: Duration, high: Duration) -> Parsed<Duration> {
    let span = match scalar {
        Scalar::Integer(0) => Duration::ZERO,
        other => text(other, "20ms").and_then(quantity::duration)?,
    };
    match span {
        s if s < low && s.is_zero() => Err("must be longer than 0".to_owned()),
        s if s < low => Err(format!(
            "{} is too short; the minimum is {}",
            show_duration(s),
            show_duration(low)
        )),
        s if s > high => Err(format!(
            "{} is too long; the maximum is {}",
            show_duration(s),
            show_duration(high)
        )),
        s => Ok(s),
    }
}

pub(super) fn maybe_time(scalar: &Scalar, low: Duration, none: &str) -> Parsed<Option<Duration>> {
    if is(scalar, none) {
        return Ok(None);
    }
    time(scalar, low, MAX_TIME)
        .map(Some)
        .map_err(|e| format!("{e}, or \"{none}\""))
}

pub(super) fn size(scalar: &Scalar, low: u64, high: u64) -> Parsed<Bytes> {
    let bytes = text(scalar, "256kB").and_then(quantity::size)?;
    match bytes {
        Bytes(0) => Err("a size of 0 is impossible".to_owned()),
        b if b.0 < low => Err(format!("{b} is too small; the minimum is {}", Bytes(low))),
        b if b.0 > high => Err(format!("{b} is too large; the maximum is {}", Bytes(high))),
        b => Ok(b),
    }
}

pub(super) fn share(scalar: &Scalar) -> Parsed<Share> {
    match scalar {
        Scalar::Integer(0) => Ok(Share::ZERO),
        other => text(other, "0.5%").and_then(quantity::share),
    }
}

pub(super) fn buffer(text: &str) -> Parsed<BufferText> {
    let forms = "\"1bdp\", \"200p\", \"256kB\" or \"40ms\"";
    if let Some(number) = text.strip_suffix("bdp") {
        return match number.trim().parse::<f64>() {
            Ok(n) if n > 0.0 && n <= 1e6 => Ok(BufferText::Bdp(n)),
            _ => Err(format!("\"{text}\" is not a positive number of BDPs")),
        };
    }
    if let Some(number) = text.strip_suffix('p') {
        return match number.trim().parse::<u32>() {
            Ok(0) => Err("a buffer of 0 packets holds nothing".to_owned()),
            Ok(n) => Ok(BufferText::Packets(n)),
            Err(_) => Err(format!(
                "\"{text}\" is not a number of packets; write {forms}"
            )),
        };
    }
    if let Ok(bytes) = quantity::size(text) {
        return Ok(BufferText::Bytes(bytes));
    }
    quantity::duration(text)
        .map(BufferText::Time)
        .map_err(|_| format!("\"{text}\" is not a buffer size; write {forms}"))
}

pub(super) fn shape(text: &str) -> Parsed<ShapeText> {
    match text {
        "none" => Ok(ShapeText::None),
        text if text.trim_end().ends_with('%') => match quantity::share(text)? {
            share if share.is_zero() => Err("a rate of 0 lets nothing through".to_owned()),
            share => Ok(ShapeText::Share(share)),
        },
        text => quantity::rate(text).map(ShapeText::Rate),
    }
}
