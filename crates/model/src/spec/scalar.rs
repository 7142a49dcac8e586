//! Parsers of written values, one for each form. Their errors are shown to users.

use std::time::Duration;

use super::{
    nearest::nearest,
    quantity::{self, ValueError},
    value::{BufferText, Scalar, ShapeText},
};
use crate::{
    cell::{Rule, bounds::MAX_TIME, is_cc, is_name},
    units::{Bytes, Share},
};

/// A value, or the reason why it does not fit its key.
pub(super) type Checked<T> = Result<T, ValueError>;

pub(super) fn names<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(name, _)| *name).collect()
}

pub(super) fn is(scalar: &Scalar, word: &str) -> bool {
    matches!(scalar, Scalar::Text(text) if text == word)
}

pub(super) fn text<'a>(scalar: &'a Scalar, example: &'static str) -> Checked<&'a str> {
    match scalar {
        Scalar::Text(text) => Ok(text),
        Scalar::Integer(_) | Scalar::Float(_) => Err(ValueError::NoUnit {
            value: scalar.to_string(),
            example,
        }),
        _ => Err(ValueError::NotText {
            value: scalar.to_string(),
            example,
        }),
    }
}

pub(super) fn word<T: Copy>(scalar: &Scalar, words: &[(&'static str, T)]) -> Checked<T> {
    let valid = names(words);
    let text = match scalar {
        Scalar::Text(text) => Some(text),
        _ => None,
    };
    if let Some((_, value)) = words
        .iter()
        .find(|(name, _)| text.is_some_and(|text| name == text))
    {
        return Ok(*value);
    }
    Err(ValueError::NotOneOf {
        value: scalar.to_string(),
        nearest: text.and_then(|text| nearest(text, valid.iter().copied())),
        valid,
    })
}

pub(super) fn not_in_lab(
    scalar: &Scalar,
    words: &[&'static str],
    instead: &'static str,
) -> Checked<()> {
    match words.iter().find(|word| is(scalar, word)) {
        Some(word) => Err(ValueError::NotInLab { word, instead }),
        None => Ok(()),
    }
}

pub(super) fn name(scalar: &Scalar) -> Checked<String> {
    let text = text(scalar, "dorm")?;
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(Rule::NoName(text.to_owned()).into()),
    }
}

/// A kernel: a text, since as a number 6.20 would be 6.2.
pub(super) fn kernel(scalar: &Scalar) -> Checked<String> {
    match scalar {
        Scalar::Text(_) => name(scalar),
        other => Err(ValueError::NoKernel(other.to_string())),
    }
}

pub(super) fn cc(scalar: &Scalar) -> Checked<String> {
    let text = text(scalar, "cubic")?;
    match is_cc(text) {
        true => Ok(text.to_owned()),
        false => Err(Rule::NoCc(text.to_owned()).into()),
    }
}

/// A seed: a whole number, or one as text, which may go up to 2^64 - 1.
pub(super) fn seed(scalar: &Scalar) -> Checked<u64> {
    match scalar {
        Scalar::Text(digits) => digits
            .parse()
            .map_err(|_| ValueError::NotSeed(scalar.to_string())),
        other => count(other, 0, u64::MAX),
    }
}

pub(super) fn count(scalar: &Scalar, low: u64, high: u64) -> Checked<u64> {
    let Scalar::Integer(n) = scalar else {
        return Err(ValueError::NotWhole(scalar.to_string()));
    };
    match u64::try_from(*n) {
        Ok(n) if n < low => Err(ValueError::Impossible(Rule::TooSmall {
            value: n.to_string(),
            least: low.to_string(),
        })),
        Ok(n) if n > high => Err(ValueError::Impossible(Rule::TooLarge {
            value: n.to_string(),
            most: high.to_string(),
        })),
        Ok(n) => Ok(n),
        Err(_) => Err(ValueError::Negative(*n)),
    }
}

pub(super) fn time(scalar: &Scalar, low: Duration, high: Duration) -> Checked<Duration> {
    let span = match scalar {
        Scalar::Integer(0) => Duration::ZERO,
        other => quantity::duration(text(other, "20ms")?)?,
    };
    match span {
        s if s < low && s.is_zero() => Err(ValueError::NoTime),
        span if span < low => Err(ValueError::TooShort { span, least: low }),
        span if span > high => Err(ValueError::TooLong { span, most: high }),
        s => Ok(s),
    }
}

pub(super) fn maybe_time(
    scalar: &Scalar,
    low: Duration,
    none: &'static str,
) -> Checked<Option<Duration>> {
    if is(scalar, none) {
        return Ok(None);
    }
    time(scalar, low, MAX_TIME)
        .map(Some)
        .map_err(|error| ValueError::OrWord {
            error: Box::new(error),
            word: none,
        })
}

pub(super) fn size(scalar: &Scalar, low: u64, high: u64) -> Checked<Bytes> {
    let bytes = quantity::size(text(scalar, "256kB")?)?;
    match bytes {
        Bytes(0) => Err(ValueError::NoSize),
        size if size.0 < low => Err(ValueError::TooSmall {
            size,
            least: Bytes(low),
        }),
        size if size.0 > high => Err(ValueError::TooLarge {
            size,
            most: Bytes(high),
        }),
        size => Ok(size),
    }
}

pub(super) fn share(scalar: &Scalar) -> Checked<Share> {
    match scalar {
        Scalar::Integer(0) => Ok(Share::ZERO),
        other => Ok(quantity::share(text(other, "0.5%")?)?),
    }
}

pub(super) fn buffer(text: &str) -> Checked<BufferText> {
    if let Some(number) = text.strip_suffix("bdp") {
        return match number.trim().parse::<f64>() {
            Ok(n) if n > 0.0 && n <= 1e6 => Ok(BufferText::Bdp(n)),
            _ => Err(ValueError::Bdp(text.to_owned())),
        };
    }
    if let Some(number) = text.strip_suffix('p') {
        return match number.trim().parse::<u32>() {
            Ok(0) => Err(ValueError::NoPackets),
            Ok(n) => Ok(BufferText::Packets(n)),
            Err(_) => Err(ValueError::Packets(text.to_owned())),
        };
    }
    if let Ok(bytes) = quantity::size(text) {
        return Ok(BufferText::Bytes(bytes));
    }
    quantity::duration(text)
        .map(BufferText::Time)
        .map_err(|_| ValueError::Buffer(text.to_owned()))
}

pub(super) fn shape(text: &str) -> Checked<ShapeText> {
    match text {
        "none" => Ok(ShapeText::None),
        text if text.trim_end().ends_with('%') => match quantity::share(text)? {
            share if share.is_zero() => Err(Rule::NoRate.into()),
            share => Ok(ShapeText::Share(share)),
        },
        text => Ok(ShapeText::Rate(quantity::rate(text)?)),
    }
}
