//! `pathtwin report`: pages as a real browser shows them.
//!
//! With PATHTWIN_PICTURES=FOLDER the pictures and the pages are kept there, for review.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod browser;
mod common;
#[path = "report/made.rs"]
mod made;

use std::{collections::BTreeMap, path::Path};

use browser::{Browser, Viewport, axe};
use common::{pathtwin, text};
use made::made;
use serde_json::Value;

const DESK: Viewport = Viewport {
    width: 1200,
    height: 900,
    dark: false,
};
const PHONE: Viewport = Viewport {
    width: 390,
    height: 844,
    dark: false,
};

/// Keeps something for review, if that is wanted.
fn keep(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("PATHTWIN_PICTURES") {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(name), bytes).unwrap();
    }
}

#[test]
fn the_page_draws_its_charts_without_an_error_at_every_size_and_in_both_languages() {
    let made = made();
    let mut browser = Browser::start();
    let dark = Viewport { dark: true, ..DESK };
    let pages = [
        ("light", &made.page, DESK),
        ("dark", &made.page, dark),
        ("phone", &made.page, PHONE),
        ("chinese", &made.chinese, DESK),
        ("rows", &made.rows_page, DESK),
    ];
    for (name, page, viewport) in pages {
        browser.open(page, viewport);
        assert!(browser.errors.is_empty(), "{name}: {:?}", browser.errors);
        // A canvas that nothing was drawn on is transparent all over.
        let blank = browser.value(
            "[...document.querySelectorAll('canvas')].filter(c => {
                const seen = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                let drawn = 0;
                for (let i = 3; i < seen.length; i += 4) drawn += seen[i] > 0;
                return drawn < 200;
            }).length",
        );
        assert_eq!(blank, 0, "{name}");
        let drawn = browser.value("window.pathtwin.plots.size");
        let least = if name == "rows" { 1 } else { 8 };
        assert!(drawn.as_u64().unwrap() >= least, "{name}: {drawn} charts");
        let wide = browser
            .value("document.documentElement.scrollWidth")
            .as_u64();
        assert!(
            wide.unwrap() <= u64::from(viewport.width),
            "{name}: {wide:?} pixels wide"
        );
        keep(&format!("{name}.png"), &browser.picture(None));
        keep(&format!("{name}.html"), &std::fs::read(page).unwrap());
    }
    keep("print.pdf", &browser.print());
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// Elements that are cut off: beyond the window without an ancestor that scrolls, or wider than a
/// box that hides the overflow.
const CUT_OFF: &str = "[...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (box.width < 2 || box.height < 2 || style.visibility === 'hidden') return false;
    if (e.closest('.skip, svg, canvas, .uplot')) return false;
    if (/hidden|clip/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1) return true;
    if (box.left >= -1 && box.right <= innerWidth + 1) return false;
    for (let up = e.parentElement; up; up = up.parentElement)
        if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return false;
    return true;
}).map(e => `${e.tagName}.${e.className}: ${(e.textContent || '').slice(0, 60)}`)";

#[test]
fn nothing_is_cut_off_on_a_phone_and_commands_are_copied_by_a_button() {
    let made = made();
    let mut browser = Browser::start();
    for dark in [false, true] {
        for (page, viewport) in [
            (&made.page, PHONE),
            (&made.chinese, PHONE),
            (&made.rows_page, PHONE),
            (&made.page, DESK),
        ] {
            browser.open(page, Viewport { dark, ..viewport });
            browser.value("document.querySelectorAll('details').forEach(d => { d.open = true })");
            let cut = browser.value(CUT_OFF);
            assert_eq!(cut, serde_json::json!([]), "{page:?} at {viewport:?}");
        }
    }
    // Each command has its button, which no other script than the page's own can add.
    let buttons = "document.querySelectorAll('pre.commands').length";
    let commands = browser.value(buttons).as_u64().unwrap();
    let copyable = "document.querySelectorAll('.copyable > pre.commands ~ button, .copyable > button ~ pre.commands').length";
    assert!(commands > 0);
    assert_eq!(browser.value(copyable), commands);
}

/// One third of the first card was empty once.
#[test]
fn the_first_card_is_filled_and_has_a_bar_of_what_tcp_gets() {
    let made = made();
    let mut browser = Browser::start();
    for viewport in [DESK, PHONE] {
        browser.open(&made.page, viewport);
        let filled = browser.value(
            "(() => {
                const card = document.querySelector('.verdict'), box = card.getBoundingClientRect();
                const range = document.createRange();
                range.selectNodeContents(card);
                const rights = [...range.getClientRects()].map(r => Math.min(r.right, box.right));
                return (Math.max(...rights) - box.left) / box.width;
            })()",
        );
        assert!(filled.as_f64().unwrap() > 0.67, "{viewport:?}: {filled}");
        let bar = browser.value(
            "(() => {
                const bar = document.querySelector('.verdict .shares svg').getBoundingClientRect();
                return bar.top < innerHeight && bar.width > 0.6 * innerWidth * 0.5 ? 1 : 0;
            })()",
        );
        assert_eq!(bar, 1, "{viewport:?}: no bar on the first screen");
    }
    let spec = browser.value("[...document.querySelectorAll('pre.commands')].some(p => p.textContent.includes('[path.down]'))");
    assert_eq!(spec, true, "the spec is not among what reproduces the run");
}

#[test]
fn the_chinese_page_says_its_findings_in_chinese() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.chinese, DESK);
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
    browser.open(&made.page, DESK);
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
    browser.open(&made.page, DESK);
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
    browser.open(&made.rows_page, DESK);
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
fn an_accessibility_checker_finds_nothing() {
    let made = made();
    let axe = axe();
    let mut browser = Browser::start();
    let dark = Viewport { dark: true, ..DESK };
    let pages = [
        (&made.page, DESK),
        (&made.page, dark),
        (&made.page, PHONE),
        (
            &made.page,
            Viewport {
                dark: true,
                ..PHONE
            },
        ),
        (&made.chinese, PHONE),
        (&made.rows_page, DESK),
        (&made.rows_page, dark),
    ];
    for (page, viewport) in pages {
        browser.open(page, viewport);
        browser.value("document.querySelectorAll('details').forEach(d => { d.open = true })");
        browser.value(&format!("{axe}; 1"));
        let found = browser.value(
            "axe.run(document).then(r => r.violations.map(v =>
                `${v.impact} ${v.id}: ${v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary).join(' | ')}`))",
        );
        let found = found.as_array().unwrap();
        assert!(found.is_empty(), "{page:?} {viewport:?}: {found:#?}");
    }
}

#[test]
fn the_timeline_is_reached_and_zoomed_by_keys() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.page, DESK);
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

#[test]
fn the_page_makes_no_requests() {
    let made = made();
    for page in [&made.page, &made.chinese, &made.rows_page] {
        let html = std::fs::read_to_string(page).unwrap();
        assert!(html.contains("default-src 'none'"));
        for link in [" src=", "<link", "@import", "url(", "<iframe", "<img"] {
            let found = html.match_indices(link).next();
            assert!(found.is_none(), "{link} in {}", page.display());
        }
    }
}

#[test]
fn names_of_others_cannot_become_markup() {
    let made = made();
    let mut browser = Browser::start();
    browser.open(&made.page, DESK);
    let shown = browser.value("document.body.innerText");
    assert!(
        shown
            .as_str()
            .unwrap()
            .contains("plan <script>alert(\"plan\")</script>"),
        "{shown}"
    );
    let html = std::fs::read_to_string(&made.page).unwrap();
    // The page's own: two of data, one of the program.
    assert_eq!(html.matches("<script").count(), 3);
}

#[test]
fn without_a_script_verdict_and_tables_are_there() {
    let made = made();
    let mut browser = Browser::start();
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        serde_json::json!({"value": true}),
    );
    let url = format!("file://{}", made.page.canonicalize().unwrap().display());
    browser.call("Page.navigate", serde_json::json!({ "url": url }));
    let seen = "document.readyState === 'complete' && document.querySelector('h1') !== null";
    browser.until(seen);
    let shown = browser.value("[document.querySelector('h1').offsetHeight > 0,
        document.querySelectorAll('table').length, document.querySelector('.controls').offsetHeight]");
    assert_eq!(shown[0], true);
    assert!(shown[1].as_u64().unwrap() >= 6, "{shown}");
    assert_eq!(shown[2], 0, "controls without what they control");
}

#[test]
fn a_file_that_is_no_document_is_a_usage_error() {
    let made = made();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.json");
    std::fs::write(&file, "{\"some\": \"thing\"}").unwrap();
    for documents in [vec![&file], vec![&made.run, &made.run]] {
        let output = pathtwin().arg("report").args(documents).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

/// After `make demo`: cargo test -p pathtwin --test report -- --ignored
#[test]
#[ignore = "takes the pictures of the README from the report of make demo"]
fn pictures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut browser = Browser::start();
    let viewport = Viewport { width: 900, ..DESK };
    browser.open(&root.join("out/report.html"), viewport);
    let mut take = |name: &str, from: &str, to: &str| {
        let edge = |selector: &str| {
            format!("document.querySelector('{selector}').getBoundingClientRect()")
        };
        let part = browser.value(&format!(
            "[{}.top - 12, {}.bottom + 4]",
            edge(from),
            edge(to)
        ));
        let part: [f64; 2] = serde_json::from_value(part).unwrap();
        let picture = browser.picture(Some(part.map(|y| y.max(0.0).round())));
        std::fs::write(root.join("docs/images").join(name), picture).unwrap();
    };
    take(
        "report.png",
        ".verdict",
        "#layers .figures tbody tr:nth-child(3)",
    );
    take("report-time.png", "#time h2", "#time .panels");
}
