#![allow(clippy::unwrap_used)]

use std::cell::RefCell;

use model::{change::State, proof::Acted};

use super::*;
use crate::{fake::Fake, host::Host, plan::Request};

/// Operations on all hosts, in order.
type Log = RefCell<Vec<String>>;

/// A host that records its operations, and refuses some of them.
struct Noted<'a> {
    name: &'static str,
    log: &'a Log,
    plan: Change,
    fails: &'static str,
}

impl Noted<'_> {
    fn done(&self, what: &str) -> Result<(), TuneError> {
        self.log.borrow_mut().push(format!("{} {what}", self.name));
        match what == self.fails {
            true => Err(TuneError::NonePending),
            false => Ok(()),
        }
    }
}

impl Site for Noted<'_> {
    fn id(&self) -> Option<&ChangeId> {
        Some(&self.plan.id)
    }

    fn is_needed(&self) -> bool {
        !self.plan.steps.is_empty()
    }

    fn apply(&self, _: Duration) -> Result<(), TuneError> {
        self.done("apply")
    }

    fn set(&self, on: bool) -> Result<(), TuneError> {
        self.done(if on { "again" } else { "aside" })
    }

    fn evidence(&self, _: &Run) -> Vec<Acted> {
        Vec::new()
    }

    fn settle(&self, keep: bool) -> Result<Vec<Drift>, TuneError> {
        self.done(if keep { "confirm" } else { "undo" })?;
        Ok(Vec::new())
    }

    fn change(&self) -> Option<Change> {
        Some(self.plan.clone())
    }
}

fn planned(value: &str) -> Change {
    let mut host = Fake::with(&[("net.a", "1")]);
    let setting = model::change::Setting::Sysctl {
        name: "net.a".to_owned(),
        value: value.to_owned(),
    };
    let request = Request {
        settings: vec![(setting, None)],
        probes: Vec::new(),
        program: "0".to_owned(),
        ..Request::default()
    };
    let plan = crate::plan(
        &mut host as &mut dyn Host,
        &request,
        crate::fresh_id().unwrap(),
    );
    plan.unwrap()
}

fn noted<'a>(name: &'static str, fails: &'static str, log: &'a Log) -> Noted<'a> {
    Noted {
        name,
        log,
        plan: planned("10"),
        fails,
    }
}

const WINDOW: Duration = Duration::from_secs(1);

fn sites<'a>(hosts: &[&'a Noted<'_>]) -> Sites<'a> {
    Sites::new(hosts.iter().map(|host| *host as &dyn Site))
}

#[test]
fn the_far_end_is_changed_first_and_undone_if_the_near_one_cannot_be() {
    let log = Log::default();
    let (far, near) = (noted("far", "", &log), noted("near", "apply", &log));
    let failed = sites(&[&far, &near]).apply(WINDOW);
    assert!(failed.unwrap_err().not_undone.is_empty());
    assert_eq!(log.take(), ["far apply", "near apply", "far undo"]);

    let far = noted("far", "undo", &log);
    let failed = sites(&[&far, &near]).apply(WINDOW);
    let failed = failed.unwrap_err();
    assert_eq!(failed.not_undone.len(), 1);
    assert!(matches!(*failed.error, TuneError::NonePending));
}

#[test]
fn a_router_is_changed_between_the_ends_and_all_are_undone_if_it_cannot_be() {
    let log = Log::default();
    let (far, near) = (noted("far", "", &log), noted("near", "", &log));
    let router = noted("router", "", &log);
    sites(&[&far, &router, &near]).apply(WINDOW).unwrap();
    assert_eq!(log.take(), ["far apply", "router apply", "near apply"]);

    let router = noted("router", "apply", &log);
    sites(&[&far, &router, &near]).apply(WINDOW).unwrap_err();
    assert_eq!(log.take(), ["far apply", "router apply", "far undo"]);
}

#[test]
fn where_the_far_end_cannot_be_changed_the_near_one_is_not_touched() {
    let log = Log::default();
    let (far, near) = (noted("far", "apply", &log), noted("near", "", &log));
    sites(&[&far, &near]).apply(WINDOW).unwrap_err();
    assert_eq!(log.take(), ["far apply"]);
}

#[test]
fn all_are_undone_if_a_measurement_fails_even_if_one_cannot_be() {
    let log = Log::default();
    let (far, near) = (noted("far", "undo", &log), noted("near", "", &log));
    let sites = sites(&[&far, &near]);
    let criteria = Criteria {
        pairs: 1,
        ..Criteria::default()
    };
    let settled = sites.prove(
        &mut || Err(MeasureError::new(Text::name("the line is down"), "x")),
        &criteria,
    );
    assert!(matches!(
        settled.proof,
        Err(ProveError::Measure { turn: 1, .. })
    ));
    assert_eq!(settled.failed.len(), 1);
    assert_eq!(
        log.take(),
        ["far aside", "near aside", "far undo", "near undo"]
    );
    // The error of the measurement was all that was reported of both.
    let error = settled.output(sites.changes()).unwrap_err().to_string();
    assert!(error.contains("the line is down"), "{error}");
    assert!(error.contains("pathtwin tune undo"), "{error}");
}

/// A person who confirms a change wants to keep it, whatever the turns would have shown.
#[test]
fn a_change_that_somebody_confirmed_during_its_proof_stays() {
    let log = Log::default();
    let (mut far, near) = (noted("far", "", &log), noted("near", "", &log));
    far.plan.state = State::Confirmed;
    let sites = sites(&[&far, &near]);
    let settled = sites.prove(
        &mut || Err(MeasureError::new(Text::name("the line is down"), "x")),
        &Criteria {
            pairs: 1,
            ..Criteria::default()
        },
    );
    assert_eq!(log.take(), ["far aside", "near aside", "near undo"]);
    let said = settled.stay[0].to_string();
    assert!(said.contains("pathtwin tune undo"), "{said}");
    assert!(settled.failed.is_empty());
}

/// Also where the other end's change cannot be kept.
#[test]
fn a_change_that_somebody_confirmed_is_not_undone_with_that_of_the_other_end() {
    let log = Log::default();
    let (mut far, near) = (noted("far", "", &log), noted("near", "confirm", &log));
    far.plan.state = State::Confirmed;
    let settled = sites(&[&far, &near]).settled(Err(ProveError::Switch(TuneError::Nothing)), true);
    assert_eq!(log.take(), ["near confirm", "near undo"]);
    assert_eq!((settled.stay.len(), settled.failed.len()), (1, 1));
}

#[test]
fn a_host_of_which_all_is_as_wanted_is_left_alone() {
    let log = Log::default();
    let mut far = noted("far", "", &log);
    far.plan = planned("1");
    assert!(far.plan.steps.is_empty());
    assert_eq!(far.plan.state, State::Planned);
    let near = noted("near", "", &log);
    sites(&[&far, &near]).apply(WINDOW).unwrap();
    assert_eq!(log.take(), ["near apply"]);
    assert!(sites(&[&far]).is_empty());
}

/// Keeps changes whose turns all showed a gain.
fn keep(sites: &Sites<'_>) -> Vec<NotSettled> {
    let mut settled = Settled {
        proof: Err(ProveError::Switch(TuneError::Nothing)),
        drift: Vec::new(),
        stay: Vec::new(),
        failed: Vec::new(),
    };
    sites.keep(&mut settled);
    settled.failed
}

/// Otherwise one end would have half of a change that was proved as a whole.
#[test]
fn a_far_change_that_was_confirmed_does_not_stay_if_the_near_one_cannot_be() {
    let log = Log::default();
    let (far, near) = (noted("far", "", &log), noted("near", "confirm", &log));
    let failed = keep(&sites(&[&far, &near]));
    assert!(matches!(&failed[..], [NotSettled::NotKept { id, .. }] if id.as_ref() == near.id()));
    assert_eq!(
        log.take(),
        ["far confirm", "near confirm", "far undo", "near undo"]
    );
}

#[test]
fn a_near_change_is_not_kept_if_the_far_one_cannot_be() {
    let log = Log::default();
    let (far, near) = (noted("far", "confirm", &log), noted("near", "", &log));
    let failed = keep(&sites(&[&far, &near]));
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(log.take(), ["far confirm", "far undo", "near undo"]);
}
