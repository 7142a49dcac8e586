//! The search page as a real browser shows it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../pathtwin/tests/browser/mod.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;

use std::path::PathBuf;

use atlas::page;
use browser::{Browser, Viewport};
use common::{folder, made_up};

/// The page of made-up cells, in a folder that lasts as long as the first value.
fn made_up_page() -> (tempfile::TempDir, PathBuf) {
    let atlas = made_up();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(page::FILE);
    std::fs::write(
        &file,
        page::html(&atlas.cells, &atlas.source, &atlas.findings()),
    )
    .unwrap();
    (folder, file)
}

fn text(browser: &mut Browser, id: &str) -> String {
    let text = browser.value(&format!("document.getElementById('{id}').textContent"));
    text.as_str().unwrap().to_owned()
}

#[test]
fn filters_leave_the_cells_that_they_name_and_a_click_sorts_them() {
    let (_folder, file) = made_up_page();
    let mut browser = Browser::start();
    browser.open(&file, Viewport::DESK);
    assert_eq!(text(&mut browser, "count"), "96 of 96 cells");
    browser.value("document.querySelector('fieldset[data-factor=cc] input[value=bbr]').click()");
    browser
        .value("document.querySelector('fieldset[data-factor=loss] input[value=\"1%\"]').click()");
    assert_eq!(text(&mut browser, "count"), "24 of 96 cells");
    browser.value("document.querySelector('[data-sort=goodput_mbps]').click()");
    let first = "document.querySelector('#table tbody tr').children[8].textContent";
    assert_eq!(browser.value(first), "95.0");
    browser.value("document.querySelector('[data-sort=goodput_mbps]').click()");
    assert_eq!(browser.value(first), "19.0");
    // The button that was clicked keeps the focus, for those who use a keyboard.
    assert_eq!(
        browser.value("document.activeElement.dataset.sort"),
        "goodput_mbps"
    );
    browser.value("document.getElementById('clear').click()");
    assert_eq!(text(&mut browser, "count"), "96 of 96 cells");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn the_link_of_a_finding_shows_its_cells() {
    let (_folder, file) = made_up_page();
    let mut browser = Browser::start();
    browser.open(&file, Viewport::DESK);
    browser.value("document.querySelector('#finding-short a').click()");
    browser.until("document.getElementById('count').textContent === '24 of 96 cells'");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn a_path_is_answered_by_the_nearest_cells_and_a_line_by_its_command() {
    let (_folder, file) = made_up_page();
    let mut browser = Browser::start();
    browser.open(&file, Viewport::DESK);
    browser.value(
        "for (const [id, value] of [['rate', 90], ['rtt', 60], ['loss', 2], ['queue', 'fifo 200ms']])
            document.getElementById('ask-' + id).value = value;
         document.getElementById('ask').dispatchEvent(new Event('input'))",
    );
    let answer = text(&mut browser, "answer");
    assert!(
        answer.contains("rate 100 Mbit/s, RTT 50 ms, random loss 1 %"),
        "{answer}"
    );
    assert!(
        answer.contains("Now, cubic with fifo 200 ms: 9.09 Mbit/s, loaded RTT 200 ms"),
        "{answer}"
    );
    assert!(
        answer.contains("Best with this queue, bbr with fifo 200 ms: 95.0 Mbit/s"),
        "{answer}"
    );
    assert!(answer.contains("Best of all, bbr with f"), "{answer}");
    // A policer is no setting that one chooses.
    assert!(!text(&mut browser, "settings").contains("policer"));
    browser.value("document.querySelector('#table [data-cell=\"3\"]').click()");
    let command = text(&mut browser, "command");
    let expected = "pathtwin lab run docs/atlas/20mbit.toml --set rtt=5ms --set 'queue=fifo 10ms'";
    assert!(command.contains(expected), "{command}");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

/// The nearest cells were shown as an answer whatever was asked, also where they are far away.
#[test]
fn a_path_that_the_table_does_not_have_is_called_so() {
    let (_folder, file) = made_up_page();
    let mut browser = Browser::start();
    browser.open(&file, Viewport::DESK);
    let mut ask = |rate: &str| {
        browser.value(&format!(
            "document.getElementById('ask-rate').value = '{rate}';
             document.getElementById('ask').dispatchEvent(new Event('input'))"
        ));
        text(&mut browser, "answer")
    };
    assert!(!ask("100").contains("Not your path"));
    let far = ask("1000");
    assert!(
        far.contains("Not your path: rate: 1000 is outside of the table"),
        "{far}"
    );
    let none = ask("");
    assert!(
        none.contains("rate: nothing is outside of the table"),
        "{none}"
    );
}

/// On a telephone, in the dark, with the published cells if there are any.
#[test]
fn nothing_is_cut_off_on_a_narrow_screen() {
    let (_folder, made_up) = made_up_page();
    let published = folder().join(page::FILE);
    let mut browser = Browser::start();
    for file in [made_up, published].iter().filter(|file| file.exists()) {
        for (width, dark) in [(1200, false), (390, false), (390, true)] {
            browser.open(
                file,
                Viewport {
                    width,
                    dark,
                    ..Viewport::DESK
                },
            );
            let wide = browser.value("document.documentElement.scrollWidth");
            assert!(
                wide.as_u64().unwrap() <= u64::from(width),
                "{wide} at {width}"
            );
            if let Some(folder) = std::env::var_os("PATHTWIN_PICTURES") {
                let name = format!("atlas-{width}-{dark}.png");
                std::fs::write(PathBuf::from(folder).join(name), browser.picture(None)).unwrap();
            }
        }
    }
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
