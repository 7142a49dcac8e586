//! Pages of a twin and an advice as a real browser shows them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../pathtwin/tests/browser/mod.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;

use std::path::PathBuf;

use browser::{Browser, Viewport};
use model::{findings::Findings, run::Run};
use report::{
    documents::{Document, Documents},
    page::{self, Lang},
};

/// An advice and a twin have no findings.
fn none(_: &Run) -> Findings {
    panic!("nothing to judge")
}

/// The page of a twin and an advice, in a folder that lasts as long as the first value.
fn page() -> (tempfile::TempDir, PathBuf) {
    let mut documents = Documents::default();
    for document in [
        Document::Twin(Box::new(common::twin())),
        Document::Advice(Box::new(common::advice())),
    ] {
        documents.add(document, none).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page::html(&documents, Lang::English, "0.1.0")).unwrap();
    (folder, file)
}

/// Numbers of the remedies whose commands are visible.
fn open(browser: &mut Browser) -> Vec<u64> {
    let open = browser.value(
        "[...document.querySelectorAll('tr[id^=remedy-]')].map((row, n) =>
            row.querySelector('pre').checkVisibility({ contentVisibilityAuto: true }) &&
            row.querySelector('details').open ? n : -1).filter(n => n >= 0)",
    );
    serde_json::from_value(open).unwrap()
}

/// Bug: the commands stayed closed.
#[test]
fn a_click_on_a_remedy_shows_its_commands_again_and_again() {
    let (_folder, file) = page();
    let mut browser = Browser::start();
    browser.open(&file, Viewport::DESK);
    assert_eq!(open(&mut browser), [0; 0]);
    let click = "document.querySelector('svg.remedies a[href=\"#remedy-1\"]').dispatchEvent(
        new MouseEvent('click', { bubbles: true, cancelable: true }))";
    browser.value(click);
    browser.until("location.hash === '#remedy-1'");
    assert_eq!(open(&mut browser), [1]);
    browser.value("document.querySelector('#remedy-1 details').open = false");
    browser.value(click);
    assert_eq!(open(&mut browser), [1]);
    // By the address, as from a bookmark.
    browser.value("location.hash = '#remedy-0'");
    browser.until("document.querySelector('#remedy-0 details').open");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn the_step_over_time_is_drawn_and_nothing_is_cut_off() {
    let (_folder, file) = page();
    let mut browser = Browser::start();
    for width in [1200, 390] {
        browser.open(
            &file,
            Viewport {
                width,
                ..Viewport::DESK
            },
        );
        let drawn = "[...document.querySelectorAll('[data-chart^=twin-] canvas')].length";
        assert_eq!(browser.value(drawn), 2);
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{wide}");
        if let Some(folder) = std::env::var_os("PATHTWIN_PICTURES") {
            let name = format!("twin-{width}.png");
            std::fs::write(PathBuf::from(folder).join(name), browser.picture(None)).unwrap();
        }
    }
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}
