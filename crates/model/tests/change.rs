//! Journals of earlier schemas stay readable: what an older program applied can be undone.

#![allow(clippy::unwrap_used)]

use model::change::{Change, State};

const PENDING: &[u8] = include_bytes!("data/change-1-pending.json");
const CONFIRMED: &[u8] = include_bytes!("data/change-1-confirmed.json");
const PERSISTED: &[u8] = include_bytes!("data/change-1-persisted.json");
const FAILED: &[u8] = include_bytes!("data/change-1-rollback-failed.json");

#[test]
fn journals_of_schema_1_are_read_with_all_that_an_undo_needs() {
    for (text, is_pending, is_kept) in [
        (PENDING, true, false),
        (CONFIRMED, false, true),
        (PERSISTED, false, true),
        (FAILED, false, false),
    ] {
        let change = Change::parse(text).unwrap();
        assert_eq!(change.schema, 1);
        assert_eq!(change.is_pending(), is_pending, "{}", change.state);
        assert_eq!(change.state.is_kept(), is_kept, "{}", change.state);
        assert!(!change.is_partly_in_files(), "{}", change.state);
        assert_eq!(change.state.written(change.steps.len()), 2);
        assert!(change.steps.iter().all(|step| step.new.is_some()));
        assert_eq!(Change::parse(&change.to_json().unwrap()).unwrap(), change);
    }
    assert_eq!(Change::parse(PERSISTED).unwrap().files.len(), 1);
    let failed = Change::parse(FAILED).unwrap().state;
    let State::RollbackFailed { step: 1, error } = failed else {
        panic!("{failed}");
    };
    assert_eq!(error.to_string(), "no device eth0");
}
