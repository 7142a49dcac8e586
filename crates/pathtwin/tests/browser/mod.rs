//! A real browser for tests of pages: headless Chromium, controlled over a pipe by the DevTools
//! protocol. Messages are JSON, each terminated by a zero byte.

#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, unreachable_pub)]

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

/// Command that installs what is missing.
const REMEDY: &str = "run scripts/setup test";

/// A browser with one tab.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: u64,
    session: Option<String>,
    /// Errors on the console, and uncaught exceptions.
    pub errors: Vec<String>,
    _profile: tempfile::TempDir,
}

/// Size of the window, and colour scheme.
#[derive(Clone, Copy, Debug)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
}

impl Viewport {
    pub const DESK: Self = Self {
        width: 1200,
        height: 900,
        dark: false,
    };
    pub const PHONE: Self = Self {
        width: 390,
        height: 844,
        dark: false,
    };

    /// The same in the dark scheme.
    pub const fn dark(self) -> Self {
        Self { dark: true, ..self }
    }
}

impl Browser {
    pub fn start() -> Self {
        Self::start_by(&[])
    }

    /// By a command that executes another one, such as `ip netns exec NAME`.
    pub fn start_by(command: &[&str]) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The program expects its pipe as descriptors 3 and 4. Without a separate sandbox it also
        // runs as root and in containers; the pages are ours.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null",
                "sh",
            ])
            .args(command)
            .arg(chromium())
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            // Without a locale the headless shell is in "en-US@posix", which its scripts refuse.
            .env("LC_ALL", "en_US.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut browser = Self {
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            number: 0,
            session: None,
            errors: Vec::new(),
            _profile: profile,
        };
        let tab = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let at = json!({"targetId": tab["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", at);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Opens a file and waits until its charts are drawn.
    pub fn open(&mut self, file: &Path, viewport: Viewport) {
        self.set(viewport);
        let url = format!("file://{}", file.canonicalize().unwrap().display());
        self.navigate(&url);
        self.value("window.pathtwin ? window.pathtwin.ready.then(() => 1) : 1");
    }

    /// Opens a page of a server and waits until it is loaded.
    pub fn visit(&mut self, url: &str, viewport: Viewport) {
        self.set(viewport);
        self.navigate(url);
    }

    /// Leaves the page before, which some versions still answer for after `Page.navigate`.
    fn navigate(&mut self, url: &str) {
        self.errors.clear();
        self.value("window.left = true");
        self.call("Page.navigate", json!({ "url": url }));
        let (scheme, _) = url.split_once("//").unwrap();
        let there =
            format!("document.readyState === 'complete' && location.protocol === '{scheme}'");
        self.until(&format!("!window.left && {there}"));
    }

    /// Changes size and colours.
    pub fn set(&mut self, viewport: Viewport) {
        let size = json!({"width": viewport.width, "height": viewport.height,
            "deviceScaleFactor": 1, "mobile": viewport.width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if viewport.dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media);
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    }

    /// The value of an expression in the page; a promise is waited for.
    pub fn value(&mut self, expression: &str) -> Value {
        self.evaluate(expression)
            .unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Waits until an expression is true. The page may be left for another meanwhile, in which the
    /// expression is asked for next.
    pub fn until(&mut self, expression: &str) {
        loop {
            match self.evaluate(expression) {
                Ok(Value::Bool(true)) => return,
                Ok(_) => std::thread::yield_now(),
                Err(error) => assert!(is_left(&error), "{expression}: {error}"),
            }
        }
    }

    /// The value of an expression in the page, or the protocol's error.
    fn evaluate(&mut self, expression: &str) -> Result<Value, Value> {
        let given = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.ask("Runtime.evaluate", given)?;
        let failed = &result["exceptionDetails"];
        assert!(failed.is_null(), "{expression}: {failed}");
        Ok(result["result"]["value"].clone())
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str, shift: bool) {
        for kind in ["keyDown", "keyUp"] {
            let modifiers = if shift { 8 } else { 0 };
            let text = match key {
                "Enter" => "\r",
                _ if key.chars().count() == 1 => key,
                _ => "",
            };
            // Focus moves by the number that Windows has for the key, not by its name.
            let number = match key {
                "Tab" => 9,
                "Enter" => 13,
                "ArrowRight" => 39,
                _ => 0,
            };
            let event = json!({"type": kind, "key": key, "code": key, "text": text,
                "modifiers": modifiers, "windowsVirtualKeyCode": number});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Opens a page of a server, which must fit the window and pass the accessibility checker
    /// without an error on the console. A page may be refused by its status, which is one.
    pub fn check(&mut self, name: &str, url: &str, viewport: Viewport) {
        self.visit(url, viewport);
        self.accessible(name, viewport);
        let is_status = |error: &String| error.contains("status of 401");
        self.errors.retain(|error| !is_status(error));
        assert!(self.errors.is_empty(), "{name}: {:?}", self.errors);
    }

    /// Asserts that the page fits the window and passes the accessibility checker.
    pub fn accessible(&mut self, name: &str, viewport: Viewport) {
        let wide = self.value("document.documentElement.scrollWidth").as_u64();
        if wide.unwrap() > u64::from(viewport.width) {
            let what = self.value(
                "[...document.querySelectorAll('body *')]
                    .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth)
                    .map(e => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`).join(' | ')",
            );
            panic!("{name}: {wide:?} pixels: {what}");
        }
        self.value("document.querySelectorAll('details').forEach(d => { d.open = true })");
        self.value(&format!("{}; 1", axe()));
        let found = self.value(
            "axe.run(document).then(r => r.violations.map(v =>
                `${v.impact} ${v.id}: ${v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary).join(' | ')}`))",
        );
        let found = found.as_array().unwrap();
        assert!(found.is_empty(), "{name}: {found:#?}");
    }

    /// The whole page as PNG, or the part between two pixel rows.
    pub fn picture(&mut self, part: Option<[f64; 2]>) -> Vec<u8> {
        let layout = self.call("Page.getLayoutMetrics", json!({}));
        let size = &layout["cssContentSize"];
        let [from, to] = part.unwrap_or([0.0, size["height"].as_f64().unwrap()]);
        let clip =
            json!({"x": 0, "y": from, "width": size["width"], "height": to - from, "scale": 1});
        let wanted = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let picture = self.call("Page.captureScreenshot", wanted);
        BASE64_STANDARD
            .decode(picture["data"].as_str().unwrap())
            .unwrap()
    }

    /// The printed page as PDF.
    pub fn print(&mut self) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", json!({"printBackground": true}));
        BASE64_STANDARD
            .decode(printed["data"].as_str().unwrap())
            .unwrap()
    }

    /// Calls a method of the protocol and returns its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.ask(method, parameters)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls a method of the protocol and returns its result or error.
    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        self.number += 1;
        let number = self.number;
        let mut message = json!({"id": number, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.to.write_all(&text).unwrap();
        loop {
            let answer = self.read();
            if answer["id"] == json!(number) {
                return match &answer["error"] {
                    Value::Null => Ok(answer["result"].clone()),
                    error => Err(error.clone()),
                };
            }
            self.event(&answer);
        }
    }

    fn read(&mut self) -> Value {
        let mut text = Vec::new();
        self.from.read_until(0, &mut text).unwrap();
        assert_eq!(text.pop(), Some(0), "the browser is gone");
        serde_json::from_slice(&text).unwrap()
    }

    fn event(&mut self, event: &Value) {
        let given = &event["params"];
        let bad = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                given["type"] == "error" || given["type"] == "warning"
            }
            Some("Log.entryAdded") => given["entry"]["level"] == "error",
            _ => false,
        };
        if bad {
            self.errors.push(given.to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether an expression has no value because its page was left while it was evaluated: errors of
/// `Runtime.evaluate` in Chromium (`content/browser/devtools` and V8's inspector).
fn is_left(error: &Value) -> bool {
    let errors = [
        "Inspected target navigated or closed",
        "Execution context was destroyed.",
        "Cannot find default execution context",
    ];
    errors.iter().any(|known| error["message"] == *known)
}

fn chromium() -> PathBuf {
    // Set-up downloads one only where none of the system's works. Debian's script in /usr/bin only
    // adds settings to the program in /usr/lib; Ubuntu's fails without its snap.
    let places = [
        "/usr/lib/chromium/chromium",
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let named = std::env::var_os("PATHTWIN_CHROMIUM").map(PathBuf::from);
    let found = named
        .into_iter()
        .chain([cache("chromium-153.0.0/chromium")])
        .chain(places.map(PathBuf::from))
        .find(|p| p.exists());
    found.unwrap_or_else(|| panic!("no chromium here: {REMEDY}, or name one in PATHTWIN_CHROMIUM"))
}

/// A file that `scripts/setup test` downloads.
fn cache(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || std::env::home_dir().unwrap().join(".cache"),
        PathBuf::from,
    );
    cache.join("pathtwin/test").join(name)
}

/// The accessibility checker's source.
pub fn axe() -> String {
    let file = cache("axe-core-4.14.1.min.js");
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}: {REMEDY}", file.display()))
}
