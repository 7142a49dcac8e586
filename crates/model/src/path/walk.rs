//! Visitors of all parameters of a path, by name.

use super::{Limit, Nanos, Parameter, Source};
use crate::{
    cell::{Buffer, EndQdisc, Peak, Policer, Quantiles, Queue, RateSteps, TunnelAt, TunnelKind},
    net::IpVersion,
    units::{Bytes, Rate, Share},
};

/// A known parameter of any type.
pub(super) trait Stated {
    fn source(&self) -> Source;
    /// Returns true if the value lies within its interval, or has none.
    fn is_within(&self) -> bool;
}

impl<T: AtMost> Stated for Parameter<T> {
    fn source(&self) -> Source {
        self.source
    }

    fn is_within(&self) -> bool {
        let above = self.low.as_ref().is_none_or(|low| low.at_most(&self.value));
        above
            && self
                .high
                .as_ref()
                .is_none_or(|high| self.value.at_most(high))
    }
}

/// Values that can have an interval.
pub(super) trait AtMost {
    /// Returns true if it is known to be at most the other; never for names, which have no order.
    fn at_most(&self, other: &Self) -> bool;
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl AtMost for $number {
            fn at_most(&self, other: &Self) -> bool {
                self <= other
            }
        })*
    };
}
numbers!(u16, u32, Nanos, Rate, Bytes, Share);

impl<T: AtMost> AtMost for Limit<T> {
    fn at_most(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::At(one), Self::At(two)) => one.at_most(two),
            (_, other) => matches!(other, Self::Unlimited),
        }
    }
}

impl AtMost for Buffer {
    fn at_most(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Packets(one), Self::Packets(two)) => one <= two,
            (Self::Bytes(one), Self::Bytes(two)) => one <= two,
            _ => false,
        }
    }
}

macro_rules! words {
    ($($word:ty),*) => {
        $(impl AtMost for $word {
            fn at_most(&self, _: &Self) -> bool {
                false
            }
        })*
    };
}
words!(
    Policer, Peak, RateSteps, Quantiles, bool, String, Queue, EndQdisc, IpVersion, TunnelKind,
    TunnelAt
);

/// Called with each known parameter and its dotted name.
pub(super) type Visitor<'a> = dyn FnMut(&str, &dyn Stated) + 'a;

/// A part of the document that contains parameters.
pub(super) trait Walk {
    fn walk(&self, name: &str, visit: &mut Visitor<'_>);
}

impl<T: AtMost> Walk for Parameter<T> {
    fn walk(&self, name: &str, visit: &mut Visitor<'_>) {
        visit(name, self);
    }
}

impl<T: Walk> Walk for Option<T> {
    fn walk(&self, name: &str, visit: &mut Visitor<'_>) {
        if let Some(inner) = self {
            inner.walk(name, visit);
        }
    }
}

/// Returns true if nothing in it is known; such parts are left out of the document.
pub(super) fn is_unknown(part: &impl Walk) -> bool {
    let mut known = false;
    part.walk("", &mut |_, _| known = true);
    !known
}

/// Takes unknown values from another instance.
pub(super) trait Fill {
    fn fill(&mut self, other: Self);
}

impl<T> Fill for Option<T> {
    fn fill(&mut self, other: Self) {
        if self.is_none() {
            *self = other;
        }
    }
}

/// A field of a table of the document, for the reference.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
}

/// Declares a table of the document: a struct of optional fields, the visitor of its fields, and
/// their names and descriptions for the reference.
macro_rules! table {
    ($(#[$outer:meta])* pub struct $table:ident {
        $($(#[doc = $doc:literal])* $field:ident: $inner:ty,)*
    }) => {
        $(#[$outer])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $table {
            $($(#[doc = $doc])*
            #[serde(skip_serializing_if = "crate::path::walk::is_unknown")]
            pub $field: $inner,)*
        }

        impl crate::path::walk::Walk for $table {
            fn walk(&self, name: &str, visit: &mut crate::path::walk::Visitor<'_>) {
                $(crate::path::walk::Walk::walk(
                    &self.$field, &format!("{name}.{}", stringify!($field)), visit,
                );)*
            }
        }

        impl crate::path::walk::Fill for $table {
            fn fill(&mut self, other: Self) {
                $(crate::path::walk::Fill::fill(&mut self.$field, other.$field);)*
            }
        }

        impl $table {
            pub(super) const FIELDS: &[crate::path::walk::Field] = &[
                $(crate::path::walk::Field {
                    name: stringify!($field),
                    meaning: concat!($($doc),*),
                },)*
            ];
        }
    };
}
pub(super) use table;
