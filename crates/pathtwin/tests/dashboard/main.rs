//! `pathtwin dashboard`: a history of recorded runs as pages, requested over a socket and shown by
//! a real browser.
//!
//! With PATHTWIN_PICTURES=FOLDER the pictures are stored there, for review.

#![cfg(all(feature = "history", feature = "page"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;
mod made;

use std::path::Path;

use browser::{Browser, Viewport};
use common::text;
use made::{Dashboard, HISTORY, made};

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() % 2 {
        0 => (values[half - 1] + values[half]) / 2.0,
        _ => values[half],
    }
}

/// Returns the text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, after) = text
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from} in {text}"));
    after.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

#[test]
fn each_path_has_its_state_its_tunnel_and_its_latest_day_against_the_usual() {
    let served = made();
    let (status, page) = served.get("/", "");
    assert_eq!(status, 200);
    for (path, state) in [
        ("office", "changed within 7 days"),
        ("home", "worse than usual"),
        ("relay", "too few runs to compare"),
    ] {
        let card = between(&page, &format!(">{path}</a></h2>"), "</section>");
        assert!(card.contains(state), "{path}: {card}");
        assert!(card.contains("<svg class=\"spark\""), "{path}: {card}");
    }
    // A recorded run of NetBird through a relay.
    let relay = between(&page, ">relay</a></h2>", "</section>");
    assert!(relay.contains("Tunnel: relayed"), "{relay}");
    let home = between(&page, ">home</a></h2>", "</section>");
    let goodput = between(home, ">Goodput</a>", "</tr>");
    let shown: Vec<f64> = goodput
        .split("<data value=\"")
        .skip(1)
        .map(|after| after.split('"').next().unwrap().parse().unwrap())
        .collect();
    let runs = served.goodputs("home");
    // The runs are six hours apart: the latest day is the last of them and the four before.
    let (before, day) = runs.split_at(runs.len() - 5);
    let expected = [median(day.to_vec()), median(before.to_vec())];
    assert_eq!(shown.len(), 2, "{goodput}");
    for (shown, expected) in shown.iter().zip(expected) {
        assert!((shown / expected - 1.0).abs() < 1e-9, "{shown} {expected}");
    }
}

#[test]
fn a_path_shows_when_it_changed_with_the_facts_of_that_time_and_leads_to_the_run() {
    let served = made();
    let (status, page) = served.get("/path?name=office", "");
    assert_eq!(status, 200);
    let changes = between(&page, "id=\"changes\"", "id=\"runs\"");
    assert!(changes.contains("Goodput"), "{changes}");
    let fact = "<code>near.kernel</code>: 6.1.0 → 6.12.0";
    assert!(changes.contains(fact), "{changes}");
    let run = between(changes, "href=\"/run/", "\"");
    // Change points are known to a run or two.
    let number = u64::from_str_radix(run, 16).unwrap() & 0xffff;
    assert!(number.abs_diff(made::CHANGED) <= 2, "run {number}");
    assert_eq!(
        page.matches("class=\"change\"").count() % 2,
        0,
        "one a direction"
    );
    let (status, report) = served.get(&format!("/run/{run}"), "");
    assert_eq!(status, 200);
    assert!(
        report.contains(&format!("<code>{run}</code>")),
        "its report"
    );
    assert!(report.contains("class=\"verdict"), "its verdict");
    for missing in ["/run/ffffffffffff", "/run/..%2Fx", "/path?name=none", "/x"] {
        assert_eq!(served.get(missing, "").0, 404, "{missing}");
    }
}

#[test]
fn hosts_are_shown_against_each_other() {
    let served = made();
    let (status, page) = served.get("/mesh", "");
    assert_eq!(status, 200);
    let rows: Vec<Vec<bool>> = ["a", "b", "c"]
        .iter()
        .map(|near| {
            let row = between(&page, &format!("<th scope=\"row\">{near}</th>"), "</tr>");
            row.split("<td")
                .skip(1)
                .map(|cell| cell.contains("<data"))
                .collect()
        })
        .collect();
    for (near, row) in rows.iter().enumerate() {
        let expected: Vec<bool> = (0..3).map(|far| far != near).collect();
        assert_eq!(*row, expected, "row {near}");
    }
}

#[test]
fn pages_are_for_this_host_alone_and_cannot_be_framed_or_scripted() {
    let served = made();
    let address = served.address;
    for (fields, status) in [
        ("Host: localhost", 200),
        ("Host: 127.0.0.1:5303", 200),
        ("Host: evil.example", 421),
        ("Host: 192.0.2.1", 421),
    ] {
        let response = made::ask(address, &format!("GET / HTTP/1.1\r\n{fields}"));
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status}")),
            "{fields}"
        );
        assert!(status == 200 || !response.contains("office"), "{fields}");
    }
    let post = made::ask(
        address,
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0",
    );
    assert!(post.starts_with("HTTP/1.1 405"), "{post}");
    for page in [
        "/",
        "/path?name=office",
        "/mesh",
        "/style.css",
        "/live.js",
        "/x",
    ] {
        let response = made::ask(address, &format!("GET {page} HTTP/1.1\r\nHost: localhost"));
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains("Content-Security-Policy: default-src 'none'"),
            "{head}"
        );
        assert!(
            head.contains("frame-ancestors 'none'") && !head.contains("unsafe"),
            "{head}"
        );
        assert!(head.contains("X-Content-Type-Options: nosniff"), "{head}");
        for inline in ["<script>", "<style", " style=", " onclick", "javascript:"] {
            assert!(!body.contains(inline), "{inline} in {page}");
        }
    }
}

#[test]
fn a_name_of_others_cannot_become_markup() {
    let served = made();
    let (_, page) = served.get("/", "");
    let name = "&lt;script&gt;alert(1)&lt;/script&gt;";
    assert!(page.contains(name), "{page}");
    let link = between(&page, "href=\"/path?name=%3Cscript", "\"");
    let (status, of_path) = served.get(&format!("/path?name=%3Cscript{link}"), "");
    assert_eq!(status, 200);
    assert!(
        of_path.contains(name) && !of_path.contains("<script>alert"),
        "{of_path}"
    );
}

#[test]
fn beyond_this_host_there_is_no_page_without_the_token() {
    let served = made();
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    let refused = common::pathtwin()
        .args(["dashboard", "--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    let named = ["--token", token.to_str().unwrap()];
    let server = Dashboard::start(&served.store, &named);
    let key = std::fs::read_to_string(&token).unwrap();
    let (status, page) = server.get("/", "");
    assert_eq!(status, 401);
    assert!(
        page.contains("name=\"token\"") && !page.contains("office"),
        "{page}"
    );
    let with = format!("Authorization: Bearer {}\r\n", key.trim());
    let (status, page) = server.get("/", &with);
    assert!(status == 200 && page.contains("office"), "{page}");
    let mut browser = Browser::start();
    browser.visit(&server.url("/"), Viewport::PHONE);
    browser.value(&format!(
        "document.getElementById('token').value = '{}'; document.forms[0].submit()",
        key.trim()
    ));
    browser.until("document.readyState === 'complete' && document.querySelector('.card') !== null");
}

#[test]
fn pages_are_shown_without_an_error_at_every_size_and_in_both_languages() {
    let served = made();
    let mut browser = Browser::start();
    let dark = Viewport::DESK.dark();
    for (name, page, viewport) in [
        ("light", "/", Viewport::DESK),
        ("dark", "/", dark),
        ("phone", "/", Viewport::PHONE),
        ("chinese", "/?lang=zh-CN", Viewport::DESK),
        ("path", "/path?name=office", Viewport::DESK),
        ("path-dark", "/path?name=office", dark),
        (
            "path-phone",
            "/path?name=office&lang=zh-CN",
            Viewport::PHONE,
        ),
        ("mesh", "/mesh", Viewport::DESK),
        ("mesh-phone", "/mesh", Viewport::PHONE),
    ] {
        browser.visit(&served.url(page), viewport);
        assert!(browser.errors.is_empty(), "{name}: {:?}", browser.errors);
        if let Some(folder) = std::env::var_os("PATHTWIN_PICTURES") {
            let file = Path::new(&folder).join(format!("dashboard-{name}.png"));
            std::fs::write(file, browser.picture(None)).unwrap();
        }
        browser.accessible(name, viewport);
    }
    // The report has its own policy, which the server sends as a header.
    let run = served.newest("office");
    browser.visit(&served.url(&format!("/run/{run}")), Viewport::DESK);
    browser.value("window.pathtwin.ready.then(() => 1)");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn the_sign_in_page_is_accessible_at_every_size_and_in_both_languages() {
    let served = made();
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    let server = Dashboard::start(&served.store, &["--token", token.to_str().unwrap()]);
    let mut browser = Browser::start();
    let dark = |viewport| Viewport {
        dark: true,
        ..viewport
    };
    for (name, page, viewport) in [
        ("light", "/", Viewport::DESK),
        ("dark", "/", dark(Viewport::DESK)),
        ("phone", "/", Viewport::PHONE),
        ("phone-dark", "/?lang=zh-CN", dark(Viewport::PHONE)),
        ("chinese", "/?lang=zh-CN", Viewport::DESK),
    ] {
        browser.check(name, &server.url(page), viewport);
        let field = browser.value("document.querySelectorAll('#token').length");
        assert_eq!(field, 1, "{name}");
    }
    // By keyboard alone: after a wrong token, which is said.
    for key in ["Tab", "Tab", "Tab", "Tab", "Tab"] {
        browser.press(key, false);
        if browser.value("document.activeElement.id") == "token" {
            break;
        }
    }
    for key in ["x", "Enter"] {
        browser.press(key, false);
    }
    browser.until("document.querySelector('[role=alert]') !== null");
    browser.accessible("wrong", Viewport::DESK);
}

#[test]
fn the_chinese_pages_have_no_english_sentence() {
    let served = made();
    let mut browser = Browser::start();
    for page in [
        "/?lang=zh-CN",
        "/path?name=office&lang=zh-CN",
        "/mesh?lang=zh-CN",
    ] {
        browser.visit(&served.url(page), Viewport::DESK);
        let shown = browser.value("document.querySelector('main').innerText");
        let word = |w: &&str| w.len() > 1 && w.chars().all(|c| c.is_ascii_alphabetic());
        for line in shown.as_str().unwrap().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let english = words.windows(3).find(|w| w.iter().all(word));
            assert_eq!(english, None, "{line}");
        }
        let links = browser.value(
            "[...document.querySelectorAll('main a')].every(a => a.href.includes('lang=zh'))",
        );
        assert_eq!(links, true, "{page}");
    }
    let (_, page) = served.get("/", "Accept-Language: zh-CN,zh;q=0.9,en;q=0.8\r\n");
    assert!(
        page.contains("<html lang=\"zh-CN\">") && page.contains("所有路径"),
        "{page}"
    );
}

#[test]
fn the_keyboard_reaches_everything_and_skips_the_navigation_first() {
    let served = made();
    let mut browser = Browser::start();
    browser.visit(&served.url("/"), Viewport::DESK);
    let active = "document.activeElement.className + ' ' + document.activeElement.textContent";
    browser.press("Tab", false);
    let first = browser.value(active);
    assert!(first.as_str().unwrap().starts_with("skip"), "{first}");
    let mut reached = Vec::new();
    for _ in 0..150 {
        browser.press("Tab", false);
        reached.push(browser.value(active).as_str().unwrap().trim().to_owned());
    }
    for name in ["office", "home", "relay", "Between hosts", "newest run"] {
        assert!(
            reached.iter().any(|r| r == name),
            "{name} is not reached: {reached:?}"
        );
    }
}

#[test]
fn a_new_run_is_shown_without_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("history.db");
    made::import(&store, folder.path(), &[("line", 1..6, HISTORY)]);
    let server = Dashboard::start(&store, &[]);
    let mut browser = Browser::start();
    browser.visit(&server.url("/"), Viewport::DESK);
    browser.value("window.here = 'still'");
    let count = "document.querySelectorAll('.card').length";
    assert_eq!(browser.value(count), 1);
    let points =
        "document.querySelector('.spark polyline').getAttribute('points').split(' ').length";
    let before = browser.value(points).as_u64().unwrap();
    made::import(&store, folder.path(), &[("line", 6..9, HISTORY)]);
    browser.value("window.pathtwinRenew().then(() => 1)");
    assert_eq!(browser.value(points).as_u64().unwrap(), before + 3);
    assert_eq!(browser.value("window.here"), "still");
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn without_a_script_everything_is_there() {
    let served = made();
    let mut browser = Browser::start();
    let off = serde_json::json!({"value": true});
    browser.call("Emulation.setScriptExecutionDisabled", off);
    let url = serde_json::json!({"url": served.url("/path?name=office")});
    browser.call("Page.navigate", url);
    browser.until("document.readyState === 'complete' && location.protocol === 'http:'");
    let shown = browser.value("document.querySelectorAll('.drawing svg .dot').length");
    assert!(shown.as_u64().unwrap() >= 40, "{shown}");
}
