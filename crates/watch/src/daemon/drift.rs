//! Comparison of the kept changes of `tune` with this host, once an hour.

use std::collections::BTreeMap;

use model::{text, text::Text};

use crate::{
    moment::{HOUR_NS, Moment},
    watcher::Watcher,
};

/// A comparison of the kept changes of `tune` with this host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drifts {
    /// Those that somebody has overridden, by id, with their settings.
    pub found: BTreeMap<String, Vec<Text>>,
    /// Settings that could not be compared, and why.
    pub unread: Vec<Text>,
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
    pub(super) fn at(&mut self, now: Moment, watcher: &mut Watcher, log: &mut dyn FnMut(&Text)) {
        if self.due > now.boot_ns {
            return;
        }
        self.due = now.boot_ns + HOUR_NS;
        let uncompared = match (self.compare)() {
            Ok(Drifts { found, unread }) => {
                watcher.drifted(&sys::machine::host_name(), found, now);
                unread
            }
            Err(error) => vec![text!(
                "changes of pathtwin tune are not compared with this host: {error}",
                error = error
            )],
        };
        let before = std::mem::replace(&mut self.uncompared, uncompared);
        let new = self.uncompared.iter().filter(|text| !before.contains(text));
        new.for_each(log);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use stats::Random;

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
            unread: Vec::new(),
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
        let mut said = Vec::new();
        for _ in 0..7 {
            for minutes in [0, 30] {
                let at = now.after(minutes * 60_000_000_000);
                comparison.at(at, &mut watcher, &mut |line| said.push(line.to_string()));
            }
            now = now.after(HOUR_NS);
        }
        let refused = "changes of pathtwin tune are not compared with this host: none";
        assert_eq!(said, [refused, refused, "none"]);
        assert_eq!(watcher.waiting().len(), 1, "one message for one drift");
    }
}
