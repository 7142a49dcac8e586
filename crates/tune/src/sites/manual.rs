//! A far host that is changed manually, because this program cannot: switched once, and kept or
//! undone by a person.

use std::{net::IpAddr, time::Duration};

use model::{
    change::{Change, ChangeId, Setting},
    facts::HostFacts,
    net::Side,
    proof::Acted,
    remedy::{Location, Remedy},
    run::Run,
    text::Text,
};

use super::site::Site;
use crate::{
    Clock,
    error::{Drift, TuneError},
    prove::evidence,
    remedies::{Place, settings_of_all},
};

/// The person or program that changes the far host.
pub trait Person {
    /// Requests the change, to be pending for at least `window`, and returns when it is applied.
    ///
    /// # Errors
    /// It was not applied.
    fn request(&self, settings: &[Setting], window: Duration) -> Result<(), TuneError>;

    /// Reports whether it is to be kept.
    fn report(&self, keep: bool);
}

/// Settings of a far host that a person changes.
#[derive(Debug)]
pub struct ManualHost<P> {
    person: P,
    settings: Vec<Setting>,
    window: std::cell::Cell<Duration>,
    is_made: std::cell::Cell<bool>,
}

/// The command that changes settings on their host, and keeps the change pending for `window`.
pub fn command_of(settings: &[Setting], window: Duration) -> String {
    let options: Vec<String> = settings.iter().map(Setting::options).collect();
    format!(
        "pathtwin tune apply {} --window {}s",
        options.join(" "),
        window.as_secs()
    )
}

impl<P: Person> ManualHost<P> {
    /// The remedies of the far end, for its devices on the way `toward` the near one, as its facts
    /// have them. Returns also those that are no settings.
    pub fn of_remedies(
        person: P,
        remedies: &[Remedy],
        facts: &HostFacts,
        toward: IpAddr,
    ) -> (Self, Vec<Text>) {
        let place = Place::of_facts(facts, toward);
        let wanted = settings_of_all(remedies, Side::Far, &place);
        let settings = wanted.settings.into_iter().map(|(setting, _)| setting);
        (Self::new(person, settings.collect()), wanted.not)
    }

    /// Settings that `person` changes.
    pub fn new(person: P, settings: Vec<Setting>) -> Self {
        Self {
            person,
            settings,
            window: std::cell::Cell::default(),
            is_made: std::cell::Cell::default(),
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }
}

impl<P: Person> Site for ManualHost<P> {
    fn id(&self) -> Option<&ChangeId> {
        None
    }

    fn is_needed(&self) -> bool {
        !self.settings.is_empty()
    }

    fn is_switched_once(&self) -> bool {
        true
    }

    /// It is requested after the turns without it.
    fn apply(&self, window: Duration) -> Result<(), TuneError> {
        self.window.set(window);
        Ok(())
    }

    fn set(&self, on: bool) -> Result<(), TuneError> {
        if on && !self.is_made.get() {
            self.person.request(&self.settings, self.window.get())?;
            self.is_made.set(true);
        }
        Ok(())
    }

    fn evidence(&self, run: &Run) -> Vec<Acted> {
        evidence(self.settings.iter(), None, Location::Far, run)
    }

    fn settle(&self, keep: bool) -> Result<Vec<Drift>, TuneError> {
        if self.is_made.get() {
            self.person.report(keep);
        }
        Ok(Vec::new())
    }

    fn change(&self) -> Option<Change> {
        None
    }
}

/// Time between two samples of a host that a person changes.
const INTERVAL: Duration = Duration::from_secs(3);

/// Waits for at most `limit` until a host reports another state than `before`; returns whether it
/// did. `report` is `None` while the host cannot be reached, which is not a change.
pub fn until_changed<T: PartialEq>(
    mut before: Option<T>,
    mut report: impl FnMut() -> Option<T>,
    clock: &dyn Clock,
    limit: Duration,
    is_stopped: impl Fn() -> bool,
) -> bool {
    let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    let until = clock.boottime_ns().saturating_add(limit);
    while clock.boottime_ns() < until && !is_stopped() {
        clock.sleep(INTERVAL);
        let now = report();
        if before.is_some() && now.is_some() && now != before {
            return true;
        }
        before = before.or(now);
    }
    false
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A clock that only sleeping moves.
    #[derive(Default)]
    struct Slept(Cell<u64>);

    impl Clock for Slept {
        fn boottime_ns(&self) -> u64 {
            self.0.get()
        }

        fn sleep(&self, span: Duration) {
            self.0.set(self.0.get() + span.as_nanos() as u64);
        }
    }

    fn changes(before: Option<u32>, reports: &[Option<u32>], limit_s: u64) -> bool {
        let mut reports = reports.iter().copied();
        let report = || reports.next().flatten();
        let limit = Duration::from_secs(limit_s);
        until_changed(before, report, &Slept::default(), limit, || false)
    }

    #[test]
    fn a_host_that_cannot_be_reached_for_a_moment_has_not_changed() {
        assert!(!changes(Some(1), &[None, Some(1), None, Some(1)], 12));
        assert!(changes(Some(1), &[None, Some(1), None, Some(2)], 12));
        assert!(
            !changes(None, &[None, Some(2), Some(2)], 9),
            "never seen before"
        );
        assert!(changes(None, &[Some(1), Some(2)], 9));
    }

    #[test]
    fn a_person_gets_one_command_for_all_settings() {
        let parameter = |name: &str, value: &str| Setting::Sysctl {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let settings = [
            parameter("net.ipv4.tcp_ecn", "1"),
            parameter("net.core.rmem_max", "6000000"),
        ];
        assert_eq!(
            command_of(&settings, Duration::from_secs(90)),
            "pathtwin tune apply --set 'net.ipv4.tcp_ecn=1' --set 'net.core.rmem_max=6000000' \
             --window 90s"
        );
    }

    #[test]
    fn nobody_is_waited_for_longer_than_the_limit() {
        assert!(!changes(Some(1), &[Some(1), Some(1), Some(2)], 6));
        let stopped = until_changed(
            Some(1),
            || Some(2),
            &Slept::default(),
            Duration::from_secs(60),
            || true,
        );
        assert!(!stopped);
    }
}
