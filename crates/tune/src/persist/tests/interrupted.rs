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
