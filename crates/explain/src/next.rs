//! The next step, the same in the summary and in every report.

use analysis::view::View;
use model::{
    cause::CauseCode,
    findings::{CannotTell, Finding, Findings, Next},
    net::Side,
    plan::Preset,
    run::Run,
    text::Text,
};

/// Returns the next action: the first remedy of the most important finding that has one, else the
/// measurement that decides most of the open causes. `None` if nothing is open either.
pub fn next(run: &Run, findings: &Findings) -> Option<Next> {
    let mut remedies = findings.problems().filter_map(|f| f.remedies.first());
    if let Some(remedy) = remedies.next() {
        return Some(Next::Remedy(Box::new(remedy.clone())));
    }
    // What a lab cannot have is no reason to measure a path of it again where nothing is wrong.
    let healthy = |f: &&Finding| run.lab && f.code == CauseCode::HEALTHY;
    let healthy = findings.findings.iter().find(healthy);
    if let Some(remedy) = healthy.and_then(|f| f.remedies.first()) {
        return Some(Next::Remedy(Box::new(remedy.clone())));
    }
    let (settle, decides) = measurement(&findings.cannot_tell)?;
    Some(Next::Measure {
        settle,
        decides,
        longer: longer(run),
    })
}

/// The measurement that decides most of the open causes, the first of several, and how many.
pub(crate) fn measurement(open: &[CannotTell]) -> Option<(Text, usize)> {
    let mut wanted: Vec<(&Text, usize)> = Vec::new();
    for item in open {
        match wanted.iter_mut().find(|(text, _)| **text == item.settle) {
            Some((_, count)) => *count += 1,
            None => wanted.push((&item.settle, 1)),
        }
    }
    wanted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (settle, decides) = wanted.first()?;
    Some(((*settle).clone(), *decides))
}

/// The next longer plan between the same hosts; the same one if the run ended before it was done.
fn longer(run: &Run) -> Option<Preset> {
    let one_host = View::new(run).is_some_and(|view| view.host(Side::Near).is_both_ends());
    let is_on_hosts = !run.lab && !run.layers.is_empty() && !one_host;
    let plan = run.plan.name.parse::<Preset>().ok()?;
    let wanted = match run.cut_short {
        Some(_) => Some(plan),
        None => plan.longer(),
    };
    wanted.filter(|_| is_on_hosts)
}

#[cfg(test)]
mod tests {
    use model::findings::Place;

    use super::*;

    fn open(settle: &'static str) -> CannotTell {
        CannotTell {
            code: CauseCode::CPU_CORE,
            place: Place::default(),
            because: Text::fixed("it was not measured"),
            settle: Text::fixed(settle),
        }
    }

    /// The summary named the measurement for the first open cause, the answer named the one that
    /// decides most of them.
    #[test]
    fn the_measurement_that_decides_most_is_the_next_and_of_equals_the_first() {
        let all = [open("a"), open("b"), open("b"), open("c"), open("c")];
        let (settle, decides) = measurement(&all).unwrap();
        assert_eq!((settle.to_string().as_str(), decides), ("b", 2));
        assert_eq!(measurement(&[]), None);
    }
}
