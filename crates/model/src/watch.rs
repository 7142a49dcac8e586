//! Figures of a watched path.

use crate::{
    run::{Better, Unit},
    text,
    text::{Text, Value},
};

/// A watched figure: of an hour of probes, or of a load. A watch keeps times in seconds, the base
/// unit of its metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchFigure {
    /// RTT without load: median of an hour's probes.
    Rtt,
    /// Share of an hour's probes without an answer.
    Lost,
    /// Goodput of a load by one flow.
    Goodput,
    /// Added delay of that load: median RTT beside it over the base RTT.
    Added,
}

/// Unknown name of a watched figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a watch has no figure {0}")]
pub struct UnknownWatchFigure(pub String);

impl WatchFigure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rtt, Self::Lost, Self::Goodput, Self::Added];

    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rtt => "rtt",
            Self::Lost => "lost",
            Self::Goodput => "goodput",
            Self::Added => "added",
        }
    }

    /// Its unit.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Rtt | Self::Added => Unit::Seconds,
            Self::Lost => Unit::Share,
            Self::Goodput => Unit::BitsPerSecond,
        }
    }

    /// Its direction of improvement.
    pub const fn better(self) -> Better {
        match self {
            Self::Goodput => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// Its description: the English text, and the template of its translations.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Rtt => "RTT without load",
            Self::Lost => "lost probes",
            Self::Goodput => "goodput",
            Self::Added => "delay added by a load",
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

    /// Returns true if it comes from probes, not from loads.
    pub const fn is_of_probes(self) -> bool {
        matches!(self, Self::Rtt | Self::Lost)
    }
}

/// A change of a figure from one value to another; `share`: after over before, less one, if that is
/// known. From twice the value on it is named as a ratio.
pub fn shift(before: Value, after: Value, share: Option<f64>) -> Text {
    let shift = text!("{before} to {after}", before = before, after = after);
    let by = |share: f64| Value::Share(share.abs());
    match share {
        None => shift,
        Some(share) if share < 0.0 => {
            text!("{shift}, {by} lower", shift = shift, by = by(share))
        }
        Some(share) if share >= 1.0 => {
            let times = Value::Ratio(1.0 + share);
            text!("{shift}, {times} as high", shift = shift, times = times)
        }
        Some(share) => text!("{shift}, {by} higher", shift = shift, by = by(share)),
    }
}

crate::names::by_name!(WatchFigure, UnknownWatchFigure);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_the_figures_they_were() {
        for figure in WatchFigure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
        }
        assert!("luck".parse::<WatchFigure>().is_err());
    }

    /// Probes were lost on a path that had lost almost none.
    #[test]
    fn from_twice_a_value_on_a_change_is_named_as_a_ratio() {
        let lost = |share| WatchFigure::Lost.value(share);
        let text =
            |after: f64| shift(lost(0.002), lost(after), Some(after / 0.002 - 1.0)).to_string();
        assert_eq!(text(0.003), "0.2 % to 0.3 %, 50 % higher");
        assert_eq!(text(0.004), "0.2 % to 0.4 %, 2 times as high");
        assert_eq!(text(0.1), "0.2 % to 10 %, 50 times as high");
    }

    /// The watch keeps seconds, a Run microseconds: both are shown as milliseconds.
    #[test]
    fn twenty_milliseconds_are_shown_as_such() {
        assert_eq!(WatchFigure::Rtt.value(0.02).to_string(), "20 ms");
        assert_eq!(WatchFigure::Goodput.value(5e6).to_string(), "5 Mbit/s");
    }
}
