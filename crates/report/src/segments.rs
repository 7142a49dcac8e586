//! A run by segments as text: added delay and loss before and beyond the third point.

use std::fmt::Write as _;

use analysis::view::{Segment, View};
use model::{
    run::{Run, Spread},
    safe::line,
    text::Value,
};

/// The text; empty without a third point.
pub(crate) fn text(run: &Run) -> String {
    let (Some(third), Some(view)) = (&run.third, View::new(run)) else {
        return String::new();
    };
    let mut out = format!(
        "\nby segment, third point {}\n",
        line(&third.text().to_string())
    );
    for dir in view.directions() {
        let Some(segments) = dir.segments() else {
            continue;
        };
        for (name, segment) in [
            ("before it", &segments.near),
            ("beyond it", &segments.beyond),
            ("whole path", &segments.whole),
        ] {
            let _ = writeln!(out, "  {} {name}: {}", dir.direction, shown(segment));
        }
    }
    out
}

fn shown(segment: &Segment) -> String {
    let lost = segment.lost;
    let mut shown = format!(
        "the load adds {}, {} [{}, {}] of the probes are lost",
        spread(&segment.added_us, Value::Us),
        Value::Share(lost.value),
        Value::Share(lost.low),
        Value::Share(lost.high),
    );
    if let Some(goodput) = &segment.goodput_bps {
        let _ = write!(shown, ", TCP {}", spread(goodput, Value::Bps));
    }
    shown
}

/// Median, interval or range, and count.
fn spread(spread: &Spread, unit: fn(f64) -> Value) -> String {
    let interval = match (spread.low.zip(spread.high), spread.range) {
        (Some((low, high)), _) => format!(" [{}, {}]", unit(low), unit(high)),
        (None, Some(range)) => format!(" ({} to {})", unit(range.low), unit(range.high)),
        (None, None) => String::new(),
    };
    format!("{}{interval} n={}", unit(spread.median), spread.n)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use corpus::compose::{Scene, run};
    use model::run::{SegmentRate, ThirdAnswers, ThirdPoint};

    use super::*;

    #[test]
    fn each_direction_has_its_segments() {
        let mut run = run(&Scene::default(), 1);
        assert_eq!(text(&run), "");
        let goodput_bps = analysis::summary::spread(&[8e6], [0.0, 1e9]).unwrap();
        run.third = Some(ThirdPoint {
            address: "192.0.2.1".parse().unwrap(),
            answers: ThirdAnswers::Icmp,
            rates: vec![SegmentRate {
                direction: model::net::Direction::Up,
                goodput_bps,
            }],
        });
        for sample in &mut run.samples {
            sample.third = sample.probes.clone();
        }
        let text = text(&run);
        assert!(
            text.contains("third point 192.0.2.1 by ICMP echo"),
            "{text}"
        );
        // All of the fault is before the third point: nothing is left beyond it.
        assert!(
            text.contains("down beyond it: the load adds 0 ms"),
            "{text}"
        );
        assert!(
            text.lines()
                .any(|l| l.contains("up before it") && l.ends_with("TCP 8 Mbit/s n=1")),
            "{text}"
        );
    }
}
