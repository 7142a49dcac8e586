//! Any bytes as a Twin or an Advice: refused, or shown without a panic and read back as written; a
//! Run is refused or its moments are finite.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use model::{
    advice::{Advice, Keep},
    run::Run,
    twin::Twin,
};
use twin::{Budget, Fit, Objective, Trials};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(twin) = Twin::parse(bytes) {
        let _ = report::twin::text(&twin);
        let objective = Objective {
            budget: Budget::Of(Duration::from_secs(600)),
            ..Objective::default()
        };
        if let Ok(trials) = Trials::prepare(&twin, objective, "fuzz") {
            assert!(trials.runs() > 0 && is_finite(&trials.forecast()));
        }
        let written = serde_json::to_vec(&twin).expect("a Twin is JSON");
        assert!(Twin::parse(&written).is_ok());
    }
    if let Ok(advice) = Advice::parse(bytes) {
        let _ = report::advice::text(&advice);
    }
    if let Ok(run) = Run::parse(bytes)
        && let Ok(fit) = Fit::prepare(&run, Budget::default(), "fuzz")
    {
        assert!(fit.forecast().is_none_or(|text| is_finite(&text)));
        assert!(fit.moments().rtt_s.value.is_finite());
    }
    if let Ok(text) = str::from_utf8(bytes) {
        if let Ok(keep) = text.parse::<Keep>() {
            let again: Keep = keep.to_string().parse().expect("what is written is read");
            assert_eq!(again.figure, keep.figure);
        }
    }
});

/// Whether the duration in a forecast is a number.
fn is_finite(forecast: &str) -> bool {
    !["inf", "NaN"].iter().any(|not| forecast.contains(not))
}
