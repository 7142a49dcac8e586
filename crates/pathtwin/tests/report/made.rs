//! Fixtures of the report tests: a run and a matrix of the lab, and their reports, made once.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use serde_json::Value;

use super::common::{pathtwin, text};

const PATH: &str = r#"
name = "path"
seed = 5

[path]
rtt = "30ms"

[path.down]
rate = "50mbit"
loss = "0.4%"

[path.up]
rate = "10mbit"
buffer = "150ms"

[tunnel]
mtu = 1420
"#;

const PLAN: &str = r#"
name = "<script>alert(\"plan\")</script>"

[repeats]
min = 3
max = 3

[[step]]
kind = "idle"
duration_s = 1.5

[[step]]
kind = "udp_sweep"
direction = "down"
from_bps = 1000000
to_bps = 200000000
duration_s = 0.5

[[step]]
kind = "udp_sweep"
direction = "up"
from_bps = 1000000
to_bps = 200000000
duration_s = 0.5

[[step]]
kind = "tcp"
direction = "down"
flows = 1
warmup_s = 0.5
duration_s = 2.5
repeat = true

[[step]]
kind = "tcp"
direction = "up"
flows = 1
cc = ["cubic"]
warmup_s = 0.5
duration_s = 2.5
repeat = true
"#;

const MATRIX: &str = r#"
name = "matrix"
repeats = 3
duration = "2s"

[path]
rtt = "20ms"
rate = "20mbit"

[matrix]
"ends.server.cc" = ["cubic", "bbr"]
"path.loss" = ["0%", "0.5%", "2%"]
"#;

/// A run and a matrix of the lab, and their reports, made once for all tests.
pub(super) struct Made {
    _folder: tempfile::TempDir,
    pub(super) run: PathBuf,
    pub(super) page: PathBuf,
    pub(super) chinese: PathBuf,
    pub(super) rows_page: PathBuf,
    pub(super) document: Value,
    pub(super) rows: Vec<Value>,
}

fn done(command: &mut std::process::Command) -> String {
    let output = command.output().expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

pub(super) fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(make)
}

fn make() -> Made {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, text) in [
        ("path.toml", PATH),
        ("plan.toml", PLAN),
        ("matrix.toml", MATRIX),
    ] {
        std::fs::write(at(name), text).unwrap();
    }
    let (run, rows) = (at("run.json"), at("rows.json"));
    let mut measure = pathtwin();
    measure.args(["measure", "--lab"]).arg(at("path.toml"));
    measure.arg("--plan").arg(at("plan.toml"));
    done(measure.arg("--out").arg(&run));
    let mut lab = pathtwin();
    lab.args(["lab", "run", "--output", "json"]);
    std::fs::write(&rows, done(lab.arg(at("matrix.toml")))).unwrap();
    let report = |documents: &[&Path], lang: &str, out: &str| {
        let mut report = pathtwin();
        report.arg("report").args(documents).args(["--lang", lang]);
        done(report.arg("--out").arg(at(out)));
        at(out)
    };
    let page = report(&[&run, &rows], "en", "report.html");
    let chinese = report(&[&run, &rows], "zh-CN", "chinese.html");
    let rows_page = report(&[&rows], "en", "rows.html");
    let read =
        |file: &Path| -> Value { serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap() };
    Made {
        document: read(&run),
        rows: read(&rows)["rows"].as_array().unwrap().clone(),
        run,
        page,
        chinese,
        rows_page,
        _folder: folder,
    }
}
