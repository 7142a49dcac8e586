//! Collector of the invalid values of a cell.

use std::time::Duration;

use super::{
    bounds::{MAX_RATE, MAX_TIME},
    field::Field,
    rule::{Impossible, Rule},
};
use crate::units::{Bytes, Rate, show_duration};

/// Collects invalid values.
#[derive(Debug, Default)]
pub(super) struct Check(pub(super) Vec<Impossible>);

impl Check {
    pub(super) fn refuse(&mut self, field: Field, rule: Rule) {
        self.0.push(Impossible { field, rule });
    }

    /// Records a violation unless `holds`.
    pub(super) fn need(&mut self, holds: bool, field: Field, rule: Rule) {
        if !holds {
            self.refuse(field, rule);
        }
    }

    pub(super) fn time(&mut self, value: Duration, least: Duration, field: Field) {
        self.within(value, least, MAX_TIME, field, show_duration);
    }

    pub(super) fn size(&mut self, value: Option<Bytes>, least: Bytes, most: Bytes, field: Field) {
        if let Some(value) = value {
            self.within(value, least, most, field, |size| size.to_string());
        }
    }

    pub(super) fn rate(&mut self, value: Option<Rate>, field: Field) {
        let Some(rate) = value else { return };
        self.need(rate.bps() > 0, field, Rule::NoRate);
        self.within(rate, Rate::from_bps(0), MAX_RATE, field, |rate| {
            rate.to_string()
        });
    }

    pub(super) fn count(&mut self, value: u32, least: u32, most: u32, field: Field) {
        self.within(value, least, most, field, |count| count.to_string());
    }

    pub(super) fn within<T: PartialOrd + Copy>(
        &mut self,
        value: T,
        least: T,
        most: T,
        field: Field,
        show: impl Fn(T) -> String,
    ) {
        if value < least {
            let (value, least) = (show(value), show(least));
            self.refuse(field, Rule::TooSmall { value, least });
        } else if value > most {
            let (value, most) = (show(value), show(most));
            self.refuse(field, Rule::TooLarge { value, most });
        }
    }
}
