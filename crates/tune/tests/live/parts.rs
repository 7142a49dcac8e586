//! Offloads of one device, switched one by one.

use super::*;

/// Which of those that are switched here are active.
fn active() -> [bool; 2] {
    let all = sys::ethtool::feature_states("v0").unwrap();
    ["tx-generic-segmentation", "tx-tcp-segmentation"].map(|name| all[name].active)
}

fn offload(text: &str) -> Setting {
    Setting::parse_offload(text).unwrap()
}

#[test]
fn of_two_offloads_that_two_changes_switched_one_is_undone() {
    if !scene() {
        return;
    }
    assert_eq!(active(), [true, true]);
    in_env(|env| {
        let first = keep(env, &[offload("v0=gso off")]).change.id;
        let second = keep(env, &[offload("v0=tso off")]).change.id;
        assert_eq!((active(), drifted(env)), ([false, false], 0));
        let undo = |env: &mut Env<'_>, id: &model::change::ChangeId| {
            let rollback = tune::undo(env, Some(id.as_str())).unwrap().1;
            assert!(
                rollback.is_complete() && rollback.left.is_empty(),
                "{rollback}"
            );
        };
        undo(env, &first);
        assert_eq!((active(), drifted(env)), ([true, false], 0));
        undo(env, &second);
        assert_eq!(active(), [true, true]);
    });
}

#[test]
fn two_offloads_of_one_change_are_no_drift_and_are_set_aside_together() {
    if !scene() {
        return;
    }
    let both = [offload("v0=gso off"), offload("v0=tso off")];
    let rollback = applied_with(&both, |env| {
        tune::set_aside(env, None).unwrap();
        assert_eq!(active(), [true, true]);
        tune::set_again(env, None).unwrap();
        assert_eq!(active(), [false, false]);
        assert_eq!(tune::confirm(env, None, &mut NewFlows).unwrap().drift, []);
        assert_eq!(drifted(env), 0);
    });
    assert!(
        rollback.is_complete() && rollback.left.is_empty(),
        "{rollback}"
    );
    assert_eq!(active(), [true, true]);
}

#[test]
fn an_offload_that_somebody_has_switched_since_is_drift_of_its_change_only() {
    if !scene() {
        return;
    }
    in_env(|env| {
        let first = keep(env, &[offload("v0=gso off")]).change.id;
        let second = keep(env, &[offload("v0=tso off")]).change.id;
        let on = [("tx-tcp-segmentation".to_owned(), true)];
        sys::ethtool::set_features("v0", &on.into()).unwrap();
        let kept = tune::kept(env.folder.path()).unwrap();
        let found = tune::drifted(kept, env.host).unwrap().drifted;
        let ids: Vec<_> = found.iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [&second]);
        tune::undo(env, Some(first.as_str())).unwrap();
        assert_eq!(active(), [true, true]);
    });
}
