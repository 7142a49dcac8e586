//! Figures that remedies change.

use crate::{
    run::{Better, FigureKind, Unit},
    text,
    text::{Text, Value},
};

/// A figure that a remedy may change: an outcome of one flow in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdviceFigure {
    /// Goodput of one flow.
    Goodput,
    /// RTT of the probes beside it, median.
    LoadedP50,
    /// RTT of the probes beside it, 99th percentile.
    LoadedP99,
    /// Share of the sent bytes that were retransmitted.
    Retransmitted,
}

/// Unknown name of a figure of an Advice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an advice has no figure {0}")]
pub struct UnknownAdviceFigure(pub String);

impl AdviceFigure {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Goodput,
        Self::LoadedP50,
        Self::LoadedP99,
        Self::Retransmitted,
    ];

    /// Figures that an Advice predicts. A proof is judged by all.
    pub const PREDICTED: [Self; 3] = [Self::Goodput, Self::LoadedP50, Self::LoadedP99];

    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::LoadedP50 => "loaded_p50",
            Self::LoadedP99 => "loaded_p99",
            Self::Retransmitted => "retransmitted",
        }
    }

    /// Its name on the command line, in bounds.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::LoadedP50 => "rtt",
            Self::LoadedP99 => "rtt-p99",
            Self::Retransmitted => "retransmitted",
        }
    }

    /// The corresponding figure of a Run, for a TCP load of one flow.
    pub const fn kind(self) -> FigureKind {
        match self {
            Self::Goodput => FigureKind::Goodput,
            Self::LoadedP50 => FigureKind::RttP50,
            Self::LoadedP99 => FigureKind::RttP99,
            Self::Retransmitted => FigureKind::Retransmitted,
        }
    }

    /// Its unit.
    pub const fn unit(self) -> Unit {
        self.kind().unit()
    }

    /// Its direction of improvement.
    pub const fn better(self) -> Better {
        self.kind().better()
    }

    /// Its description: the English text, and the template of its translations.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::LoadedP50 => "loaded RTT",
            Self::LoadedP99 => "loaded P99",
            Self::Retransmitted => "retransmitted",
        }
    }

    /// Its description as a text.
    pub const fn words(self) -> Text {
        Text::fixed(self.text())
    }

    /// Its name within a sentence.
    pub fn measured(self) -> Text {
        match self {
            Self::Goodput => text!("goodput"),
            Self::LoadedP50 => text!("the loaded RTT"),
            Self::LoadedP99 => text!("the 99th percentile of the loaded RTT"),
            Self::Retransmitted => text!("the share of retransmitted bytes"),
        }
    }

    /// A value of it, with its unit.
    pub fn value(self, number: f64) -> Value {
        self.unit().value(number)
    }

    /// Returns the gain of a ratio of values: its logarithm, positive if the figure improves.
    pub fn gain(self, ratio: f64) -> f64 {
        match self.better() {
            Better::Lower => -ratio.ln(),
            Better::Higher | Better::Neither => ratio.ln(),
        }
    }
}

crate::names::by_name!(AdviceFigure, UnknownAdviceFigure);

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of version 1 of Advice, Proof and bounds.
    #[test]
    fn names_in_documents_stay() {
        let names = AdviceFigure::ALL.map(AdviceFigure::name);
        assert_eq!(
            names,
            ["goodput", "loaded_p50", "loaded_p99", "retransmitted"]
        );
        for figure in AdviceFigure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
        }
        assert!("luck".parse::<AdviceFigure>().is_err());
    }

    #[test]
    fn twice_the_goodput_is_as_much_better_as_half_the_delay() {
        let (goodput, delay) = (AdviceFigure::Goodput, AdviceFigure::LoadedP99);
        assert!((goodput.gain(2.0) - delay.gain(0.5)).abs() < 1e-12);
        assert!(goodput.gain(0.5) < 0.0 && delay.gain(2.0) < 0.0);
    }
}
