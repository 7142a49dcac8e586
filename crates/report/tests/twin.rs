//! A twin on the page: both with their intervals, and a step over time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use model::{
    findings::Findings,
    run::{Range, Run},
    twin::{Course, Twin, TwinSpread},
};
use report::{
    documents::{Document, Documents},
    page::{self, Lang},
};
use serde_json::Value;

/// A twin has no findings.
fn none(_: &Run) -> Findings {
    panic!("nothing to judge")
}

fn page_of(twin: &Twin) -> String {
    let mut documents = Documents::default();
    let text = serde_json::to_vec(twin).unwrap();
    documents
        .add(Document::parse(&text).unwrap(), none)
        .unwrap();
    page::html(&documents, Lang::English, "0.1.0")
}

/// The first row of the fitted figures.
fn row(page: &str) -> &str {
    let table = page
        .split("Fitted figures: measured and twin")
        .nth(2)
        .unwrap();
    table
        .split("<tbody><tr>")
        .nth(1)
        .unwrap()
        .split("</tr>")
        .next()
        .unwrap()
}

/// The twin with one fitted figure, of 40 and 44 Mbit/s.
fn spread(spread: TwinSpread) -> Twin {
    let mut twin = common::twin();
    twin.fitted
        .retain(|f| f.figure == model::twin::TwinFigure::Goodput);
    twin.fitted.truncate(1);
    twin.fitted[0].measured = 40e6;
    twin.fitted[0].twin = 44e6;
    twin.fitted[0].spread = spread;
    twin
}

#[test]
fn a_figure_has_the_interval_of_both_as_text_and_as_lines_over_each_other() {
    let page = page_of(&spread(TwinSpread {
        measured_interval: Some([38e6, 41e6]),
        measured_range: None,
        twin_range: Some(Range {
            low: 42e6,
            high: 50e6,
        }),
    }));
    let row = row(&page);
    assert!(
        row.contains("38 Mbit/s to 41 Mbit/s") || row.contains("38.0 Mbit/s to 41.0 Mbit/s"),
        "{row}"
    );
    assert!(!row.contains("range 38"), "{row}");
    assert!(row.contains("range 42"), "{row}");
    let marks: Vec<&str> = ["g class=\"measured\"", "g class=\"twin\""]
        .map(|g| row.split(g).nth(1).unwrap().split("</g>").next().unwrap())
        .to_vec();
    let ends = |mark: &str| -> [f64; 2] {
        ["x1=\"", "x2=\""].map(|name| {
            let value = mark.split(name).nth(1).unwrap();
            value.split('"').next().unwrap().parse().unwrap()
        })
    };
    // 55 Mbit/s, a tenth above the largest value, is at the right edge, 0 at the left.
    let x = |mbps: f64| 6.0 + mbps / 55.0 * 138.0;
    for (mark, mbps) in marks.iter().zip([[38.0, 41.0], [42.0, 50.0]]) {
        for (end, mbps) in ends(mark).into_iter().zip(mbps) {
            assert!((end - x(mbps)).abs() < 0.1, "{mark}");
        }
    }
}

#[test]
fn a_range_of_few_repeats_is_called_so_and_one_value_has_none() {
    let few = page_of(&spread(TwinSpread {
        measured_range: Some(Range {
            low: 38e6,
            high: 41e6,
        }),
        ..TwinSpread::default()
    }));
    assert!(row(&few).contains("range 38"), "{}", row(&few));
    let page = page_of(&spread(TwinSpread::default()));
    assert!(!row(&page).contains("range ") && !row(&page).contains("<line x1=\"6.0\""));
    assert_eq!(row(&page).matches("<line").count(), 1, "only the rule");
}

/// Data of the script.
fn charts(page: &str) -> Vec<Value> {
    let data = page.split("id=\"data\">").nth(1).unwrap();
    let data = data.split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    data["charts"].as_array().unwrap().clone()
}

#[test]
fn a_step_has_lines_of_both_that_differ_without_colour_and_all_values_as_a_table() {
    let twin = common::twin();
    let page = page_of(&twin);
    let charts = charts(&page);
    let series = twin.series.unwrap();
    for (id, column) in [
        ("twin-goodput", &series.measured.goodput_bps),
        ("twin-rtt", &series.measured.probe_rtt_us),
    ] {
        let chart = charts.iter().find(|c| c["id"] == id).unwrap();
        assert_ne!(chart["x"]["label"], "");
        assert_ne!(chart["y"]["label"], "");
        let lines = chart["series"].as_array().unwrap();
        assert_eq!(lines.len(), 2);
        assert_ne!(lines[0]["dash"], lines[1]["dash"]);
        let seen = column.iter().flatten().count();
        assert_eq!(lines[0]["xy"].as_array().unwrap().len(), seen);
        assert!(page.contains(&format!("data-chart=\"{id}\" role=\"img\" aria-label=\"")));
        let figure = page.split(&format!("data-chart=\"{id}\"")).nth(1).unwrap();
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.matches("<tr>").count() > seen, "{figure}");
    }
}

#[test]
fn a_twin_without_series_has_no_picture_of_a_step() {
    let mut twin = common::twin();
    twin.series = None;
    assert!(!page_of(&twin).contains("A step over time"));
    let mut twin = common::twin();
    // Only one of both is no comparison.
    twin.series.as_mut().unwrap().twin = Course::default();
    assert!(!page_of(&twin).contains("A step over time"));
}

#[test]
fn a_hostile_series_makes_a_page() {
    let mut twin = common::twin();
    let series = twin.series.as_mut().unwrap();
    series.from_us = i64::MIN;
    series.dt_us = i64::MAX;
    series.key.cc = Some("<script>alert(1)</script>".to_owned());
    series.measured.goodput_bps = vec![Some(1e300); 100_000];
    series.twin.goodput_bps = vec![None, Some(-1.0)];
    let page = page_of(&twin);
    assert!(!page.contains("<script>alert"));
    assert!(page.len() < 500_000, "{}", page.len());
}

/// Bug: of 24 figures left out, goodput of 10.1 Mbit/s against 16.9 predicted was not among those
/// that are farthest off, since little of it counts where the samples scatter.
#[test]
fn the_goodput_that_is_farthest_off_is_shown_whatever_its_noise() {
    let mut twin = common::twin();
    let goodput =
        |held: &&mut model::twin::HeldOut| held.figure == model::twin::TwinFigure::Goodput;
    let held = twin.held_out.iter_mut().find(goodput).unwrap();
    (held.measured, held.predicted, held.excess) = (10.1e6, 16.9e6, 0.0);
    let text = report::twin::text(&twin);
    let row = text.lines().find(|line| line.contains("10.1 Mbit/s"));
    assert!(row.unwrap().contains("16.9 Mbit/s"), "{text}");
}
