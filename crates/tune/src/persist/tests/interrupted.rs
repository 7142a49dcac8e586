//! Writing and removal of files that end in the middle, by a kill or a power cut.

use model::change::SettingFile;

use super::*;
use crate::{Recovery, TuneError, fake::StopAt, recover, undo};

/// Systems whose changes have whole files, links, new folders and sections in files of others.
const SYSTEMS: &[&[&str]] = &[
    DEBIAN,
    &[
        "etc/openwrt_release",
        "etc/init.d/sqm",
        "etc/config/sqm",
        "etc/sysctl.conf",
    ],
];

const OLD: &str = "old";

impl Scene {
    /// A system with a confirmed change that is set in the kernel.
    fn set(system: &[&str]) -> Self {
        let scene = Self::new(system);
        scene.confirmed(&change(&["net.ipv4.tcp_ecn=1"], &["wan=47.5mbit"]));
        // The queue of the device, which has no name here.
        scene.host.set("", OLD);
        scene
    }

    fn folders(&self) -> usize {
        let count = |entry: &std::path::Path| entry.is_dir();
        let mut all = vec![self.root.path().to_owned()];
        let mut next = 0;
        while let Some(folder) = all.get(next).cloned() {
            let entries = fs::read_dir(folder).unwrap().flatten();
            all.extend(entries.map(|e| e.path()).filter(|p| count(p)));
            next += 1;
        }
        all.len()
    }

    fn state(&self) -> State {
        self.journal().state
    }

    fn journal(&self) -> Change {
        let id = ChangeId::from_random([7; 16]);
        self.act(|env, _| env.folder.read(&id)).unwrap()
    }

    fn recovered(&self) -> Recovery {
        self.act(|env, _| recover(env)).unwrap()
    }

    fn value(&self) -> String {
        self.host.dump()["net.ipv4.tcp_ecn"].clone()
    }

    /// The next boot: files, if there are any, set the value.
    fn reboots(&self) {
        *self.host.boot.borrow_mut() = "another".to_owned();
        let file = format!("etc/sysctl.d/98-pathtwin-{ID}.conf");
        let value = match self.tree().contains_key(&file) {
            true => "1",
            false => OLD,
        };
        self.host.set("net.ipv4.tcp_ecn", value);
    }
}

/// Interrupts an act at each of its points, and calls `then` with each scene.
fn at_each_point<T: std::fmt::Debug>(
    system: &[&str],
    prepare: impl Fn(&Scene),
    act: impl Fn(&mut Env<'_>, &Path) -> Result<T, TuneError>,
    then: impl Fn(&Scene, usize),
) {
    for stop in 0.. {
        let scene = Scene::set(system);
        prepare(&scene);
        let done = scene.observed(&mut StopAt(stop, Vec::new()), &act);
        then(&scene, stop);
        if done.is_ok() {
            assert!(stop > 10, "{stop}");
            return;
        }
        assert!(matches!(done, Err(TuneError::Interrupted(_))), "{done:?}");
    }
}

fn persisted(scene: &Scene) {
    scene.act(|env, root| persist(env, ID, root)).unwrap();
}

#[test]
fn files_whose_writing_is_killed_at_any_point_are_all_there_or_none() {
    for system in SYSTEMS {
        let scene = Scene::set(system);
        let (without, folders) = (scene.tree(), scene.folders());
        persisted(&scene);
        let with = scene.tree();
        at_each_point(
            system,
            |_| {},
            |env, root| persist(env, ID, root),
            |scene, stop| {
                scene.recovered();
                match scene.state() {
                    State::Confirmed => {
                        assert_eq!(scene.tree(), without, "{stop}");
                        assert_eq!(scene.folders(), folders, "{stop}");
                        assert!(scene.journal().files.is_empty(), "{stop}");
                        // It can be tried again.
                        persisted(scene);
                    }
                    State::Persisted => {}
                    other => panic!("{stop}: {other}"),
                }
                assert_eq!(scene.tree(), with, "{stop}");
                assert_eq!(scene.value(), "1", "{stop}: it stays in the kernel");
            },
        );
    }
}

#[test]
fn a_power_cut_while_files_are_written_ends_in_the_old_state() {
    for system in SYSTEMS {
        let before = Scene::set(system).tree();
        at_each_point(
            system,
            |_| {},
            |env, root| persist(env, ID, root),
            |scene, stop| {
                let is_complete = scene.state() == State::Persisted;
                scene.reboots();
                scene.recovered();
                if is_complete {
                    assert_eq!(scene.value(), "1", "{stop}");
                    return;
                }
                assert_eq!(scene.value(), OLD, "{stop}");
                assert_eq!(scene.tree(), before, "{stop}");
            },
        );
    }
}

#[test]
fn files_whose_removal_is_interrupted_at_any_point_are_removed_by_the_next_start() {
    for (system, reboots) in SYSTEMS.iter().flat_map(|s| [(s, false), (s, true)]) {
        let before = Scene::set(system).tree();
        at_each_point(
            system,
            persisted,
            |env, _| undo(env, Some(ID)),
            |scene, stop| {
                if reboots {
                    scene.reboots();
                }
                scene.recovered();
                if scene.state() == State::Persisted {
                    assert_eq!(stop, 0, "only before the journal names it");
                    assert_eq!(scene.value(), "1");
                    return;
                }
                assert_eq!(scene.state(), State::RolledBack, "{stop}");
                assert_eq!(scene.value(), OLD, "{stop}");
                assert_eq!(scene.tree(), before, "{stop}");
            },
        );
    }
}

/// A journal of schema 1 says `confirmed` while files are written.
#[test]
fn a_confirmed_change_with_files_of_an_older_program_ends_without_them() {
    let scene = Scene::set(DEBIAN);
    let before = scene.tree();
    persisted(&scene);
    let mut change = scene.journal();
    change.schema = 1;
    change.state = State::Confirmed;
    fs::remove_file(&change.files[1].path).unwrap();
    scene.confirmed(&change);
    scene.recovered();
    assert_eq!(scene.tree(), before);
    assert_eq!(scene.state(), State::Confirmed);
    assert!(scene.journal().files.is_empty());
}

/// SIGKILL and power cuts may leave what the writing of a file has made meanwhile.
#[test]
fn temporary_files_of_a_killed_process_are_removed_too() {
    let scene = Scene::set(DEBIAN);
    let before = scene.tree();
    let at = |point: &crate::Point| *point == crate::Point::AfterFolder(1);
    struct At<F>(F);
    impl<F: FnMut(&crate::Point) -> bool> Observer for At<F> {
        fn at(&mut self, point: &crate::Point) -> Result<(), crate::Interrupted> {
            match (self.0)(point) {
                true => Err(crate::Interrupted),
                false => Ok(()),
            }
        }
    }
    let stopped = scene.observed(&mut At(at), |env, root| persist(env, ID, root));
    assert!(matches!(stopped, Err(TuneError::Interrupted(_))));
    let folder = scene.root.path().join("etc/sysctl.d");
    fs::write(folder.join(".pathtwin-77-0.partial"), "half").unwrap();
    scene.recovered();
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_file_that_could_not_be_removed_is_removed_by_the_next_undo() {
    let scene = Scene::set(DEBIAN);
    persisted(&scene);
    let edited: SettingFile = scene.journal().files[0].clone();
    fs::write(&edited.path, "edited").unwrap();
    let (_, first) = scene.act(|env, _| undo(env, Some(ID))).unwrap();
    assert_eq!(first.left.len(), 1, "{first}");
    fs::write(&edited.path, &edited.text).unwrap();
    let (_, second) = scene.act(|env, _| undo(env, Some(ID))).unwrap();
    assert!(second.left.is_empty(), "{second}");
    assert!(!Path::new(&edited.path).exists());
    let over = scene.act(|env, _| undo(env, Some(ID)));
    assert!(matches!(over, Err(TuneError::Over { .. })), "{over:?}");
}

/// A removal that a boot interrupted took whatever was set then for the old value.
#[test]
fn a_value_of_somebody_else_is_reported_also_after_an_interrupted_removal_and_a_boot() {
    let scene = Scene::set(DEBIAN);
    persisted(&scene);
    let stopped = scene.observed(&mut StopAt(4, Vec::new()), |env, _| undo(env, Some(ID)));
    assert!(
        matches!(stopped, Err(TuneError::Interrupted(_))),
        "{stopped:?}"
    );
    assert_eq!(scene.state(), State::Unpersisting);
    scene.reboots();
    scene.host.set("net.ipv4.tcp_ecn", "7");
    let Recovery::Undone(all) = scene.recovered() else {
        panic!("{}", scene.state());
    };
    let told = all[0].1.to_string();
    assert!(told.contains("somebody else has set it to 7"), "{told}");
    assert_eq!(scene.value(), "7", "it stays");
    assert_eq!(scene.state(), State::RolledBack);
    let events = scene.journal().events;
    let noted = events.iter().any(|e| e.what.to_string().contains("to 7"));
    assert!(noted, "{events:?}");
}

/// Programs of schema 1 read all but the states that it lacks.
#[test]
fn a_journal_says_the_oldest_schema_that_has_its_state() {
    struct Seen<'a>(&'a Scene, Vec<(State, u32)>);
    impl Observer for Seen<'_> {
        fn at(&mut self, point: &crate::Point) -> Result<(), crate::Interrupted> {
            if let crate::Point::AfterJournal(_) = point {
                let change = self.0.journal();
                self.1.push((change.state, change.schema));
            }
            Ok(())
        }
    }
    let scene = Scene::set(DEBIAN);
    let mut seen = Seen(&scene, Vec::new());
    let done = scene.observed(&mut seen, |env, root| {
        persist(env, ID, root)?;
        undo(env, Some(ID))
    });
    done.unwrap();
    let Seen(_, seen) = seen;
    assert!(seen.len() > 4, "{seen:?}");
    for (state, schema) in seen {
        let is_new = matches!(state, State::Persisting | State::Unpersisting);
        assert_eq!(schema, if is_new { 2 } else { 1 }, "{state}");
    }
}

#[test]
fn files_are_checked_after_a_boot_in_the_namespace_they_are_for() {
    const OTHER: u64 = 77;
    let pending = |scene: &Scene| scene.act(|env, _| crate::pending(env)).unwrap();
    let scene = Scene::set(DEBIAN);
    persisted(&scene);
    let mut change = scene.journal();
    for step in &mut change.steps {
        step.new = Some(step.old.clone());
    }
    scene.confirmed(&change);
    scene.reboots();
    scene.host.set("net.ipv4.tcp_ecn", "7");

    // A namespace of this boot in which nothing was changed, as a container's.
    *scene.host.netns.borrow_mut() = OTHER;
    let found = pending(&scene);
    assert!(found.seen.is_empty() && found.compared.drifted.is_empty());
    let refused = scene.act(|env, _| undo(env, Some(ID)));
    assert!(matches!(refused, Err(TuneError::Elsewhere(_))));

    *scene.host.netns.borrow_mut() = 1;
    let found = pending(&scene);
    assert_eq!(found.compared.drifted.len(), 1);
    assert!(found.compared.unread.is_empty());

    // Of a namespace that ended with the boot nobody can tell.
    change.scope.netns = OTHER;
    change.scope.initial = Some(false);
    scene.confirmed(&change);
    let found = pending(&scene);
    assert!(found.seen.is_empty() && found.compared.drifted.is_empty());
    assert_eq!(found.compared.unread.len(), 1);
    let told = found.compared.unread[0].to_string();
    assert!(told.contains("this network namespace is unknown"), "{told}");
}
