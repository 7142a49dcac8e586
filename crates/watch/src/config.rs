//! The config file: `pathtwin watch --config FILE`.

mod keys;
mod reason;
mod table;
mod values;

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use model::{change::ChangeId, net::Layer, units::Rate};

pub use keys::{EXAMPLE, reference};
pub use reason::Reason;
pub use table::Problem;
pub use values::{Metered, QuietHours};

use crate::post::Url;
use table::{Lines, Section, problems_of};

/// A checked config.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The folder of its state.
    pub state: PathBuf,
    /// A folder in memory for the state, of which `state` then has a copy of each day; absent =
    /// none.
    pub runtime: Option<PathBuf>,
    /// True if `state` and the history are on flash: runs are added to it once a day.
    pub flash: bool,
    /// The history, as for `--store`; absent = the user's own.
    pub store: Option<String>,
    /// Listen address of pages and metrics; absent = not served.
    pub listen: Option<SocketAddr>,
    /// Additional names of the server, besides those of this host.
    pub names: Vec<String>,
    /// A file to which the metrics are written; absent = none.
    pub textfile: Option<PathBuf>,
    /// Bytes on the line in a month, of all paths together.
    pub month_bytes: u64,
    /// Alarms.
    pub alarm: Alarm,
    /// The paths.
    pub paths: Vec<PathConfig>,
}

/// Recipients and conditions of change reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// A program with its arguments, which gets the message as JSON on standard input.
    pub command: Vec<String>,
    /// A URL to which the message is posted.
    pub webhook: Option<Url>,
    /// Hours in which no message is sent.
    pub quiet: Option<QuietHours>,
    /// The smallest change to detect, a share.
    pub change: f64,
}

/// A path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathConfig {
    /// Its name in messages, metrics and the history.
    pub name: String,
    /// The far end: HOST or HOST:PORT.
    pub host: String,
    /// Addresses of the far end inside tunnels.
    pub via: Vec<IpAddr>,
    /// File with the key; absent = the key that the host was measured with before.
    pub key: Option<PathBuf>,
    /// True if the far end needs no key.
    pub open: bool,
    /// The layers; empty = all that exist.
    pub layers: Vec<Layer>,
    /// Time from one group of probes to the next; absent = none.
    pub probe: Option<Duration>,
    /// Time from one short load to the next, on average; absent = none.
    pub load: Option<Duration>,
    /// Time from one run of the full plan to the next, on average; absent = only after a change.
    pub full: Option<Duration>,
    /// The full plan: `quick`, `default`, `thorough`, or a file.
    pub plan: String,
    /// Bytes on the line that a short load may cost.
    pub load_bytes: u64,
    /// Bytes on the line that a run of the full plan may cost.
    pub full_bytes: u64,
    /// Bytes on the line in a month; absent = bounded by that of all paths.
    pub month_bytes: Option<u64>,
    /// Congestion control of the short loads.
    pub cc: Vec<String>,
    /// The rate of the line, if it is known.
    pub rate: Option<Rate>,
    /// Billing of the line, by the byte or not.
    pub metered: Metered,
    /// Beginnings of the ids of the changes of `tune` that may be undone if they no longer help
    /// this path.
    pub undo_when_useless: Vec<String>,
}

impl PathConfig {
    /// Returns whether a change may be undone if it no longer helps this path.
    pub fn may_undo(&self, change: &ChangeId) -> bool {
        let mut own = self.undo_when_useless.iter();
        own.any(|own| change.as_str().starts_with(own.as_str()))
    }
}

/// All problems of a config.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", problems_of(file, problems))]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// The problems, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Reads a config. `file` is its name, for errors.
///
/// # Errors
/// The text is not TOML, or has unknown keys or impossible values.
pub fn parse(file: &str, text: &str) -> Result<Config, ConfigError> {
    let mut problems = Vec::new();
    let config = table::root(text, &mut problems)
        .and_then(|root| config(&root, Lines::of(text), &mut problems));
    problems.sort_by(|a, b| (a.line, &a.key).cmp(&(b.line, &b.key)));
    match (config, problems.is_empty()) {
        (Some(config), true) => Ok(config),
        _ => Err(ConfigError {
            file: file.to_owned(),
            problems,
        }),
    }
}

fn config(
    root: &toml::de::DeTable<'_>,
    lines: Lines<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Config> {
    let mut top = Section::new("", root, lines, keys::TOP, problems);
    let state = top.text("state").map(PathBuf::from);
    let runtime = top.text("runtime").map(PathBuf::from);
    let flash = top.flag("flash").unwrap_or(false);
    let store = top.text("store");
    if !cfg!(feature = "history") {
        if flash {
            top.wrong("flash", Reason::NoHistory);
        }
        if store.is_some() {
            top.wrong("store", Reason::NoHistory);
        }
    }
    let listen = top.listen("listen");
    let names = top.texts("names").unwrap_or_default();
    let textfile = top.text("textfile").map(PathBuf::from);
    let budget = top.table("budget");
    let alarm = top.table("alarm");
    let paths = top.tables("path");
    let mut month_bytes = None;
    if let Some(budget) = budget {
        month_bytes = Section::new("budget", budget, lines, keys::BUDGET, problems).size("month");
    }
    let alarm = match alarm {
        Some(alarm) => self::alarm(Section::new("alarm", alarm, lines, keys::ALARM, problems)),
        None => Alarm::default(),
    };
    let mut checked: Vec<PathConfig> = Vec::new();
    for (number, (line, table)) in paths.iter().enumerate() {
        let name = format!("path[{number}]");
        let section = Section::new(&name, table, lines, keys::PATH, problems);
        if let Some(path) = path(section, *line) {
            if checked.iter().any(|other| other.name == path.name) {
                let twice = Reason::NameTwice(path.name.clone());
                problems.push(Problem::at(*line, &format!("{name}.name"), twice));
            }
            checked.push(path);
        }
    }
    if paths.is_empty() {
        problems.push(Problem::at(1, "path", Reason::NoPath));
    }
    Some(Config {
        state: state.unwrap_or_else(|| PathBuf::from(keys::state())),
        runtime,
        flash,
        store,
        listen,
        names,
        textfile,
        month_bytes: month_bytes.unwrap_or(keys::MONTH_BYTES),
        alarm,
        paths: checked,
    })
}

impl Default for Alarm {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            webhook: None,
            quiet: None,
            change: keys::CHANGE,
        }
    }
}

fn alarm(mut section: Section<'_, '_>) -> Alarm {
    Alarm {
        command: section.texts("command").unwrap_or_default(),
        webhook: section.url("webhook"),
        quiet: section.hours("quiet"),
        change: section.share("change", 0.01..=0.5).unwrap_or(keys::CHANGE),
    }
}

fn path(mut section: Section<'_, '_>, line: usize) -> Option<PathConfig> {
    let host = section.text("host");
    if host.is_none() && !section.has("host") {
        section.wrong_at(line, "host", Reason::NoHost);
    }
    let named = section.name("name");
    let probe = section.every("probe", keys::PROBE, (10, 86_400));
    let load = section.every("load", keys::LOAD, (600, 30 * 86_400));
    let full = section.every("full", keys::FULL, (3600, 30 * 86_400));
    let path = PathConfig {
        name: named.or_else(|| host.clone()).unwrap_or_default(),
        host: host.unwrap_or_default(),
        via: section.addresses("via").unwrap_or_default(),
        key: section.text("key").map(PathBuf::from),
        open: section.flag("open").unwrap_or(false),
        layers: section.layers("layers").unwrap_or_default(),
        probe,
        load,
        full,
        plan: section
            .text("plan")
            .unwrap_or_else(|| keys::PLAN.to_owned()),
        load_bytes: section.size("load_bytes").unwrap_or(keys::LOAD_BYTES),
        full_bytes: section.size("full_bytes").unwrap_or(keys::FULL_BYTES),
        month_bytes: section.size("month"),
        cc: section
            .texts("cc")
            .unwrap_or_else(|| vec![keys::CC.to_owned()]),
        rate: section.rate("rate"),
        metered: section.metered("metered"),
        undo_when_useless: section.changes("undo_when_useless").unwrap_or_default(),
    };
    if path.open && path.key.is_some() {
        section.wrong("key", Reason::KeyAndOpen);
    }
    Some(path)
}

#[cfg(test)]
mod tests;
