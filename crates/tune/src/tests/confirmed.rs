//! Confirmations, deadlines, and drift.

use model::change::SettingFile;

use super::*;

#[test]
fn a_confirmed_change_stays() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let confirmed = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true)).unwrap()
    });
    assert_eq!(confirmed.change.state, State::Confirmed);
    assert!(matches!(world.recover().unwrap(), Recovery::Clean));
    assert_eq!(world.host.dump(), new_values());
}

#[test]
fn the_keeper_undoes_at_the_deadline_and_not_before() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let start = world.clock.boottime_ns();
    let rollback = world.with(&mut Unobserved, |env| keep(env, &plan.id, &mut |_| Ok(())));
    assert!(rollback.unwrap().unwrap().is_complete());
    assert_eq!(world.host.dump(), before);
    assert_eq!(world.clock.boottime_ns() - start, WINDOW.as_nanos() as u64);
}

#[test]
fn a_confirmation_after_the_deadline_is_refused_and_undoes() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    world.clock.sleep(WINDOW);
    let late = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true))
    });
    assert!(matches!(late, Err(TuneError::TooLate(_))), "{late:?}");
    assert_eq!(world.host.dump(), before);
}

#[test]
fn a_confirmation_whose_keeper_died_is_too_late() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, DEAD, usize::MAX).unwrap();
    let late = world.with(&mut Unobserved, |env| {
        confirm(env, Some(plan.id.short()), &mut Reachable(true))
    });
    assert!(matches!(late, Err(TuneError::TooLate(_))), "{late:?}");
    assert_eq!(world.host.dump(), before);
}

#[test]
fn undo_without_an_id_names_the_change_that_was_confirmed_last() {
    let world = World::new();
    let undo = || world.with(&mut Unobserved, |env| undo(env, None));
    assert!(matches!(undo(), Err(TuneError::NonePending)));
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    world
        .with(&mut Unobserved, |env| {
            confirm(env, None, &mut Reachable(true))
        })
        .unwrap();
    let after = world.host.dump();
    let error = undo().unwrap_err().to_string();
    let command = format!("`pathtwin tune undo {}`", plan.id.short());
    assert!(error.contains(&command), "{error}");
    assert_eq!(world.host.dump(), after);
}

/// An established connection survives changes that break new ones, so only a new one counts.
#[test]
fn a_change_that_breaks_new_connections_is_not_confirmed() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let refused = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(false))
    });
    assert!(matches!(refused, Err(TuneError::ProbeAfter { .. })));
    assert!(world.journal()[0].is_pending());
}

/// A name with both families; the second one works until the change.
struct Families(Vec<&'static str>);

impl Prober for Families {
    fn connect(&mut self, target: &str) -> io::Result<Vec<String>> {
        let working = self
            .0
            .iter()
            .filter(|of| target == "far:22" || target == **of);
        let working: Vec<String> = working.map(|of| (*of).to_owned()).collect();
        match working.is_empty() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(working),
        }
    }
}

#[test]
fn each_address_family_that_worked_before_must_work_afterwards() {
    let (v4, v6) = ("192.0.2.1:22", "[2001:db8::1]:22");
    for (before, after, is_kept) in [
        (vec![v4, v6], vec![v4, v6], true),
        (vec![v4, v6], vec![v4], false),
        (vec![v4], vec![v4], true),
    ] {
        let world = World::new();
        let plan = world.plan(NEW).unwrap();
        let mut arm = Arm {
            window: WINDOW,
            controller: alive(),
            keeper: &mut |_: &ChangeId| Ok(alive()),
            prober: &mut Families(before),
        };
        world
            .with(&mut Unobserved, |env| apply(env, &plan, &mut arm))
            .unwrap();
        let kept = world.with(&mut Unobserved, |env| {
            confirm(env, None, &mut Families(after))
        });
        match kept {
            Ok(_) => assert!(is_kept),
            Err(TuneError::ProbeAfter { target, .. }) => assert!(!is_kept && target == v6),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_prolonged_change_has_the_later_deadline() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let later = Duration::from_secs(600);
    world.with(&mut Unobserved, |env| {
        prolong(env, None, &mut Reachable(true), later).unwrap()
    });
    world.clock.sleep(WINDOW * 2);
    let kept = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true))
    });
    assert_eq!(kept.unwrap().change.state, State::Confirmed);
}

#[test]
fn a_value_changed_by_another_program_is_reported_and_left() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    world.host.set("net.b", "77");
    let (_, rollback) = world.with(&mut Unobserved, |env| undo(env, None).unwrap());
    assert_eq!(rollback.left.len(), 1);
    assert_eq!(world.host.dump()["net.b"], "77");
    assert_eq!(world.host.dump()["net.a"], "1");
}

/// What a watch reports of a host.
#[test]
fn a_kept_change_that_somebody_overrides_has_drifted_until_it_is_set_back() {
    let world = World::new();
    let found = || {
        let compared = drifted(kept(&world.journals()).unwrap(), &mut world.host.clone());
        compared.unwrap().drifted
    };
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let overridden = |value: &str| world.host.set("net.b", value);
    // Not kept yet: its keeper and `tune confirm` look after it.
    overridden("7");
    assert!(found().is_empty());
    world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true)).unwrap()
    });
    let all = found();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].0, plan.id);
    let text: Vec<String> = all[0].1.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["net.b = 20: somebody else has set it to 7"]);
    overridden("20");
    assert!(found().is_empty());
}

#[test]
fn a_kept_change_that_a_later_one_overrides_has_not_drifted() {
    let world = World::new();
    for settings in [NEW, &[("net.b", "21")]] {
        let plan = world.plan(settings).unwrap();
        world.apply(&plan, alive(), usize::MAX).unwrap();
        world.with(&mut Unobserved, |env| {
            confirm(env, Some(plan.id.as_str()), &mut Reachable(true)).unwrap()
        });
    }
    let compared = drifted(kept(&world.journals()).unwrap(), &mut world.host.clone());
    assert!(compared.unwrap().drifted.is_empty());
}

/// Their old values would bring the undone ones back.
#[test]
fn a_kept_change_is_not_undone_for_others_below_a_pending_or_later_one() {
    let world = World::new();
    let undo_first = |id: &ChangeId| {
        world.with(&mut Unobserved, |env| {
            undo_kept(env, id, model::text::Text::fixed("it no longer helps"))
        })
    };
    let before = world.host.dump();
    let first = world.plan(NEW).unwrap();
    world.apply(&first, alive(), usize::MAX).unwrap();
    let waits = undo_first(&first.id).unwrap_err();
    assert!(matches!(waits, TuneError::Pending(id) if id == first.id));
    world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true)).unwrap()
    });
    let second = world.plan(&[("net.b", "21")]).unwrap();
    world.apply(&second, alive(), usize::MAX).unwrap();
    let waits = undo_first(&first.id).unwrap_err();
    assert!(matches!(waits, TuneError::Pending(id) if id == second.id));
    world.with(&mut Unobserved, |env| {
        confirm(env, Some(second.id.as_str()), &mut Reachable(true)).unwrap()
    });
    let later = undo_first(&first.id).unwrap_err();
    assert!(matches!(later, TuneError::Overlaid { by, .. } if by == second.id));
    world.with(&mut Unobserved, |env| {
        undo(env, Some(second.id.as_str())).unwrap()
    });
    assert!(undo_first(&first.id).unwrap().unwrap().is_complete());
    assert_eq!(world.host.dump(), before);
    assert!(
        undo_first(&first.id).unwrap().is_none(),
        "it is undone already"
    );
}

/// A command in another namespace kept a change without its drift, or undid it there.
#[test]
fn a_change_of_another_namespace_is_neither_confirmed_nor_undone_here() {
    type Act<'a> = &'a dyn Fn(&mut Env<'_>) -> Result<(), TuneError>;
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    *world.host.netns.borrow_mut() = 77;
    let acts: [Act<'_>; 4] = [
        &|env| confirm(env, None, &mut Reachable(true)).map(drop),
        &|env| prolong(env, None, &mut Reachable(true), WINDOW).map(drop),
        &|env| set_aside(env, None),
        &|env| set_again(env, None),
    ];
    for is_late in [false, true] {
        if is_late {
            world.clock.sleep(WINDOW);
        }
        for act in acts {
            let refused = world.with(&mut Unobserved, act);
            assert!(
                matches!(&refused, Err(TuneError::Elsewhere(id)) if *id == plan.id),
                "{refused:?}"
            );
            assert_eq!(world.host.dump(), new_values());
        }
    }
    assert_eq!(world.journal()[0].state, State::Applied);
}

/// The later one ended with its boot: the watch named it forever.
#[test]
fn a_later_change_that_a_reboot_undid_does_not_keep_one_in_files() {
    let world = World::new();
    let before = world.host.dump();
    let mut kept = Vec::new();
    for settings in [NEW, &[("net.b", "21")]] {
        let plan = world.plan(settings).unwrap();
        world.apply(&plan, alive(), usize::MAX).unwrap();
        let confirmed = world.with(&mut Unobserved, |env| {
            confirm(env, Some(plan.id.as_str()), &mut Reachable(true)).unwrap()
        });
        kept.push(confirmed.change);
    }
    let file = SettingFile {
        path: world.folder.path().join("98.conf").display().to_string(),
        text: "net.a = 10".to_owned(),
        link: false,
        executable: false,
        part: false,
        made_folders: 0,
    };
    std::fs::write(&file.path, &file.text).unwrap();
    kept[0].state = State::Persisted;
    kept[0].files = vec![file];
    let folder = Folder::open(&world.journals()).unwrap();
    folder.write(&kept[0]).unwrap();
    let undo_first = || {
        world.with(&mut Unobserved, |env| {
            undo_kept(
                env,
                &kept[0].id,
                model::text::Text::fixed("it no longer helps"),
            )
        })
    };
    let later = undo_first().unwrap_err();
    assert!(matches!(later, TuneError::Overlaid { by, .. } if by == kept[1].id));
    // The files set the values of the first one at the next boot.
    *world.host.boot.borrow_mut() = "another".to_owned();
    world.host.set("net.b", "20");
    let rollback = undo_first().unwrap().unwrap();
    assert!(
        rollback.is_complete() && rollback.left.is_empty(),
        "{rollback}"
    );
    assert_eq!(world.host.dump(), before);
}

/// The packaged watch runs as a user of its own, who may not read the journals: no drift was ever
/// reported.
#[test]
fn who_may_not_read_the_journals_compares_with_their_copy() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true)).unwrap()
    });
    world.host.set("net.b", "7");
    let journals = world.journals();
    let aside = world.folder.path().join("aside");
    // Root may read any folder, but no file as one.
    let hidden = |act: &dyn Fn()| {
        std::fs::rename(&journals, &aside).unwrap();
        std::fs::write(&journals, "").unwrap();
        act();
        std::fs::remove_file(&journals).unwrap();
        std::fs::rename(&aside, &journals).unwrap();
    };
    hidden(&|| {
        let copied = kept(&journals).unwrap();
        assert!(copied[0].probes.is_empty() && copied[0].events.is_empty());
        let compared = drifted(copied, &mut world.host.clone()).unwrap();
        assert_eq!(compared.drifted[0].0, plan.id);
    });
    let copy = world.folder.path().join("tune-kept.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&copy.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o644);
    world.host.set("net.b", "20");
    world
        .with(&mut Unobserved, |env| undo(env, Some(plan.id.as_str())))
        .unwrap();
    hidden(&|| assert!(kept(&journals).unwrap().is_empty()));
    std::fs::remove_file(&copy).unwrap();
    hidden(&|| assert!(kept(&journals).is_err()));
}

#[test]
fn a_setting_that_cannot_be_read_is_named_and_has_not_drifted() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true)).unwrap()
    });
    world.host.values.borrow_mut().remove("net.b");
    let compared = drifted(kept(&world.journals()).unwrap(), &mut world.host.clone()).unwrap();
    assert!(compared.drifted.is_empty());
    assert_eq!(compared.unread.len(), 1);
    assert!(compared.unread[0].to_string().contains("net.b"));
}
