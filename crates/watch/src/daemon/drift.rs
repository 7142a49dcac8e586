//! Comparison of the kept changes of `tune` with this host, once an hour.

use std::collections::BTreeMap;

use model::{text, text::Text};
use stats::Random;

use crate::{
    moment::{HOUR_NS, Moment},
    state::Folder,
    undo,
    watcher::{KeptChange, Watcher},
};

/// A comparison of the kept changes of `tune` with this host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drifts {
    /// Those that somebody has overridden, by id, with their settings.
    pub found: BTreeMap<String, Vec<Text>>,
    /// Settings that could not be compared, and why.
    pub unread: Vec<Text>,
    /// The kept changes in force, with when they were made.
    pub kept: Vec<KeptChange>,
}

/// Compares, or says why it cannot.
pub type Compare<'a> = &'a mut dyn FnMut() -> Result<Drifts, Text>;

/// The hourly comparison.
pub(super) struct Comparison<'a> {
    compare: Compare<'a>,
    /// ns of CLOCK_BOOTTIME.
    due: u64,
    /// What could not be compared the last time: it is logged once.
    uncompared: Vec<Text>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(compare: Compare<'a>) -> Self {
        Self {
            compare,
            due: 0,
            uncompared: Vec::new(),
        }
    }

    /// Compares if it is due. What is known of changes that cannot be compared remains.
    /// The request to undo a change is left in the folder, or withdrawn from it.
    pub(super) fn at(
        &mut self,
        now: Moment,
        (watcher, random, folder): (&mut Watcher, &mut Random, &Folder),
        log: &mut dyn FnMut(&Text),
    ) {
        if self.due > now.boot_ns {
            return;
        }
        self.due = now.boot_ns + HOUR_NS;
        let uncompared = match (self.compare)() {
            Ok(Drifts {
                found,
                unread,
                kept,
            }) => {
                watcher.drifted(&sys::machine::host_name(), found, now);
                watcher.consider(&kept, now, random);
                unread
            }
            Err(error) => vec![text!(
                "changes of pathtwin tune are not compared with this host: {error}",
                error = error
            )],
        };
        let before = std::mem::replace(&mut self.uncompared, uncompared);
        let new = self.uncompared.iter().filter(|text| !before.contains(text));
        new.for_each(&mut *log);
        if let Err(error) = undo::write(folder.path(), watcher.request()) {
            let file = folder.path().join(undo::REQUEST);
            log(&text!(
                "write {file}: {error}",
                file = &file,
                error = &error
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::config;

    #[test]
    fn what_cannot_be_compared_is_logged_once_and_forgets_no_drift() {
        let config = config::parse("w", "[[path]]\nhost = \"192.0.2.1\"\n").unwrap();
        let mut now = Moment {
            boot_ns: 1,
            wall_us: 1_795_392_000_000_000,
            offset_s: 0,
        };
        let mut watcher = Watcher::new(config, "boot", now, &mut Random::new(1));
        let drifts = Drifts {
            found: BTreeMap::from([("1".to_owned(), vec![text!("unknown")])]),
            ..Drifts::default()
        };
        let unread = Drifts {
            unread: vec![text!("none")],
            ..drifts.clone()
        };
        let denied = || Err(text!("none"));
        let mut all = vec![
            denied(),
            denied(),
            Ok(drifts.clone()),
            denied(),
            Ok(unread.clone()),
            Ok(unread),
            Ok(drifts),
        ]
        .into_iter();
        let mut next = || all.next().unwrap();
        let mut comparison = Comparison::new(&mut next);
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        let mut said = Vec::new();
        for _ in 0..7 {
            for minutes in [0, 30] {
                let at = now.after(minutes * 60_000_000_000);
                let with = (&mut watcher, &mut Random::new(1), &folder);
                comparison.at(at, with, &mut |line| said.push(line.to_string()));
            }
            now = now.after(HOUR_NS);
        }
        let refused = "changes of pathtwin tune are not compared with this host: none";
        assert_eq!(said, [refused, refused, "none"]);
        assert_eq!(watcher.waiting().len(), 1, "one message for one drift");
    }
}
