//! Rules that the values of a cell must obey.

use std::time::Duration;

use super::{
    Queue,
    bounds::{MAX_CC, MAX_FLOWS, MAX_NAME, MIN_MTU_V6},
    field::Field,
};
use crate::units::{Bytes, show_duration};

/// A value of a cell that violates a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Impossible {
    /// The value.
    pub field: Field,
    /// The rule it violates.
    pub rule: Rule,
}

/// A violated rule; the message follows the name of the value and a colon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Rule {
    #[error("{value} is too small; the minimum is {least}")]
    TooSmall { value: String, least: String },
    #[error("{value} is too large; the maximum is {most}")]
    TooLarge { value: String, most: String },
    #[error("a rate of 0 lets nothing through")]
    NoRate,
    #[error("{0} is not between 0 and 1")]
    NoShare(f64),
    #[error(
        "\"{}\" is not a valid name: 1 to {MAX_NAME} letters, digits, \".\", \"_\", \"-\", no \".\" in front",
        .0.escape_debug()
    )]
    NoName(String),
    #[error("\"{}\" is not a valid name of a congestion control such as \"cubic\"", .0.escape_debug())]
    NoCc(String),
    #[error("exceeds the measured time")]
    SampleTooLong,
    #[error("{}", without_rate(*.0))]
    QueueWithoutRate(Queue),
    #[error("a buffer of 0 packets holds nothing")]
    NoBuffer,
    #[error("{bytes} cannot hold one full packet ({} bytes with its header)", full.0)]
    BufferTooSmall { bytes: Bytes, full: Bytes },
    #[error("{0} exceeds the byte limit of the kernel's queues (4 GiB)")]
    BufferTooLarge(Bytes),
    #[error("\"{0}\" has no default limit in the kernel; a size is needed")]
    KernelBuffer(Queue),
    #[error("exceeds the one-way delay of {}", show_duration(*.0))]
    JitterOverDelay(Duration),
    #[error("needs a delay: without one no packet can overtake another")]
    ReorderWithoutDelay,
    #[error("a random loss of 0 is not a loss; leave it out")]
    LossOfNone,
    #[error("a loss of 100 % lets nothing through")]
    LossOfAll,
    #[error("with these values nothing gets through after a while")]
    LossStuck,
    #[error("n must be at least 2")]
    LossOfEach,
    #[error("periodic loss always comes after the bottleneck; leave faults_first out")]
    PeriodicLossFirst,
    #[error("IPv6 needs an MTU of at least {MIN_MTU_V6}")]
    ShortForIpv6,
    #[error("without load and without probes there is nothing to measure")]
    NothingToMeasure,
    #[error("the measured traffic runs for the whole cell")]
    WholeCell,
    #[error("is not after the start at {}", show_duration(*.0))]
    StopBeforeStart(Duration),
    #[error("is not before the end of the load at {}", show_duration(*.0))]
    StartAfterEnd(Duration),
    #[error("a competitor needs a load")]
    IdleCompetitor,
    #[error("probes belong to the measured traffic")]
    ProbingCompetitor,
    #[error("the direction must be down, up or both")]
    NoDirection,
    #[error("only tcp and short have a congestion control")]
    CcWithoutTcp,
    #[error("{0} flows in one cell, including cross traffic; the maximum is {MAX_FLOWS}")]
    Crowd(u64),
}

fn without_rate(queue: Queue) -> String {
    match queue {
        Queue::Policer => "a policer needs a rate".to_owned(),
        queue => format!("\"{queue}\" needs a rate: without one no queue forms"),
    }
}

/// Whether this is a valid name of a cell, which is also used as a file name.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=MAX_NAME).contains(&text.len()) && !text.starts_with('.') && text.chars().all(fits)
}

/// Whether this is a valid name of a congestion control.
pub fn is_cc(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    (1..=MAX_CC).contains(&text.len()) && text.chars().all(fits)
}
