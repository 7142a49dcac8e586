//! Numbers in the format of iperf3.

use serde_json::Value;

/// An integer. iperf 3.13 and older write a negative one as 2^64 more, so a value above the
/// positive half is negative; a fraction is cut off.
pub(super) fn integer(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    if let Some(n) = number.as_i64() {
        return Some(n);
    }
    if let Some(n) = number.as_u64() {
        return Some(n.cast_signed());
    }
    let n = number.as_f64()?;
    // As floats, -1 and its neighbours became 2^64.
    Some(if n >= 9_223_372_036_854_775_808.0 {
        -1
    } else {
        n as i64
    })
}

/// A flag that iperf3 writes as a number.
pub(super) fn flag(value: &Value) -> bool {
    integer(value).is_some_and(|n| n != 0)
}
