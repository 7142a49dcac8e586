//! The host after an interruption: its keeper, its next start, its next boot.

use std::{path::Path, time::Duration};

use model::change::{Change, Setting, SettingFile};
use sys::{Netns, clock::Instant};
use tune::{Folder, Left, Recovery, Unobserved};

use super::{
    process,
    scene::{self, Random},
};

/// Longest time for the keeper to end after the deadline.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Waits until no keeper of this case runs: its journal is final, or it was killed.
pub fn wait_for_keeper(plan: &Change) {
    let until = Instant::now().after(TIMEOUT);
    let name = plan.id.to_string();
    while Instant::now() < until && is_kept(&name) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns true if a process with this id on its command line runs.
fn is_kept(id: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|p| std::fs::read(p.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(id))
}

/// The next command on this host finds the leftovers, and leaves none.
pub fn next_start(journal: &Path) -> Result<Recovery, String> {
    let until = Instant::now().after(TIMEOUT);
    let recovered = loop {
        let found = process::with(journal.to_str().unwrap(), &mut Unobserved, tune::recover);
        // A process that was killed takes a moment to end.
        if !matches!(found, Ok(Recovery::Waiting(_))) || Instant::now() > until {
            break found.map_err(|e| e.to_string())?;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    match &recovered {
        Recovery::Waiting(_) => return Err("its keeper still waits".to_owned()),
        Recovery::Undone(all) => {
            for (_, rollback) in all {
                if !rollback.is_complete() || !rollback.left.iter().all(is_lost_route) {
                    return Err(rollback.to_string());
                }
            }
        }
        Recovery::Clean => {}
    }
    Ok(recovered)
}

/// A device that went down has lost its routes, changed or not.
fn is_lost_route(left: &Left) -> bool {
    match left {
        Left::Drifted(drift) => {
            matches!(drift.setting, Setting::RouteCongestionControl { .. })
                && drift.now.to_string() == "no route of its own"
        }
        _ => false,
    }
}

/// The routes and addresses that a device lost are restored as at the start.
pub fn restore_link() {
    for line in scene::LOST_BY_DOWN {
        let _ = scene::sh(line);
    }
    std::thread::sleep(Duration::from_millis(300));
}

/// The host reboots: without its processes, with the links and routes of its configuration, and
/// another boot id. A new namespace replaces the kernel's state, which a boot clears.
pub fn power_off(seed: u64, journal: &Path) -> Result<(), String> {
    let folder = Folder::open(journal).map_err(|e| e.to_string())?;
    for listed in folder.list().map_err(|e| e.to_string())? {
        let change = listed.change.map_err(|e| e.to_string())?;
        for process in change.keeper.into_iter().chain(change.controller) {
            let _ = process::process(process).kill();
        }
    }
    Netns::create()
        .and_then(|ns| ns.enter())
        .map_err(|e| e.to_string())?;
    scene::guest::unload();
    scene::set_up(&mut Random(seed));
    let id = journal.with_extension("boot");
    std::fs::write(&id, "5f5c9d1a-0000-4000-8000-000000000000\n").map_err(|e| e.to_string())?;
    let id = id.display();
    let line = format!("mount --bind {id} /proc/sys/kernel/random/boot_id");
    scene::sh(&line).ok_or("no other boot id")?;
    let again = next_start(journal);
    scene::sh("umount /proc/sys/kernel/random/boot_id").ok_or("the boot id stays")?;
    again.map(drop)
}

/// A dump without the handles that the kernel chooses.
pub fn renumbered(dump: &str) -> String {
    let mut all = String::new();
    for line in dump.lines() {
        for word in line.split(' ') {
            all.push_str(if scene::is_chosen(word) {
                "auto:"
            } else {
                word
            });
            all.push(' ');
        }
        all.push('\n');
    }
    all
}

/// Returns true if a file has all of its text.
pub fn is_written(file: &SettingFile) -> bool {
    let path = Path::new(&file.path);
    match file.link {
        true => std::fs::read_link(path).is_ok_and(|target| target == Path::new(&file.text)),
        false => std::fs::read_to_string(path).is_ok_and(|text| match file.part {
            true => text.contains(&file.text),
            false => text == file.text,
        }),
    }
}
