//! Bounds that a remedy must keep: `goodput>=90%`, `rtt-p99<=80ms`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{figure::AdviceFigure, outcome::Outcome};
use crate::{
    net::Direction,
    run::Unit,
    spec::quantity::{QuantityError, duration, rate, share},
    text,
    text::{Text, Value},
};

/// A bound on a figure, in one direction or in both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Keep {
    /// The figure.
    pub figure: AdviceFigure,
    /// The direction; absent = both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Direction of the bound: at least or at most.
    pub bound: Bound,
    /// The value.
    pub value: Kept,
}

/// Side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
}

/// Value of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// A share of the figure without any change, 1 = unchanged.
    OfUnchanged(f64),
    /// A value in the figure's own unit: bit/s, µs or a share.
    Value(f64),
}

/// Error parsing a bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KeepError {
    /// Neither >= nor <=.
    #[error("`{0}` has neither >= nor <=; write for example goodput>=90% or rtt-p99<=80ms")]
    NoBound(String),
    /// An unknown figure.
    #[error(
        "`{0}` is no figure; known are goodput, rtt, rtt-p99 and retransmitted, each with -down or -up for one direction"
    )]
    Figure(String),
    /// An unreadable value.
    #[error("`{value}` is no value of {}: {why}", .figure.option())]
    Value {
        /// The figure.
        figure: AdviceFigure,
        /// The value given.
        value: String,
        /// The reason.
        why: KeptError,
    },
}

/// Reason why a text is no value of a bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KeptError {
    /// Not a percentage of the unchanged figure.
    #[error("a percentage is a number from 0 to 10000")]
    Percentage,
    /// Not a quantity of the figure's kind.
    #[error("{0}")]
    Quantity(#[from] QuantityError),
}

impl Keep {
    /// The bound as a text.
    pub fn text(&self) -> Text {
        let figure = self.figure.measured();
        let figure = match self.direction {
            Some(direction) => text!(
                "{figure} ({direction})",
                figure = figure,
                direction = direction
            ),
            None => figure,
        };
        let value = match self.value {
            Kept::OfUnchanged(share) => {
                let share = Value::Share(share);
                text!("{share} of the value without a change", share = share).into()
            }
            Kept::Value(value) => self.figure.value(value),
        };
        match self.bound {
            Bound::AtLeast => text!("{figure} >= {value}", figure = figure, value = value),
            Bound::AtMost => text!("{figure} <= {value}", figure = figure, value = value),
        }
    }

    /// Returns true if it applies to this direction.
    pub fn is_of(&self, direction: Direction) -> bool {
        self.direction.is_none_or(|own| own == direction)
    }

    /// Returns true if an outcome satisfies it, compared with the outcome without any change;
    /// `None` if a value that it needs was not measured.
    pub fn holds(&self, unchanged: &Outcome, with: &Outcome) -> Option<bool> {
        if !self.is_of(with.direction) {
            return Some(true);
        }
        self.is_kept(unchanged.value(self.figure), with.value(self.figure))
    }

    /// Returns true if a value of the figure satisfies it, compared with the value without any
    /// change; `None` if one that it needs is unknown.
    pub fn is_kept(&self, before: Option<f64>, after: Option<f64>) -> Option<bool> {
        let bound = match self.value {
            Kept::OfUnchanged(share) => share * before?,
            Kept::Value(value) => value,
        };
        Some(match self.bound {
            Bound::AtLeast => after? >= bound,
            Bound::AtMost => after? <= bound,
        })
    }
}

impl FromStr for Keep {
    type Err = KeepError;

    fn from_str(text: &str) -> Result<Self, KeepError> {
        let least = text.split_once(">=").map(|parts| (parts, Bound::AtLeast));
        let most = || text.split_once("<=").map(|parts| (parts, Bound::AtMost));
        let Some(((name, value), bound)) = least.or_else(most) else {
            return Err(KeepError::NoBound(text.to_owned()));
        };
        let (name, value) = (name.trim(), value.trim());
        let (plain, direction) = match name {
            _ if name.ends_with("-down") => (name.trim_end_matches("-down"), Some(Direction::Down)),
            _ if name.ends_with("-up") => (name.trim_end_matches("-up"), Some(Direction::Up)),
            _ => (name, None),
        };
        let known = AdviceFigure::ALL.into_iter().find(|f| f.option() == plain);
        let figure = known.ok_or_else(|| KeepError::Figure(name.to_owned()))?;
        let value = kept(figure, value).map_err(|why| KeepError::Value {
            figure,
            value: value.to_owned(),
            why,
        })?;
        Ok(Self {
            figure,
            direction,
            bound,
            value,
        })
    }
}

/// A share of retransmissions is absolute; of other figures a percentage is of the present value.
fn kept(figure: AdviceFigure, value: &str) -> Result<Kept, KeptError> {
    let of_now = value.strip_suffix('%').map(|number| {
        let percent: f64 = number.trim().parse().map_err(|_| KeptError::Percentage)?;
        let sound = percent.is_finite() && (0.0..=10_000.0).contains(&percent);
        sound
            .then_some(Kept::OfUnchanged(percent / 100.0))
            .ok_or(KeptError::Percentage)
    });
    match (figure.unit(), of_now) {
        (Unit::Share, _) => Ok(Kept::Value(share(value)?.get())),
        (_, Some(of_now)) => of_now,
        (Unit::BitsPerSecond, None) => Ok(Kept::Value(rate(value)?.bps() as f64)),
        (_, None) => Ok(Kept::Value(duration(value)?.as_secs_f64() * 1e6)),
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.figure.option())?;
        if let Some(direction) = self.direction {
            write!(f, "-{direction}")?;
        }
        f.write_str(match self.bound {
            Bound::AtLeast => ">=",
            Bound::AtMost => "<=",
        })?;
        match (self.value, self.figure.unit()) {
            (Kept::OfUnchanged(share), _) => write!(f, "{}%", share * 100.0),
            (Kept::Value(v), Unit::BitsPerSecond) => write!(f, "{v}bit"),
            (Kept::Value(v), Unit::Share) => write!(f, "{}%", v * 100.0),
            (Kept::Value(v), _) => write!(f, "{v}us"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(goodput_bps: f64, rtt_p99_us: f64) -> Outcome {
        Outcome {
            direction: Direction::Down,
            goodput_bps,
            rtt_p50_us: rtt_p99_us / 2.0,
            rtt_p99_us: Some(rtt_p99_us),
            retransmitted: None,
        }
    }

    #[test]
    fn a_percentage_is_relative_to_the_value_without_a_change() {
        let keep: Keep = "goodput>=90%".parse().unwrap();
        let now = outcome(100e6, 1.0);
        assert_eq!(keep.holds(&now, &outcome(91e6, 1.0)), Some(true));
        assert_eq!(keep.holds(&now, &outcome(89e6, 1.0)), Some(false));
    }

    #[test]
    fn a_bound_with_a_unit_is_absolute() {
        let keep: Keep = "rtt-p99 <= 80ms".parse().unwrap();
        assert_eq!(keep.value, Kept::Value(80_000.0));
        let holds = |before, after| keep.holds(&outcome(1.0, before), &outcome(1.0, after));
        assert_eq!(holds(9e9, 79_999.0), Some(true));
        assert_eq!(holds(1.0, 80_001.0), Some(false));
    }

    /// A missing value neither satisfies nor violates a bound; an absolute bound needs no value
    /// from before.
    #[test]
    fn a_bound_on_what_was_not_measured_neither_holds_nor_breaks() {
        let measured = outcome(1.0, 50_000.0);
        let unknown = Outcome {
            rtt_p99_us: None,
            ..measured
        };
        let absolute: Keep = "rtt-p99<=80ms".parse().unwrap();
        assert_eq!(absolute.holds(&measured, &unknown), None);
        assert_eq!(absolute.holds(&unknown, &measured), Some(true));
        let relative: Keep = "rtt-p99<=110%".parse().unwrap();
        assert_eq!(relative.holds(&unknown, &measured), None);
        let retransmitted: Keep = "retransmitted<=2%".parse().unwrap();
        assert_eq!(retransmitted.holds(&measured, &measured), None);
    }

    #[test]
    fn a_bound_on_one_direction_leaves_the_other_free() {
        let keep: Keep = "goodput-up>=50mbit".parse().unwrap();
        assert_eq!(keep.direction, Some(Direction::Up));
        let lower = outcome(1.0, 1.0);
        assert_eq!(keep.holds(&lower, &lower), Some(true));
    }

    #[test]
    fn a_bound_is_a_text_with_its_value_and_unit() {
        let words = |text: &str| text.parse::<Keep>().unwrap().text().to_string();
        assert_eq!(
            words("goodput>=90%"),
            "goodput >= 90 % of the value without a change"
        );
        assert_eq!(
            words("rtt-p99-up<=80ms"),
            "the 99th percentile of the loaded RTT (up) <= 80 ms"
        );
        assert_eq!(
            words("retransmitted<=2%"),
            "the share of retransmitted bytes <= 2 %"
        );
    }

    #[test]
    fn a_bound_round_trips() {
        for text in [
            "goodput>=90%",
            "goodput-down>=50mbit",
            "rtt<=120ms",
            "retransmitted<=2%",
        ] {
            let keep: Keep = text.parse().unwrap();
            assert_eq!(keep.to_string().parse::<Keep>().unwrap(), keep, "{text}");
        }
    }

    #[test]
    fn wrong_bounds_name_the_error() {
        let error = |text: &str| text.parse::<Keep>().unwrap_err().to_string();
        assert!(error("goodput=90%").contains("goodput>=90%"));
        assert!(error("speed>=1").contains("goodput, rtt"));
        assert!(error("rtt<=fast").contains("`fast` is no value of rtt"));
        assert!(error("goodput>=-5%").contains("percentage"));
        assert!(error("goodput>=NaN%").contains("percentage"));
    }
}
