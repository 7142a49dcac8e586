//! Round trips of quantities: printed values parse to the same value.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use model::{
    cell::Loss,
    cell::bounds::{MAX_RATE, MAX_SIZE, MAX_TIME},
    spec::quantity::{self, show_duration, show_loss},
    units::{Bytes, Rate, Share},
};
use proptest::prelude::*;

fn shares() -> impl Strategy<Value = Share> {
    prop_oneof![
        Just(0.0),
        Just(1.0),
        (0u32..=10_000).prop_map(|n| f64::from(n) / 10_000.0),
        0.0..=1.0,
        1e-12..1e-6,
    ]
    .prop_map(|x| Share::new(x).unwrap())
}

fn losses() -> impl Strategy<Value = Loss> {
    let random = shares().prop_filter("all or none", |p| !p.is_zero() && p.get() < 1.0);
    let gilbert = (shares(), shares(), shares(), shares())
        .prop_filter("stuck", |(p, r, bad, good)| {
            good.get() < 1.0 && !(r.is_zero() && !p.is_zero() && bad.get() == 1.0)
        })
        .prop_map(|(p, r, bad, good)| Loss::GilbertElliott { p, r, bad, good });
    prop_oneof![
        Just(Loss::None),
        random.prop_map(Loss::Random),
        gilbert,
        proptest::sample::select(vec![2, 3, 1000, 65_535]).prop_map(Loss::Every),
    ]
}

proptest! {
    #[test]
    fn durations(ns in 0..=MAX_TIME.as_nanos() as u64) {
        let span = Duration::from_nanos(ns);
        prop_assert_eq!(quantity::duration(&show_duration(span)), Ok(span));
    }

    #[test]
    fn decimals_are_exact(whole in 0u64..100_000, part in 0u64..1_000_000) {
        let text = format!("{whole}.{part:06}ms");
        let expected = Duration::from_nanos(whole * 1_000_000 + part);
        prop_assert_eq!(quantity::duration(&text), Ok(expected));
    }

    #[test]
    fn rates(bps in 1..=MAX_RATE.bps()) {
        let rate = Rate::from_bps(bps);
        prop_assert_eq!(quantity::rate(&rate.to_string()), Ok(rate));
        prop_assert_eq!(quantity::rate(&format!(" {rate}/s ")), Ok(rate));
    }

    #[test]
    fn sizes(bytes in 0..=MAX_SIZE.0) {
        prop_assert_eq!(quantity::size(&Bytes(bytes).to_string()), Ok(Bytes(bytes)));
    }

    #[test]
    fn percentages(share in shares()) {
        prop_assert_eq!(quantity::share(&share.to_string()), Ok(share));
    }

    #[test]
    fn losses_of_all_kinds(loss in losses()) {
        prop_assert_eq!(quantity::loss(&show_loss(&loss)), Ok(loss));
    }

    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ = quantity::duration(&text);
        let _ = quantity::rate(&text);
        let _ = quantity::size(&text);
        let _ = quantity::share(&text);
        let _ = quantity::loss(&text);
    }

    #[test]
    fn no_number_panics(number in "-?[0-9]{0,60}[.]?[0-9]{0,60}(e[0-9]+)?", unit in "[a-zA-Z%/]{0,6}") {
        let text = format!("{number}{unit}");
        let _ = quantity::duration(&text);
        let _ = quantity::rate(&text);
        let _ = quantity::size(&text);
        let _ = quantity::share(&text);
    }
}

#[test]
fn shares_print_as_people_write_them() {
    for text in [
        "0%", "100%", "0.5%", "12.5%", "1%", "99.99%", "0.0001%", "10%",
    ] {
        assert_eq!(quantity::share(text).unwrap().to_string(), text);
    }
}
