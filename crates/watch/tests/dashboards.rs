//! The Grafana dashboard and the alert rules use exported metrics.

#![allow(clippy::expect_used)]

mod common;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use common::World;
use serde_json::Value;

fn packaging(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../packaging")
        .join(file)
}

/// Words that begin with `pathtwin_`.
fn metrics(text: &str) -> BTreeSet<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !word(c));
    words
        .filter(|w| w.starts_with("pathtwin_"))
        .map(str::to_owned)
        .collect()
}

/// The names that a watch exports after a few days.
fn exported() -> BTreeSet<String> {
    let mut world = World::new(2, "60GB", Vec::new(), 1);
    world.run(3.0);
    metrics(&watch::metrics::text(&world.watcher, "0.1.0", world.now))
}

/// Names that exist only after a change, or with a cause.
const SOMETIMES: [&str; 3] = [
    "pathtwin_change_timestamp_seconds",
    "pathtwin_change_reported_timestamp_seconds",
    "pathtwin_finding",
];

fn unknown(text: &str) -> Vec<String> {
    let exported = exported();
    let known = |name: &String| exported.contains(name) || SOMETIMES.contains(&name.as_str());
    metrics(text)
        .into_iter()
        .filter(|name| !known(name))
        .collect()
}

#[test]
fn the_dashboard_names_exported_metrics_and_no_data_source_of_ours() {
    let text = fs::read_to_string(packaging("grafana/pathtwin.json")).expect("read it");
    assert_eq!(unknown(&text), Vec::<String>::new());
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    // Each change is marked where it began, however long after that it was found; without this, the
    // first change of a path would not be marked at all.
    let mark = &dashboard["annotations"]["list"][0];
    assert_eq!(mark["useValueForTime"], true);
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len());
    for panel in panels {
        assert_eq!(panel["datasource"]["uid"], "${source}");
        let targets = panel["targets"].as_array().expect("targets");
        assert!(
            targets
                .iter()
                .all(|t| t["expr"].as_str().is_some_and(|e| e.contains("pathtwin_")))
        );
    }
}

/// What `scripts/setup test` unpacks into the user's cache, if it is there.
fn cached(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or(home);
    let file = cache?.join("pathtwin/test").join(name);
    file.exists().then_some(file)
}

/// The output of promtool, which must accept the file; `None` where it is not installed.
fn accepted(arguments: [&str; 2], file: &Path) -> Option<String> {
    let output = Command::new(cached("promtool").unwrap_or_else(|| "promtool".into()))
        .args(arguments)
        .arg(file)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: no promtool; run: scripts/setup test");
        return None;
    };
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{said}");
    Some(said)
}

/// What of Grafana's types does not describe a dashboard with Prometheus' annotations: the data
/// source adds these keys.
const TYPED: &str = "import type { AnnotationQuery, Dashboard, DataQuery } from '@grafana/schema';
type Mark = AnnotationQuery<DataQuery> & {
  expr: string; titleFormat: string; useValueForTime: boolean;
};
type Whole = Omit<Dashboard, 'annotations'> & { annotations: { list: Mark[] } };
export const dashboard: Whole = ";

/// Checks a dashboard against the types that Grafana publishes (npm: `@grafana/schema`), which have
/// no key that they do not name; the errors. `None` where they are not installed.
fn untyped(dashboard: &str) -> Option<String> {
    let Some(types) = cached("types-13.2.3/node_modules") else {
        eprintln!("skipped: no @grafana/schema; run: scripts/setup test");
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(&types, folder.path().join("node_modules")).expect("link it");
    fs::write(
        folder.path().join("check.mts"),
        format!("{TYPED}{dashboard};\n"),
    )
    .expect("write it");
    let output = Command::new("node")
        .arg(types.join("typescript/lib/tsc.js"))
        .args([
            "--noEmit",
            "--strict",
            "--skipLibCheck",
            "--module",
            "nodenext",
            "check.mts",
        ])
        .current_dir(folder.path())
        .output()
        .expect("run node; install: scripts/setup test");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), said.is_empty(), "{said}{failed}");
    Some(said)
}

#[test]
fn the_dashboard_has_the_types_that_grafana_publishes() {
    let text = fs::read_to_string(packaging("grafana/pathtwin.json")).expect("read it");
    let Some(errors) = untyped(&text) else {
        return;
    };
    assert_eq!(errors, "");
    // A key that Grafana does not know, and a value of another type.
    for (right, wrong) in [
        ("\"editable\"", "\"editabel\""),
        ("\"version\": 1", "\"version\": \"1\""),
    ] {
        assert!(text.contains(right));
        let errors = untyped(&text.replacen(right, wrong, 1));
        assert!(errors.is_some_and(|errors| errors.contains("error TS")));
    }
}

#[test]
fn the_alert_rules_name_exported_metrics_and_promtool_accepts_them() {
    let file = packaging("prometheus/pathtwin.rules.yml");
    let text = fs::read_to_string(&file).expect("read it");
    assert_eq!(unknown(&text), Vec::<String>::new());
    accepted(["check", "rules"], &file);
}

/// The values after `key` in a file of rules or of their tests.
fn named<'a>(text: &'a str, key: &str) -> BTreeSet<&'a str> {
    let values = text.lines().filter_map(|line| line.split_once(key));
    values.map(|(_, value)| value.trim()).collect()
}

#[test]
fn every_alert_fires_on_its_series_and_on_no_others() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules/pathtwin.test.yml");
    let tests = fs::read_to_string(&file).expect("read it");
    let rules = fs::read_to_string(packaging("prometheus/pathtwin.rules.yml")).expect("read it");
    assert_eq!(named(&rules, "alert: "), named(&tests, "alertname: "));
    accepted(["test", "rules"], &file);
}
