//! Bounds of evidence: texts with the threshold that a rule compares with.

use model::{
    text,
    text::{Text, Value},
};

/// The figure has at least this value.
pub(crate) fn at_least(bound: Value) -> Text {
    text!("at least {bound}", bound = bound)
}

/// The figure has at most this value.
pub(crate) fn at_most(bound: Value) -> Text {
    text!("at most {bound}", bound = bound)
}

/// The figure is above this value.
pub(crate) fn above(bound: Value) -> Text {
    text!("above {bound}", bound = bound)
}

/// The figure is below this value.
pub(crate) fn below(bound: Value) -> Text {
    text!("below {bound}", bound = bound)
}
