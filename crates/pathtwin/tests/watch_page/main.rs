//! The page of a real watch in a real browser: its state and its live values. The only test of its
//! program, since a load beside others keeps the processors busy and is not valid.

#![cfg(all(feature = "history", feature = "page"))]
#![allow(clippy::expect_used)]

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;
#[path = "../watching/mod.rs"]
mod watching;

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Stdio},
};

use browser::{Browser, Viewport};
use common::{pathtwin, server::Server};
use watching::{LISTEN, config, listening, make_a_load_due, start, state, until};

/// The limit of the far end: a load is over before its bytes are.
const LIMIT: [&str; 2] = ["--max-rate", "100mbit"];

/// A child that is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A watch at the port of its config, and that port. Its log is passed on.
fn watch(config: &Path, folder: &Path) -> (Running, u16) {
    let mut child = start(config, &folder.join("none"));
    let (port, mut log) = listening(&mut child);
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::stderr()));
    (Running(child), port)
}

/// Sets in the state of a watch that does not run that its far end is reported as unreachable,
/// which takes five minutes.
fn make_unreachable(folder: &Path) {
    let mut state = state(folder).expect("a state");
    state["paths"]["loop"]["reach"] = serde_json::json!({
        "failures": 3, "since_us": 1, "reported": true, "error": null,
    });
    fs::write(folder.join("watch.json"), state.to_string()).expect("write the state");
}

/// A watch that has just measured a load. One beside other work on these processors may have no
/// valid figure, so that there are several attempts.
fn loaded(config: &Path, folder: &Path, state_folder: &Path) -> Running {
    let path = || state(state_folder).expect("a state")["paths"]["loop"].clone();
    for _ in 0..6 {
        let before = path()["load_us"].clone();
        assert!(make_a_load_due(state_folder));
        let (running, _) = watch(config, folder);
        until("a load", || path()["load_us"] != before);
        if path()["latest"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
        {
            return running;
        }
    }
    panic!("no load was valid: {}", path());
}

/// The response to a request by a name of the host.
fn ask(port: u16, page: &str, host: &str) -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    let request = format!("GET {page} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("ask");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("read the response");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

fn is_for_this_host_alone(port: u16) {
    for page in ["/", "/path?name=loop", "/metrics", "/live.js"] {
        let (head, body) = ask(port, page, "evil.example");
        assert!(head.starts_with("HTTP/1.1 421"), "{page}: {head}");
        assert!(!body.contains("loop"), "{page}: {body}");
        let (head, _) = ask(port, page, "localhost");
        assert!(head.starts_with("HTTP/1.1 200"), "{page}: {head}");
        let policy = "Content-Security-Policy: default-src 'none'";
        assert!(
            head.contains(policy) && !head.contains("unsafe"),
            "{page}: {head}"
        );
    }
}

/// A script in the page that is not the server's does not run. Its refusal is an error of the
/// console, so that this is last.
fn refuses_scripts(browser: &mut Browser) {
    browser.value(
        "(() => {
            const script = document.createElement('script');
            script.textContent = 'window.evil = true';
            document.body.append(script);
        })()",
    );
    assert_eq!(browser.value("window.evil === undefined"), true);
    browser
        .errors
        .retain(|e| !e.contains("Content Security Policy"));
}

#[test]
fn a_far_end_that_answers_again_and_a_new_load_are_shown_without_a_reload() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &LIMIT);
    let first = config(folder.path(), &server, &key, LISTEN);
    let state_folder = folder.path().join("state");
    let (running, port) = watch(&first, folder.path());
    until("a state of the path", || {
        state(&state_folder).is_some_and(|s| s["paths"]["loop"].is_object())
    });
    drop(running);
    make_unreachable(&state_folder);
    // The page stays at the same port when the watch is started again.
    let listen = format!("listen = \"127.0.0.1:{port}\"");
    let config = config(folder.path(), &server, &key, &listen);
    let far = server.address.port().to_string();
    drop(server);
    let (running, _) = watch(&config, folder.path());
    is_for_this_host_alone(port);
    let mut browser = Browser::start();
    let url = format!("http://127.0.0.1:{port}/");
    for (name, viewport) in [
        ("light", Viewport::DESK),
        ("dark", Viewport::DESK.dark()),
        ("phone", Viewport::PHONE),
    ] {
        browser.check(&format!("{name}, unreachable"), &url, viewport);
    }
    browser.value("window.here = 'still'");
    let mut shows = |what: &str| {
        let shown = browser.value("document.querySelector('#path-0').innerText");
        shown.as_str().expect("a text").contains(what)
    };
    assert!(shows("far end does not answer"));
    let again = pathtwin()
        .args(["serve", "--listen", "127.0.0.1", "--port", &far])
        .args(LIMIT)
        .arg("--key")
        .arg(&key)
        .stderr(Stdio::null())
        .spawn();
    let again = Running(again.expect("start the server again"));
    until("an answer on the page", || {
        !shows("far end does not answer")
    });
    assert!(!shows("Goodput"), "no load was due");
    drop(running);
    let running = loaded(&config, folder.path(), &state_folder);
    until("a goodput on the page", || shows("Goodput"));
    assert_eq!(browser.value("window.here"), "still");
    let value = browser.value("document.querySelector('#path-0 .live dd').textContent");
    let value = value.as_str().expect("a value");
    assert!(value.contains("bit/s") || value.contains("ms"), "{value}");
    // The page was read again while no watch ran, or not.
    browser.errors.retain(|e| !e.contains("ERR_CONNECTION"));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
    refuses_scripts(&mut browser);
    for (name, viewport) in [
        ("light", Viewport::DESK),
        ("dark", Viewport::DESK.dark()),
        ("phone", Viewport::PHONE),
    ] {
        browser.check(&format!("{name}, live"), &url, viewport);
        let path = format!("{url}path?name=loop&lang=zh-CN");
        browser.check(&format!("{name}, path"), &path, viewport);
    }
    drop((running, again));
}
