//! Layout of a page by window size, color scheme and language; and its screenshots.

use std::path::Path;

use super::{
    browser::{Browser, Viewport, axe},
    made::made,
};

/// Stores a file for review, if requested.
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
    let dark = Viewport::DESK.dark();
    let pages = [
        ("light", &made.page, Viewport::DESK),
        ("dark", &made.page, dark),
        ("phone", &made.page, Viewport::PHONE),
        ("chinese", &made.chinese, Viewport::DESK),
        ("rows", &made.rows_page, Viewport::DESK),
    ];
    for (name, page, viewport) in pages {
        browser.open(page, viewport);
        assert!(browser.errors.is_empty(), "{name}: {:?}", browser.errors);
        // An empty canvas is entirely transparent.
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
            (&made.page, Viewport::PHONE),
            (&made.chinese, Viewport::PHONE),
            (&made.rows_page, Viewport::PHONE),
            (&made.page, Viewport::DESK),
        ] {
            browser.open(page, Viewport { dark, ..viewport });
            browser.value("document.querySelectorAll('details').forEach(d => { d.open = true })");
            let cut = browser.value(CUT_OFF);
            assert_eq!(cut, serde_json::json!([]), "{page:?} at {viewport:?}");
        }
    }
    // Each command has a button, added by the page's script.
    let buttons = "document.querySelectorAll('pre.commands').length";
    let commands = browser.value(buttons).as_u64().unwrap();
    let copyable = "document.querySelectorAll('.copyable > pre.commands ~ button, .copyable > button ~ pre.commands').length";
    assert!(commands > 0);
    assert_eq!(browser.value(copyable), commands);
}

/// Bug: a third of the first card was empty.
#[test]
fn the_first_card_is_filled_and_has_a_bar_of_what_tcp_gets() {
    let made = made();
    let mut browser = Browser::start();
    for viewport in [Viewport::DESK, Viewport::PHONE] {
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
fn an_accessibility_checker_finds_nothing() {
    let made = made();
    let axe = axe();
    let mut browser = Browser::start();
    let dark = Viewport::DESK.dark();
    let pages = [
        (&made.page, Viewport::DESK),
        (&made.page, dark),
        (&made.page, Viewport::PHONE),
        (&made.page, Viewport::PHONE.dark()),
        (&made.chinese, Viewport::PHONE),
        (&made.rows_page, Viewport::DESK),
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

/// After `make demo`: cargo test -p pathtwin --test report -- --ignored
#[test]
#[ignore = "takes the pictures of the README from the report of make demo"]
fn pictures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut browser = Browser::start();
    let viewport = Viewport {
        width: 900,
        ..Viewport::DESK
    };
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
