//! Figures by which a path is compared with a Run.

use crate::{
    run::{Better, Unit},
    text::{Text, Value},
};

/// A figure by which a path is compared with the Run. Its definition is next to its computation in
/// `twin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TwinFigure {
    /// Goodput.
    Goodput,
    /// Goodput of the slowest tenth of equal parts of a load: lower than the mean where the rate of
    /// the path varies.
    GoodputP10,
    /// Capacity of the path, by UDP sweep.
    Capacity,
    /// RTT of the probes under load, median, above the base RTT.
    AddedP50,
    /// RTT of the probes under load, 95th percentile, above the base RTT.
    AddedP95,
    /// The sender's smoothed RTT, median, above the base RTT.
    TcpAdded,
    /// Share of the sent bytes that were retransmitted.
    Retransmitted,
    /// RTT of the probes during more UDP than the path carries, above the base RTT.
    OverloadAdded,
}

/// Unknown name of a figure of a Twin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a twin has no figure {0}")]
pub struct UnknownTwinFigure(pub String);

impl TwinFigure {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Goodput,
        Self::GoodputP10,
        Self::Capacity,
        Self::AddedP50,
        Self::AddedP95,
        Self::TcpAdded,
        Self::Retransmitted,
        Self::OverloadAdded,
    ];

    /// Its name in documents, which ends with the unit, except for shares.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_bps",
            Self::GoodputP10 => "goodput_p10_bps",
            Self::Capacity => "capacity_bps",
            Self::AddedP50 => "added_p50_us",
            Self::AddedP95 => "added_p95_us",
            Self::TcpAdded => "tcp_added_us",
            Self::Retransmitted => "retransmitted",
            Self::OverloadAdded => "overload_added_us",
        }
    }

    /// Its unit.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Goodput | Self::GoodputP10 | Self::Capacity => Unit::BitsPerSecond,
            Self::AddedP50 | Self::AddedP95 | Self::TcpAdded | Self::OverloadAdded => {
                Unit::Microseconds
            }
            Self::Retransmitted => Unit::Share,
        }
    }

    /// Its direction of improvement.
    pub const fn better(self) -> Better {
        match self {
            Self::Goodput | Self::GoodputP10 | Self::Capacity => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// Its description: the English text, and the template of its translations.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::GoodputP10 => "goodput of the slowest tenth",
            Self::Capacity => "capacity",
            Self::AddedP50 => "added delay",
            Self::AddedP95 => "added delay, P95",
            Self::TcpAdded => "delay added to TCP's RTT",
            Self::Retransmitted => "retransmitted",
            Self::OverloadAdded => "delay added by UDP overload",
        }
    }

    /// Its description as a text.
    pub const fn words(self) -> Text {
        Text::fixed(self.text())
    }

    /// A value of it, with its unit.
    pub fn value(self, number: f64) -> Value {
        self.unit().value(number)
    }

    /// Returns true if it is an added delay.
    pub fn is_delay(self) -> bool {
        self.unit() == Unit::Microseconds
    }
}

crate::names::by_name!(TwinFigure, UnknownTwinFigure);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_the_figures_they_were_and_end_with_their_units() {
        for figure in TwinFigure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
            assert!(figure.name().ends_with(figure.unit().suffix()));
        }
        assert!("luck".parse::<TwinFigure>().is_err());
    }

    #[test]
    fn a_goodput_of_a_twin_is_better_when_higher_and_a_delay_when_lower() {
        assert_eq!(TwinFigure::Goodput.better(), Better::Higher);
        assert_eq!(TwinFigure::AddedP95.better(), Better::Lower);
        assert!(TwinFigure::AddedP95.is_delay() && !TwinFigure::Retransmitted.is_delay());
    }
}
