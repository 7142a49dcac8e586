//! Rules that the values of a cell must obey.

use std::time::Duration;

use super::{
    Queue,
    bounds::{MAX_CC, MAX_FLOWS, MAX_NAME, MAX_QUANTILE, MAX_STEPS, MIN_MTU_V6, MIN_STEP},
    field::Field,
};
use crate::units::{Bytes, Rate, show_duration};

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
    #[error("the queue is a policer already; choose another queue, or leave this out")]
    PolicerTwice,
    #[error("{}", without_rate_for("a peak rate"))]
    PeakWithoutRate,
    #[error("is not above the rate of {0}; the peak rate is the higher of the two")]
    PeakBelowRate(Rate),
    #[error("a queue of kind \"{0}\" has no peak rate; choose another queue")]
    PeakOfQueue(Queue),
    #[error("{}", without_rate_for("a changing rate"))]
    StepsWithoutRate,
    #[error("the rate of a policer does not change; choose another queue")]
    StepsOfPolicer,
    #[error("a rate that changes has no peak rate; leave one of the two out")]
    StepsWithPeak,
    #[error("has no changes; write for instance \"5s 20mbit, 10s 100mbit\"")]
    NoSteps,
    #[error("has {0} changes; the maximum is {MAX_STEPS}")]
    TooManySteps(usize),
    #[error("{rate} at {} is too slow; the minimum is {MIN_STEP}", show_duration(*at))]
    StepTooSlow { at: Duration, rate: Rate },
    #[error("the change at {} does not come after the one before it", show_duration(*.0))]
    StepsOutOfOrder(Duration),
    #[error("repeats after {}, before its last change", show_duration(*.0))]
    RepeatTooEarly(Duration),
    #[error("a delay has one distribution; leave jitter or jitter_quantiles out")]
    JitterTwice,
    #[error("has no quantiles; write for instance \"50% 1ms, 99% 20ms\"")]
    NoQuantiles,
    #[error("shares and delays must grow from one quantile to the next, from 0 on")]
    QuantilesOutOfOrder,
    #[error(
        "{} is too much; the maximum is {}", show_duration(*.0), show_duration(MAX_QUANTILE)
    )]
    QuantileTooLong(Duration),
    #[error("slots of no length; leave them out")]
    NoSlot,
    #[error("the kernel does not combine duplicates with slots; leave one of the two out")]
    SlotsWithDuplicates,
    #[error(
        "a stage of the tunnel and a local line have random loss, alone or in bursts; write a percentage or gemodel"
    )]
    PeriodicLossOfStage,
    #[error("a shaper of the router has no queue of kind \"{0}\"; choose another queue")]
    ShaperQueue(Queue),
    #[error(
        "the kernel drops every n-th packet at the hook where the router's shaper takes them; write a percentage or \
         gemodel, or leave local.down.shape out"
    )]
    PeriodicLossShaped,
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

fn without_rate_for(what: &str) -> String {
    format!("{what} needs a rate")
}

/// Returns true if this is a valid cell name, which is also used as a file name.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=MAX_NAME).contains(&text.len()) && !text.starts_with('.') && text.chars().all(fits)
}

/// Returns true if this is a valid name of a congestion control. All names in the kernel's tree are
/// of lowercase letters, digits, `_` and `-` (net/ipv4, Linux 7.2).
pub fn is_cc(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    (1..=MAX_CC).contains(&text.len()) && text.chars().all(fits)
}
