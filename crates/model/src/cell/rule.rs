//! Why a value of a cell is impossible.

use std::time::Duration;

use super::{
    Queue,
    bounds::{MAX_CC, MAX_FLOWS, MAX_NAME, MIN_MTU_V6},
    field::Field,
};
use crate::units::{Bytes, show_duration};

/// A value of a cell that is impossible.
#[derive(Clone, Debug, PartialEq)]
pub struct Impossible {
    /// The value.
    pub field: Field,
    /// Why it is.
    pub rule: Rule,
}

/// Why a value is impossible, to follow its name and a colon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum Rule {
    #[error("{value} is too small; the least is {least}")]
    TooSmall { value: String, least: String },
    #[error("{value} is too large; the most is {most}")]
    TooLarge { value: String, most: String },
    #[error("a rate of 0 lets nothing through")]
    NoRate,
    #[error("{0} is no share between 0 and 1")]
    NoShare(f64),
    #[error(
        "\"{}\" is no name: 1 to {MAX_NAME} letters, digits, \".\", \"_\", \"-\", no \".\" in front",
        .0.escape_debug()
    )]
    NoName(String),
    #[error("\"{}\" is no name of a congestion control such as \"cubic\"", .0.escape_debug())]
    NoCc(String),
    #[error("is longer than the measured time")]
    SampleTooLong,
    #[error("{}", without_rate(*.0))]
    QueueWithoutRate(Queue),
    #[error("a buffer of 0 packets holds nothing")]
    NoBuffer,
    #[error("{bytes} cannot hold one full packet ({} bytes with its header)", full.0)]
    BufferTooSmall { bytes: Bytes, full: Bytes },
    #[error("{0} is more than a queue of the kernel can count (4 GiB)")]
    BufferTooLarge(Bytes),
    #[error("\"{0}\" has no limit of the kernel's own; a size is needed")]
    KernelBuffer(Queue),
    #[error("is more than the one-way delay of {}", show_duration(*.0))]
    JitterOverDelay(Duration),
    #[error("without a delay no packet can overtake another; it needs one")]
    ReorderWithoutDelay,
    #[error("a random loss of 0 is no loss")]
    LossOfNone,
    #[error("a loss of 100 % lets nothing through")]
    LossOfAll,
    #[error("these values let nothing through after a while")]
    LossStuck,
    #[error("every n-th packet needs an n of at least 2")]
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
    #[error("a competitor without load is none")]
    IdleCompetitor,
    #[error("probes belong to the measured traffic")]
    ProbingCompetitor,
    #[error("data goes down, up, or both ways")]
    NoDirection,
    #[error("only tcp and short have a congestion control")]
    CcWithoutTcp,
    #[error("{0} flows in one cell, competitors included; the most is {MAX_FLOWS}")]
    Crowd(u64),
}

fn without_rate(queue: Queue) -> String {
    match queue {
        Queue::Policer => "a policer without a rate polices nothing".to_owned(),
        queue => format!("\"{queue}\" never has a queue to manage without a rate"),
    }
}

/// Whether a cell may be called so: it becomes a file name.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=MAX_NAME).contains(&text.len()) && !text.starts_with('.') && text.chars().all(fits)
}

/// Whether a congestion control may be called so.
pub fn is_cc(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    (1..=MAX_CC).contains(&text.len()) && text.chars().all(fits)
}
