//! Errors of quantities.

use std::time::Duration;

use super::steps::StepsError;
use crate::{
    cell::{
        Rule,
        bounds::{MAX_EVERY, MAX_RATE, MAX_SIZE, MAX_TIME},
    },
    units::{Bytes, show_duration},
};

/// Reason why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuantityError {
    /// It does not start with a number.
    #[error("\"{0}\" does not start with a number")]
    NoNumber(String),
    /// It is negative.
    #[error("\"{0}\" is negative")]
    Negative(String),
    /// It has more digits than any quantity needs.
    #[error("\"{0}\" has too many digits")]
    Digits(String),
    /// It has no unit.
    #[error("\"{text}\" has no unit; write for instance \"{example}\"")]
    NoUnit {
        /// The text.
        text: String,
        /// A quantity of this kind.
        example: &'static str,
    },
    /// Its unit is unknown.
    #[error("\"{text}\": unknown unit \"{unit}\"; valid are {}", valid.join(", "))]
    Unit {
        /// The text.
        text: String,
        /// The unknown unit.
        unit: String,
        /// Units of this kind.
        valid: Vec<&'static str>,
    },
    /// Its unit may mean bits or bytes.
    #[error("\"{0}\" is ambiguous (bits or bytes); use \"mbit\"")]
    Ambiguous(String),
    /// A rate above the limit.
    #[error("\"{0}\" is too fast; the limit is {MAX_RATE}")]
    TooFast(String),
    /// A size above the limit.
    #[error("\"{0}\" is too large; the limit is {MAX_SIZE}")]
    TooLarge(String),
    /// A duration above the limit.
    #[error("\"{0}\" is too long; the longest is {most}", most = show_duration(MAX_TIME))]
    TooLong(String),
    /// It is not a percentage.
    #[error("\"{0}\" is not a percentage; write for instance \"0.5%\"")]
    NotShare(String),
    /// A percentage above 100.
    #[error("{0} is more than 100 %")]
    MoreThanAll(String),
    /// Neither a percentage nor one of the models of loss.
    #[error("{0}, \"gemodel(1%, 10%)\" or \"every 1000\"")]
    NotLoss(Box<QuantityError>),
    /// `every` without a number.
    #[error("\"every {0}\" has no number; write for instance \"every 1000\"")]
    Every(String),
    /// `every` with a number that the kernel does not support.
    #[error("every {0} is too many; the kernel supports up to {MAX_EVERY}")]
    TooRare(u64),
    /// `gemodel` without brackets.
    #[error(
        "gemodel takes its values in brackets: \"gemodel(p, r, 1-h, 1-k)\", the last two optional"
    )]
    NoBrackets,
    /// `gemodel` with another number of values.
    #[error("gemodel takes 2 to 4 values, not {0}")]
    Values(usize),
    /// An impossible value.
    #[error("{0}")]
    Impossible(#[from] Rule),
}

/// Reason why a value does not fit its key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValueError {
    /// Not changes of a rate, not a distribution, or not a trace.
    #[error("{0}")]
    Steps(#[from] StepsError),
    /// It is not a quantity.
    #[error("{0}")]
    Quantity(#[from] QuantityError),
    /// It is impossible.
    #[error("{0}")]
    Impossible(#[from] Rule),
    /// No text where the name of a kernel is needed.
    #[error(
        "{0} is no name of a kernel; write one in quotes, as \"7.2\", or several below [matrix]"
    )]
    NoKernel(String),
    /// A bare number where a unit is needed.
    #[error("{value} has no unit; write for instance \"{example}\"")]
    NoUnit {
        /// The value.
        value: String,
        /// A value of this kind.
        example: &'static str,
    },
    /// It is not a text.
    #[error("{value} is not a text; write for instance \"{example}\"")]
    NotText {
        /// The value.
        value: String,
        /// A value of this kind.
        example: &'static str,
    },
    /// Not one of the keywords.
    #[error("{value} is not one of {}{}", valid.join(", "), match nearest {
        Some(word) => format!("; nearest is {word}"),
        None => String::new(),
    })]
    NotOneOf {
        /// The value.
        value: String,
        /// The keywords.
        valid: Vec<&'static str>,
        /// The nearest of them.
        nearest: Option<&'static str>,
    },
    /// A keyword that only real hosts could have.
    #[error("\"{word}\" is not in this version of the lab; {instead}")]
    NotInLab {
        /// The keyword.
        word: &'static str,
        /// Text to write instead.
        instead: &'static str,
    },
    /// It is neither true nor false.
    #[error("{0} is not true or false")]
    NotSwitch(String),
    /// It is not a whole number.
    #[error("{0} is not a whole number")]
    NotWhole(String),
    /// It is not a whole number of 64 bits.
    #[error("{0} is not a whole number below 2^64")]
    NotSeed(String),
    /// It is negative.
    #[error("{0} is negative")]
    Negative(i64),
    /// A duration of 0.
    #[error("must be longer than 0")]
    NoTime,
    /// A duration below the minimum.
    #[error("{} is too short; the minimum is {}", show_duration(*span), show_duration(*least))]
    TooShort {
        /// The duration.
        span: Duration,
        /// The minimum.
        least: Duration,
    },
    /// A duration above the maximum.
    #[error("{} is too long; the maximum is {}", show_duration(*span), show_duration(*most))]
    TooLong {
        /// The duration.
        span: Duration,
        /// The maximum.
        most: Duration,
    },
    /// Neither a value nor the keyword that may stand for it.
    #[error("{error}, or \"{word}\"")]
    OrWord {
        /// The error in the value.
        error: Box<ValueError>,
        /// The keyword.
        word: &'static str,
    },
    /// A size of 0.
    #[error("a size of 0 is impossible")]
    NoSize,
    /// A size below the minimum.
    #[error("{size} is too small; the minimum is {least}")]
    TooSmall {
        /// The size.
        size: Bytes,
        /// The minimum.
        least: Bytes,
    },
    /// A size above the maximum.
    #[error("{size} is too large; the maximum is {most}")]
    TooLarge {
        /// The size.
        size: Bytes,
        /// The maximum.
        most: Bytes,
    },
    /// A buffer of no positive number of bandwidth-delay products.
    #[error("\"{0}\" is not a positive number of BDPs")]
    Bdp(String),
    /// A buffer of 0 packets.
    #[error("a buffer of 0 packets holds nothing")]
    NoPackets,
    /// A buffer of no whole number of packets.
    #[error("\"{0}\" is not a number of packets; write \"1bdp\", \"200p\", \"256kB\" or \"40ms\"")]
    Packets(String),
    /// Not the size of a buffer.
    #[error("\"{0}\" is not a buffer size; write \"1bdp\", \"200p\", \"256kB\" or \"40ms\"")]
    Buffer(String),
}
