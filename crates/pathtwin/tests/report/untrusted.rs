//! Safety of a page: no requests, no markup from names, and tables that need no script.

use super::{
    browser::{Browser, Viewport},
    made::made,
};

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
    browser.open(&made.page, Viewport::DESK);
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
