//! Values and texts on a page, compared with its document.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    browser::{Browser, Viewport},
    made::made,
};

#[test]
fn the_findings_on_the_chinese_page_are_chinese() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.chinese, Viewport::DESK);
    // Remedies hold command lines, which are English everywhere.
    let message = browser.value(
        "(() => { document.querySelectorAll('details').forEach(d => { d.open = true });
            document.querySelectorAll('.next').forEach(n => n.remove());
            return [...document.querySelectorAll('.verdict, #causes')].map(e => e.innerText).join('\\n') })()",
    );
    let message = message.as_str().unwrap();
    assert!(
        message.contains("判断依据") && message.contains("若要判断"),
        "{message}"
    );
    let word = |w: &&str| w.len() > 1 && w.chars().all(|c| c.is_ascii_alphabetic());
    for line in message.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let english = words.windows(4).find(|w| w.iter().all(word));
        assert_eq!(english, None, "{line}");
    }
    let marked = "document.querySelectorAll('.verdict [lang=en], #causes [lang=en]').length";
    assert_eq!(browser.value(marked), 0);
}

#[test]
fn the_figures_on_the_page_are_those_of_the_run() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.page, Viewport::DESK);
    let shown = browser.value(
        "[...document.querySelectorAll('table[data-kind] data')].map(d =>
            [d.closest('table').dataset.kind, d.dataset.of, Number(d.value)])",
    );
    let sorted = |mut all: Vec<(String, String, f64)>| {
        all.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)).then(a.2.total_cmp(&b.2)));
        all
    };
    let shown: Vec<(String, String, f64)> = serde_json::from_value(shown).unwrap();
    let mut expected = Vec::new();
    for figure in made.document["figures"].as_array().unwrap() {
        let kind = figure["kind"].as_str().unwrap().to_owned();
        let layer = figure["key"]["layer"].as_str().unwrap().to_owned();
        expected.push((kind, layer, figure["median"].as_f64().unwrap()));
    }
    for ratio in made.document["ratios"].as_array().unwrap() {
        if ratio["of"]["layer"] == "tunnel" && ratio["to"]["layer"] == "underlay" {
            let kind = ratio["kind"].as_str().unwrap().to_owned();
            expected.push((kind, "ratio".to_owned(), ratio["ratio"].as_f64().unwrap()));
        }
    }
    assert!(expected.len() > 20);
    assert_eq!(sorted(shown), sorted(expected));
}

#[test]
fn the_charts_match_the_samples_of_the_run() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.page, Viewport::DESK);
    let steps = browser.value("window.pathtwin.steps");
    let steps = steps.as_array().unwrap();
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let mut checked = 0;
    for sample in made.document["samples"].as_array().unwrap() {
        let Some(flow) = sample["tcp"]["flows"].get(0) else {
            continue;
        };
        let step = steps
            .iter()
            .find(|s| s["n"] == sample["number"])
            .expect("its timeline");
        let received = flow["received"]["columns"]["bytes_received"]
            .as_array()
            .unwrap();
        let bytes = number(&received[received.len() - 1]) - number(&received[0]);
        let column = step["goodput"].as_array().unwrap();
        // Mbit/s over ms are kbit: 125 bytes.
        let drawn: f64 = column.iter().map(number).sum::<f64>() * number(&step["dt_ms"]) * 125.0;
        assert!(
            (drawn / bytes - 1.0).abs() < 0.01,
            "{drawn} of {bytes} bytes"
        );
        let probes = sample["probes"]["series"]["columns"]["rtt_ns"]
            .as_array()
            .unwrap();
        let slowest = probes.iter().map(number).fold(0.0, f64::max) / 1e6;
        let highest = step["probe_high"]
            .as_array()
            .unwrap()
            .iter()
            .map(number)
            .fold(0.0, f64::max);
        assert!(
            (highest / slowest - 1.0).abs() < 0.01,
            "{highest} of {slowest} ms"
        );
        checked += 1;
    }
    assert!(checked >= 18, "{checked} loads");
}

#[test]
fn the_heat_map_holds_the_medians_of_the_rows() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.rows_page, Viewport::DESK);
    let shown = browser.value(
        "[...document.querySelectorAll('table.heat')[0].querySelectorAll('data')].map(d => Number(d.value))",
    );
    let mut shown: Vec<f64> = serde_json::from_value(shown).unwrap();
    shown.sort_by(f64::total_cmp);
    let mut settings: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in &made.rows {
        let goodputs = settings.entry(row["factors"].to_string()).or_default();
        goodputs.push(row["goodput_mbps"].as_f64().unwrap());
    }
    let mut medians: Vec<f64> = settings
        .into_values()
        .map(|mut goodputs| {
            goodputs.sort_by(f64::total_cmp);
            goodputs[1]
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    assert_eq!(shown, medians);
}

#[test]
fn the_timeline_is_reached_and_zoomed_by_keys() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.page, Viewport::DESK);
    let span = "(() => { const x = document.querySelector('.panels').closest('.timeline') &&
        [...window.pathtwin.plots].map(p => p.plot).filter(p => p.step !== undefined).map(p =>
            p.scales.x.max - p.scales.x.min); return [Math.min(...x), Math.max(...x)]; })()";
    let spans = |browser: &mut Browser| -> [f64; 2] {
        serde_json::from_value(browser.value(span)).unwrap()
    };
    let reached =
        |browser: &mut Browser| browser.value("document.activeElement.className") == "panels";
    for _ in 0..200 {
        if reached(&mut browser) {
            break;
        }
        browser.press("Tab", false);
    }
    assert!(reached(&mut browser), "Tab does not lead to the charts");
    let all = spans(&mut browser);
    browser.press("+", false);
    let half = spans(&mut browser);
    // All panels have the one time axis.
    assert!((half[0] - half[1]).abs() < 1e-9, "{half:?}");
    assert!((half[0] / all[0] - 0.5).abs() < 0.01, "{half:?} of {all:?}");
    browser.press("0", false);
    assert_eq!(spans(&mut browser), all);
    browser.press("ArrowRight", true);
    let read = browser.value("document.querySelector('.readout').textContent");
    assert!(read.as_str().unwrap().contains(" s: "), "{read}");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
