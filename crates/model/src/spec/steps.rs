//! Changes of a rate and distributions of a delay as text, and traces of rates in files.

use std::time::Duration;

use super::quantity::{self, QuantityError, StepsError, ValueError, show_duration};
use crate::{
    cell::{
        ETHERNET_HEADER, Quantile, Quantiles, RateStep, RateSteps,
        bounds::{MAX_STEPS, MIN_STEP},
        default, quantiles_rule, steps_alone_rule,
    },
    units::Rate,
};

/// Changes of a rate as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepsText {
    None,
    Steps(RateSteps),
    /// The name of a file with a trace, not read yet.
    File(String),
}

/// Word in front of the name of a file.
const TRACE: &str = "trace:";

/// First line of a trace of rates.
const HEADER: &str = "seconds,mbit";

/// Time over which the deliveries of a mahimahi trace are averaged.
const BIN: Duration = Duration::from_millis(100);

/// Reads `none`, `trace:FILE`, or changes such as `5s 20mbit, 10s 100mbit, repeat 20s`.
pub(super) fn steps(text: &str) -> Result<StepsText, ValueError> {
    let text = text.trim();
    if text == "none" {
        return Ok(StepsText::None);
    }
    if let Some(file) = text.strip_prefix(TRACE) {
        let file = file.trim().to_owned();
        return match file.is_empty() {
            true => Err(StepsError::NoFile.into()),
            false => Ok(StepsText::File(file)),
        };
    }
    let mut all = RateSteps {
        steps: Vec::new(),
        repeat: None,
    };
    for part in text.split(',').map(str::trim) {
        match part.split_once(char::is_whitespace) {
            Some(("repeat", span)) if all.repeat.is_none() => {
                all.repeat = Some(quantity::duration(span)?);
            }
            Some((at, rate)) if all.repeat.is_none() => all.steps.push(RateStep {
                at: quantity::duration(at)?,
                rate: quantity::rate(rate)?,
            }),
            _ => return Err(StepsError::NotStep(part.to_owned()).into()),
        }
    }
    match steps_alone_rule(&all) {
        Some(rule) => Err(rule.into()),
        None => Ok(StepsText::Steps(all)),
    }
}

/// Writes changes in the form that [`steps`] reads.
pub(super) fn show_steps(steps: &RateSteps) -> String {
    let mut parts: Vec<String> = steps
        .steps
        .iter()
        .map(|step| format!("{} {}", show_duration(step.at), step.rate))
        .collect();
    parts.extend(
        steps
            .repeat
            .map(|span| format!("repeat {}", show_duration(span))),
    );
    parts.join(", ")
}

/// Reads `none`, or quantiles such as `50% 1ms, 99% 20ms`.
pub(super) fn quantiles(text: &str) -> Result<Option<Quantiles>, ValueError> {
    if text.trim() == "none" {
        return Ok(None);
    }
    let one = |part: &str| -> Result<Quantile, ValueError> {
        let part = part.trim();
        let (share, delay) = part
            .split_once(char::is_whitespace)
            .ok_or_else(|| StepsError::NotQuantile(part.to_owned()))?;
        Ok(Quantile {
            share: quantity::share(share)?,
            delay: quantity::duration(delay)?,
        })
    };
    let all = text.split(',').map(one).collect::<Result<_, _>>()?;
    let all = Quantiles(all);
    match quantiles_rule(&all) {
        Some(rule) => Err(rule.into()),
        None => Ok(Some(all)),
    }
}

/// Writes quantiles in the form that [`quantiles`] reads.
pub(super) fn show_quantiles(quantiles: &Quantiles) -> String {
    let show = |q: &Quantile| format!("{} {}", q.share, show_duration(q.delay));
    let all: Vec<String> = quantiles.0.iter().map(show).collect();
    all.join(", ")
}

/// Reads a trace: a CSV file of seconds and Mbit/s, or the times of deliveries of mahimahi.
///
/// # Errors
/// The text is neither, or breaks a rule of changes.
pub fn trace(file: &str, text: &str) -> Result<RateSteps, StepsError> {
    let rows: Vec<(usize, &str)> = (1..)
        .zip(text.lines().map(str::trim))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let name = || file.to_owned();
    let mut steps = match rows.split_first() {
        Some(((_, HEADER), rows)) => rates(file, rows)?,
        Some(((_, first), _)) if first.parse::<u64>().is_ok() => deliveries(file, &rows)?,
        _ => return Err(StepsError::NoTrace { file: name() }),
    };
    steps
        .steps
        .dedup_by(|later, earlier| later.rate == earlier.rate);
    match steps_alone_rule(&steps) {
        Some(rule) => Err(StepsError::Trace {
            file: name(),
            why: Box::new(rule),
        }),
        None => Ok(steps),
    }
}

/// Rows of seconds and Mbit/s. A last row without a rate is the time after which they start again.
fn rates(file: &str, rows: &[(usize, &str)]) -> Result<RateSteps, StepsError> {
    let mut all = RateSteps {
        steps: Vec::new(),
        repeat: None,
    };
    for &(line, text) in rows {
        let wrong = || StepsError::NotRow {
            file: file.to_owned(),
            line,
            text: text.to_owned(),
        };
        let (at, rate) = text.split_once(',').ok_or_else(wrong)?;
        // Exact decimals, as in a spec.
        let at = quantity::duration(&format!("{}s", at.trim())).map_err(|_| wrong())?;
        if all.repeat.is_some() {
            return Err(wrong());
        }
        match rate.trim() {
            "" => all.repeat = Some(at),
            rate => {
                let rate = step_rate(&format!("{rate}mbit")).map_err(|_| wrong())?;
                all.steps.push(RateStep { at, rate });
            }
        }
    }
    Ok(all)
}

/// A rate of a trace; an outage becomes the slowest rate of a step.
fn step_rate(text: &str) -> Result<Rate, QuantityError> {
    match quantity::rate(text) {
        Ok(rate) => Ok(rate.max(MIN_STEP)),
        Err(QuantityError::Impossible(_)) => Ok(MIN_STEP),
        Err(other) => Err(other),
    }
}

/// Times in ms at which one packet of the largest size may pass; the trace repeats after the last.
fn deliveries(file: &str, rows: &[(usize, &str)]) -> Result<RateSteps, StepsError> {
    let mut times = Vec::with_capacity(rows.len());
    for &(line, text) in rows {
        let wrong = || StepsError::NotMillis {
            file: file.to_owned(),
            line,
            text: text.to_owned(),
        };
        let at: u64 = text.parse().map_err(|_| wrong())?;
        if times.last().is_some_and(|last| at < *last) {
            return Err(wrong());
        }
        times.push(at);
    }
    let bin_ms = BIN.as_millis() as u64;
    let end = times.last().copied().unwrap_or(0).max(1);
    let bins = usize::try_from(end.div_ceil(bin_ms)).unwrap_or(usize::MAX);
    if bins > MAX_STEPS {
        return Err(StepsError::TooLong {
            file: file.to_owned(),
        });
    }
    let mut counts = vec![0u64; bins];
    for at in times {
        // A delivery at the end of a bin belongs to it: mahimahi counts from 1.
        let bin = usize::try_from(at.saturating_sub(1) / bin_ms).unwrap_or(0);
        counts[bin.min(bins - 1)] += 1;
    }
    let packet_bits = 8 * (u64::from(default::MTU) + ETHERNET_HEADER);
    let step = |(bin, count): (u64, u64)| {
        let length_ms = bin_ms.min(end - bin * bin_ms);
        let rate = Rate::from_bps(count * packet_bits * 1000 / length_ms);
        RateStep {
            at: Duration::from_millis(bin * bin_ms),
            rate: rate.max(MIN_STEP),
        }
    };
    let steps: Vec<RateStep> = (0..).zip(counts).map(step).collect();
    // A constant rate has one change, at its start, and nothing to repeat.
    Ok(RateSteps {
        steps,
        repeat: Some(Duration::from_millis(end)),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> RateSteps {
        match steps(text) {
            Ok(StepsText::Steps(steps)) => steps,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn changes_are_read_and_written() {
        let text = "0s 50mbit, 5s 2500kbit, repeat 15s";
        let steps = read(text);
        assert_eq!(steps.steps.len(), 2);
        assert_eq!(steps.repeat, Some(Duration::from_secs(15)));
        assert_eq!(read(&show_steps(&steps)), steps);
    }

    #[test]
    fn a_trace_in_csv_repeats_after_its_last_row() {
        let text = "seconds,mbit\n0,12.5\n# outage\n1.25,0\n2,12.5\n3,\n";
        let steps = trace("x", text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            show_steps(&steps),
            "0s 12.5mbit, 1250ms 64kbit, 2s 12.5mbit, repeat 3s"
        );
    }

    /// One delivery of 1514 bytes a ms is 12.112 Mbit/s.
    #[test]
    fn a_trace_of_mahimahi_has_its_average_rate() {
        let one_a_ms: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
        let steps = trace("x", &one_a_ms).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(show_steps(&steps), "0s 12.112mbit, repeat 1s");
        let outage = "10\n20\n300\n";
        let steps = trace("x", outage).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(steps.steps[0].rate.bps(), 2 * 8 * 1514 * 10);
        assert_eq!(steps.steps[1].rate, MIN_STEP);
        assert_eq!(steps.repeat, Some(Duration::from_millis(300)));
    }

    #[test]
    fn a_malformed_trace_names_the_line() {
        let why = |text| trace("a.csv", text).unwrap_err().to_string();
        assert!(why("").starts_with("a.csv: line 1: neither"));
        assert!(why("seconds,mbit\n0,1\nx,2").starts_with("a.csv: line 3: \"x,2\""));
        assert!(why("5\n4\n").starts_with("a.csv: line 2"));
        assert!(why("seconds,mbit\n1,5\n0,7").contains("does not come after"));
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_readers(text in ".*") {
            let _ = steps(&text);
            let _ = quantiles(&text);
            let _ = trace("x", &text);
        }

        #[test]
        fn a_trace_of_mahimahi_carries_its_deliveries(
            gaps in prop::collection::vec(1..40u64, 1..400)
        ) {
            let times: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
            let text: String = times.iter().map(|ms| format!("{ms}\n")).collect();
            let steps = trace("x", &text).map_err(|e| TestCaseError::fail(e.to_string()))?;
            let end = *times.last().unwrap_or(&1) as f64 / 1e3;
            let expected = times.len() as f64 * 1514.0 * 8.0 / end;
            let got = steps.average(Rate::from_bps(1)).bps() as f64;
            // Empty bins have the slowest rate instead of none.
            prop_assert!(got >= expected * 0.999 && got <= expected * 1.001 + 64e3);
        }
    }
}
