//! Parameters of a line of a twin in words: what is assumed, or known as a bound only, is not shown
//! as known.

use model::{
    cell::Buffer,
    path::{Limit, Loss, Parameter, Source},
    text,
    text::{Text, Value},
    units::{Rate, Share},
};

/// A rate with its bounds.
pub(crate) fn rate(rate: &Parameter<Limit<Rate>>) -> Text {
    let shown = |limit: &Limit<Rate>| match limit {
        Limit::At(rate) => Value::Bps(rate.bps() as f64),
        Limit::Unlimited => text!("unlimited").into(),
    };
    // The unit once.
    let bound = |limit: &Limit<Rate>| match limit {
        Limit::At(rate) => Value::Count(rate.bps() as f64 / 1e6),
        Limit::Unlimited => text!("unlimited").into(),
    };
    let bounds = rate.low.as_ref().zip(rate.high.as_ref());
    within(
        shown(&rate.value),
        bounds.map(|(low, high)| [bound(low), bound(high)]),
    )
}

/// The size of a buffer: an assumed one by its lower bound, which is all that is known.
pub(crate) fn buffer(buffer: &Parameter<Buffer>) -> Option<Text> {
    let shown = |of: &Buffer| match of {
        Buffer::Bytes(bytes) => Some(Value::Bytes(bytes.0 as f64)),
        Buffer::Packets(packets) => Some(text!("{n} packets", n = u64::from(*packets)).into()),
        Buffer::Kernel => None,
    };
    let value = shown(&buffer.value)?;
    let (low, high) = (buffer.low.as_ref(), buffer.high.as_ref());
    Some(match (low.and_then(shown), high.and_then(shown)) {
        (Some(low), _) if buffer.source == Source::Assumed => text!("at least {low}", low = low),
        (Some(low), Some(high)) => within(value, Some([low, high])),
        _ => within(value, None),
    })
}

/// Loss outside of the queue: none that was seen is not none.
pub(crate) fn loss(loss: &Loss) -> Text {
    let share = |of: Share| Value::Share(of.get());
    match loss {
        Loss::Random { share: p } => match &p.high {
            Some(high) if p.value.is_zero() && p.source == Source::Assumed => {
                text!("unknown (below {high})", high = share(*high))
            }
            Some(high) if p.value.is_zero() => {
                text!("none seen (below {high})", high = share(*high))
            }
            None if p.value.is_zero() && p.source == Source::Assumed => text!("unknown"),
            _ => within(share(p.value), None),
        },
        Loss::Bursts { r, .. } => text!(
            "{share}, {n} at a time",
            share = Value::Share(loss.average()),
            n = Value::Count(1.0 / r.value.get().max(1e-9))
        ),
        Loss::Every { packets } => text!("every {n}", n = u64::from(packets.value)),
    }
}

fn within(value: Value, bounds: Option<[Value; 2]>) -> Text {
    match bounds {
        Some([low, high]) => text!(
            "{value} [{low}, {high}]",
            value = value,
            low = low,
            high = high
        ),
        None => text!("{value}", value = value),
    }
}

#[cfg(test)]
mod tests {
    use model::units::Bytes;

    use super::*;

    /// Bug: the page of a twin showed an assumed buffer and a loss that nobody had looked for as if
    /// they were known.
    #[test]
    fn what_is_assumed_is_not_shown_as_known() {
        let share = |percent: f64| Share::new(percent / 100.0).unwrap();
        let lossless = |source| Loss::Random {
            share: Parameter {
                value: share(0.0),
                low: None,
                high: Some(share(4.0)),
                source,
            },
        };
        let shown = |of: Loss| loss(&of).to_string();
        assert_eq!(shown(lossless(Source::Assumed)), "unknown (below 4 %)");
        assert_eq!(shown(lossless(Source::Fitted)), "none seen (below 4 %)");
        let assumed = Parameter {
            value: Buffer::Bytes(Bytes(1_500_000)),
            low: Some(Buffer::Bytes(Bytes(70_000))),
            high: None,
            source: Source::Assumed,
        };
        assert_eq!(buffer(&assumed).unwrap().to_string(), "at least 70 kB");
    }
}
