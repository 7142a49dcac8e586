//! Measurement intervals of `watch`, as a table.

use std::time::Duration;

use crate::{plain, time::about};

/// A path with the mean intervals of its measurements; absent = none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its far end.
    pub host: &'a str,
    /// Between groups of probes.
    pub probe: Option<Duration>,
    /// Between short loads.
    pub load: Option<Duration>,
    /// Between runs of the full plan.
    pub full: Option<Duration>,
}

/// The table, and the budget of a month below it.
pub fn text(paths: &[Paced<'_>], month_bytes: u64) -> String {
    let every = |every: Option<Duration>| every.map_or_else(|| "never".to_owned(), about);
    let rows = paths.iter().map(|path| {
        let [probe, load, full] = [path.probe, path.load, path.full].map(every);
        vec![
            path.name.to_owned(),
            path.host.to_owned(),
            probe,
            load,
            full,
        ]
    });
    let heading = [
        "path",
        "far end",
        "probes every",
        "a load every",
        "full plan every",
    ];
    let table = plain::table(&heading, &[], rows.collect());
    let budget = month_bytes as f64 / 1e9;
    format!("{table}at most {budget:.2} GB on the line in a month\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_its_times_and_unmeasured_kinds_are_named() {
        let path = Paced {
            name: "office",
            host: "far.example",
            probe: Some(Duration::from_secs(300)),
            load: Some(Duration::from_secs(6 * 3600)),
            full: None,
        };
        let text = text(&[path], 2_500_000_000);
        for part in ["office", "5 min", "6.0 h", "never", "at most 2.50 GB"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
