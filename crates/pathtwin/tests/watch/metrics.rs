//! The metrics of a real watch, read by promtool and by a real Prometheus.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::{
    LISTEN,
    common::{pathtwin, server::Server, text},
    config, get, listening, start, until,
};

/// The metrics of a watch, once there are probes in them.
fn metrics(port: u16) -> String {
    let mut found = String::new();
    until("a probe in the metrics", || {
        found = get(port).unwrap_or_default();
        found.contains("pathtwin_probe_rtt_seconds_count")
    });
    found
}

/// A program that `scripts/setup test` unpacks, or the system's.
fn installed(name: &str) -> PathBuf {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or(home);
    let unpacked = cache.map(|cache| cache.join("pathtwin/test").join(name));
    unpacked
        .filter(|path| path.exists())
        .unwrap_or_else(|| name.into())
}

#[test]
fn metrics_are_served_and_written_and_promtool_accepts_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let file = folder.path().join("pathtwin.prom");
    let more = format!("{LISTEN}\ntextfile = {file:?}");
    let config = config(folder.path(), &server, &key, &more);
    let mut watch = start(&config, &folder.path().join("none"));
    let (port, _log) = listening(&mut watch);
    let text = metrics(port);
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
    for line in [
        "# TYPE pathtwin_probe_rtt_seconds histogram",
        "pathtwin_path_reachable{path=\"loop\"} 1",
        "pathtwin_probes_lost_total{family=\"v4\",layer=\"underlay\",path=\"loop\"} 0",
        "pathtwin_budget_bytes{} 2000000000",
    ] {
        assert!(text.lines().any(|own| own == line), "no {line} in\n{text}");
    }
    let written = fs::read_to_string(&file).expect("the file of the textfile collector");
    assert!(written.contains("pathtwin_build_info"), "{written}");
    let checked = Command::new(installed("promtool"))
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = checked else {
        eprintln!("skipped: no promtool; run: scripts/setup test");
        return;
    };
    let mut stdin = promtool.stdin.take().expect("its input");
    stdin.write_all(text.as_bytes()).expect("write the metrics");
    drop(stdin);
    let output = promtool.wait_with_output().expect("run promtool");
    assert!(
        output.status.success(),
        "{}\n{text}",
        self::text(&output.stderr)
    );
}

/// A Prometheus on loopback that scrapes one port each second; killed when dropped.
struct Prometheus {
    child: Child,
    port: u16,
}

impl Prometheus {
    /// `None` if it is not installed.
    fn start(folder: &Path, scraped: u16) -> Option<Self> {
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
             rule_files: [{:?}]\n\
             scrape_configs: [{{job_name: pathtwin, static_configs: [{{targets: ['127.0.0.1:{scraped}']}}]}}]\n",
            packaging("prometheus/pathtwin.rules.yml"),
        );
        let file = folder.join("prometheus.yml");
        fs::write(&file, config).expect("write its config");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let port = free.expect("a free port").port();
        let child = Command::new(installed("prometheus"))
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.join("tsdb").display()
            ))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--log.level=error")
            .spawn();
        let prometheus = Self {
            child: child.ok()?,
            port,
        };
        until("a Prometheus that is ready", || {
            prometheus.get("/-/ready").is_some()
        });
        Some(prometheus)
    }

    /// The body of a page that is there. By HTTP/1.0, which has no chunks.
    fn get(&self, page: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let request = format!("GET {page} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let is_there = head.split(' ').nth(1) == Some("200");
        is_there.then(|| body.to_owned())
    }

    /// The data of its API; none if it refuses.
    fn api(&self, page: &str) -> Option<Value> {
        let mut answer: Value =
            serde_json::from_str(&self.get(&format!("/api/v1/{page}"))?).ok()?;
        (answer["status"] == "success").then(|| answer["data"].take())
    }

    /// The series that a query has now; none if it refuses the query.
    fn query(&self, query: &str) -> Option<Vec<Value>> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let mut data = self.api(&format!("query?query={encoded}"))?;
        data["result"].as_array_mut().map(std::mem::take)
    }

    /// Each alert with its state.
    fn alerts(&self) -> Vec<(String, String)> {
        let rules = self.api("rules").expect("its rules");
        let groups = rules["groups"].as_array().expect("groups");
        let rules = groups.iter().flat_map(|group| group["rules"].as_array());
        let state = |rule: &Value| {
            assert_ne!(rule["health"], "err", "{rule}");
            let text = |name: &str| rule[name].as_str().unwrap_or_default().to_owned();
            let is_judged = rule["health"] == "ok";
            let state = if is_judged {
                text("state")
            } else {
                String::new()
            };
            (text("name"), state)
        };
        rules.flatten().map(state).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn packaging(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../packaging")
        .join(file)
}

/// The names of all samples.
fn names(text: &str) -> BTreeSet<String> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let names = samples.filter_map(|line| line.split(['{', ' ']).next());
    names.map(str::to_owned).collect()
}

/// All queries of the dashboard, for all paths.
fn queries() -> Vec<String> {
    let text = fs::read_to_string(packaging("grafana/pathtwin.json")).expect("read it");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array());
    let marks = dashboard["annotations"]["list"].as_array();
    let all = targets.flatten().chain(marks.expect("annotations"));
    let expr = |one: &Value| one["expr"].as_str().map(|expr| expr.replace("$path", ".*"));
    all.filter_map(expr).collect()
}

#[test]
fn a_prometheus_scrapes_a_watch_and_evaluates_alerts_and_dashboard() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, LISTEN);
    let mut watch = start(&config, &folder.path().join("none"));
    let (port, _log) = listening(&mut watch);
    let text = metrics(port);
    let Some(prometheus) = Prometheus::start(folder.path(), port) else {
        watch.kill().expect("kill it");
        watch.wait().expect("it is gone");
        eprintln!("skipped: no prometheus; run: scripts/setup test");
        return;
    };

    // Every series that the watch serves.
    let mut found = BTreeSet::new();
    until("all series", || {
        let all = prometheus.query("{job=\"pathtwin\",__name__=~\"pathtwin_.*\"}");
        let all = all.expect("a query").into_iter();
        found = all
            .filter_map(|series| series["metric"]["__name__"].as_str().map(str::to_owned))
            .collect();
        found.is_superset(&names(&text))
    });
    let reachable = prometheus
        .query("pathtwin_path_reachable")
        .expect("a query");
    assert_eq!(reachable[0]["metric"]["path"], "loop");
    assert_eq!(reachable[0]["value"][1], "1");

    // Every query of the dashboard; its variable is a label's values.
    let queries = queries();
    assert!(queries.len() > 10, "{queries:?}");
    for query in queries {
        assert!(prometheus.query(&query).is_some(), "refused: {query}");
    }
    let paths = prometheus.api("label/path/values");
    assert_eq!(paths, Some(serde_json::json!(["loop"])));

    // Every alert is evaluated without an error; none is about a healthy path. The one about a
    // watch that is not scraped is pending until the evaluation after the first scrape.
    let state = |name: &str| {
        let mut all = prometheus.alerts().into_iter();
        all.find(|(own, _)| own == name).map(|(_, state)| state)
    };
    until("alerts that are all evaluated and inactive", || {
        let all = prometheus.alerts();
        all.len() == 6 && all.iter().all(|(_, state)| state == "inactive")
    });
    drop(server);
    until("an alert about the far end", || {
        state("PathtwinUnreachable").is_some_and(|state| state == "pending")
    });
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
    until("an alert about the watch", || {
        state("PathtwinSilent").is_some_and(|state| state == "pending")
    });
}
