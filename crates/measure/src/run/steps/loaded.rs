//! Probes and both hosts' counters during a load, and its failures.

use model::{
    evidence::Evidence,
    run::{Invalid, Probes, Sample},
    text,
};
use traffic::wire::Errors;

/// Probes and counters during a load.
#[derive(Clone)]
pub(crate) struct Context {
    /// Start of the load, µs since the run began.
    pub(crate) load_at_us: u64,
    pub(crate) probes: Option<Probes>,
    pub(crate) near: Evidence,
    pub(crate) far: Evidence,
}

impl Context {
    /// The sample with all of it.
    pub(crate) fn apply(self, sample: Sample) -> Sample {
        Sample {
            load_at_us: Some(self.load_at_us),
            probes: self.probes,
            near: Some(self.near),
            far: Some(self.far),
            ..sample
        }
    }
}

/// Reasons why a sample does not count: connections of its load that failed at either end.
pub(crate) fn failures<'a>(ends: [&'a Errors; 2]) -> impl Iterator<Item = Invalid> + 'a {
    let errors = ends.into_iter().flat_map(|Errors(errors)| errors);
    errors.map(|why| {
        Invalid::failed(text!(
            "a connection of the load failed: {why}",
            why = why.clone()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_both_ends_keep_their_templates() {
        let near = Errors(vec![text!("timed out")]);
        let far = Errors(vec![text!("an answer of {n} bytes", n = 7_u64)]);
        let why: Vec<String> = failures([&near, &far])
            .map(|invalid| match invalid {
                Invalid::Failed { why } => why.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            why,
            [
                "a connection of the load failed: timed out",
                "a connection of the load failed: an answer of 7 bytes",
            ]
        );
        let nested = |invalid: Invalid| match invalid {
            Invalid::Failed { why } => why.values().next().map(|(_, value)| value.clone()),
            _ => None,
        };
        let value = failures([&near, &far]).nth(1).and_then(nested);
        assert_eq!(value, Some(far.0[0].clone().into()));
    }
}
