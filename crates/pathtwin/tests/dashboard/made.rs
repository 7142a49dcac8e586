//! Fixture: a history of recorded runs, and a dashboard that serves it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    ops::Range,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::common::{
    pathtwin,
    server::{after, says},
    text,
};

/// Runs of a path.
pub(super) const RUNS: u64 = 40;
/// The run from which on the path `office` is slower, with another kernel.
pub(super) const CHANGED: u64 = 28;

/// Shape of the run with a number: goodput as a share of the recorded one, and the kernel.
pub(super) type Shape = fn(u64) -> (f64, &'static str);

/// Nothing changes.
pub(super) const HISTORY: Shape = |_| (1.0, "6.1.0");
const OFFICE: Shape = |number| match number {
    ..CHANGED => (1.0, "6.1.0"),
    _ => (0.7, "6.12.0"),
};
/// Slower since the latest day.
const HOME: Shape = |number| match number {
    ..36 => (1.0, "6.1.0"),
    _ => (0.6, "6.1.0"),
};

/// A server with its history.
pub(super) struct Dashboard {
    child: Child,
    pub(super) address: SocketAddr,
    pub(super) store: PathBuf,
}

impl Dashboard {
    pub(super) fn start(store: &Path, arguments: &[&str]) -> Self {
        let mut child = pathtwin()
            .args(["dashboard", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("start it");
        let said = says(&mut child, "pages at http://");
        let address = after(&said, "pages at http://");
        Self {
            child,
            address,
            store: store.to_owned(),
        }
    }

    pub(super) fn url(&self, page: &str) -> String {
        format!("http://{}{page}", self.address)
    }

    /// Status and body of a page. `fields`: more of them, each with its end.
    pub(super) fn get(&self, page: &str, fields: &str) -> (u16, String) {
        let request = format!("GET {page} HTTP/1.1\r\n{fields}Host: localhost");
        let text = ask(self.address, &request);
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), body.to_owned())
    }

    /// The goodputs of one flow down in the history, in the order of time.
    pub(super) fn goodputs(&self, path: &str) -> Vec<f64> {
        let mut command = pathtwin();
        command.args(["history", "series", "--output", "json", "--path", path]);
        command.args(["--figure", "goodput_bps", "--step", "tcp down x1"]);
        let output = command
            .arg("--store")
            .arg(&self.store)
            .output()
            .expect("run");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let points = all.as_array().expect("points").iter();
        points
            .map(|p| p["median"].as_f64().expect("a number"))
            .collect()
    }

    /// The newest run of a path.
    pub(super) fn newest(&self, path: &str) -> String {
        let (_, page) = self.get("/", "");
        let (_, card) = page
            .split_once(&format!(">{path}</a></h2>"))
            .expect("its card");
        let (_, run) = card.split_once("href=\"/run/").expect("its run");
        run.split('"').next().expect("its id").to_owned()
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The response to a request without the end of its head.
pub(super) fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connect");
    let whole = format!("{request}\r\nConnection: close\r\n\r\n");
    stream.write_all(whole.as_bytes()).expect("ask");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("read the response");
    text(&bytes)
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A run that the lab has measured, with loads in both directions.
fn measured() -> Value {
    let file = crates().join("model/tests/data/run-1.json");
    let bytes = std::fs::read(file).expect("a measured run");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// A run that was recorded between two hosts, through a relay of NetBird.
fn relayed() -> Value {
    let file = crates().join("explain/tests/runs/netbird-relayed.json.zst");
    let packed = std::fs::read(file).expect("a recorded run");
    let bytes = zstd::decode_all(packed.as_slice()).expect("unpack it");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Adds runs: path, numbers, and their shape. The last of [`RUNS`] was an hour ago, each other six
/// hours before the next.
pub(super) fn import(store: &Path, folder: &Path, paths: &[(&str, Range<u64>, Shape)]) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time");
    let now_us = now.as_micros() as u64;
    for (index, (path, numbers, shape)) in paths.iter().enumerate() {
        let base = measured();
        let mut files = Vec::new();
        for number in numbers.clone() {
            let (share, kernel) = shape(number);
            let noise = 1.0 + (number * 37 % 11) as f64 / 1000.0;
            let mut run = base.clone();
            run["id"] = json!(format!("{:016x}", ((index as u64 + 1) << 16) | number));
            run["lab"] = json!(false);
            run["started_us"] = json!(now_us - (1 + 6 * (RUNS - number)) * 3_600_000_000);
            run["near"]["facts"]["kernel"] = json!(kernel);
            for figure in run["figures"].as_array_mut().expect("figures") {
                if figure["kind"] == "goodput_bps" {
                    for field in ["median", "mean", "low", "high"] {
                        if let Some(value) = figure[field].as_f64() {
                            figure[field] = json!(value * share * noise);
                        }
                    }
                }
            }
            let file = folder.join(format!("{index}-{number}.json"));
            std::fs::write(&file, run.to_string()).expect("write it");
            files.push(file);
        }
        add(store, &files, &[&format!("path={path}")]);
    }
}

fn add(store: &Path, files: &[PathBuf], labels: &[&str]) {
    let mut command = pathtwin();
    command
        .args(["history", "import", "--store"])
        .arg(store)
        .args(files);
    for label in labels {
        command.args(["--label", label]);
    }
    let output = command.output().expect("run it");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// A dashboard of a history of several paths, which is made once.
pub(super) fn made() -> Dashboard {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        // As long as where a home directory may be: it is shown on the page, and made a phone's too
        // wide.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("dashboard")
            .join("of-a-user-whose-history-is-far-below-the-home-directory");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let store = folder.join("history.db");
        let paths: [(&str, Range<u64>, Shape); 3] = [
            ("office", 1..RUNS + 1, OFFICE),
            ("home", 1..RUNS + 1, HOME),
            ("<script>alert(1)</script>", 1..3, HISTORY),
        ];
        import(&store, &folder, &paths);
        let file = |name: &str, run: &Value| {
            let file = folder.join(name);
            std::fs::write(&file, run.to_string()).expect("write it");
            file
        };
        let mut relayed = relayed();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a time");
        relayed["started_us"] = json!(now.as_micros() as u64 - 7_200_000_000);
        add(&store, &[file("relay.json", &relayed)], &["path=relay"]);
        let mut run = measured();
        run["started_us"] = json!(now.as_micros() as u64 - 7_200_000_000);
        for (near, far) in [
            ("a", "b"),
            ("a", "c"),
            ("b", "a"),
            ("b", "c"),
            ("c", "a"),
            ("c", "b"),
        ] {
            run["id"] = json!(format!("mesh-{near}-{far}"));
            let file = file("mesh.json", &run);
            let path = format!("path={near}-{far}");
            add(&store, &[file], &[&path, &format!("host={near}")]);
        }
        store
    };
    Dashboard::start(MADE.get_or_init(make), &[])
}
