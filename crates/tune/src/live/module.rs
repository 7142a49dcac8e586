//! Modules of the kernel.

use std::{collections::BTreeSet, fs, io, path::Path, process::Command};

use model::{
    change::{Saved, Setting},
    text,
    text::Text,
};
use sys::module::{Places, is_built_in, loaded, needed, remove};

use crate::error::{HostError, Operation, Refusal, RefusalReason};

/// The program that the kernel runs to load a module (kernel/module/kmod.c, Linux 6.18): it handles
/// options, compressed files and dependencies.
const LOADER: &str = "/proc/sys/kernel/modprobe";

/// The present ones among a module and its dependencies.
pub(super) fn read(places: &Places, name: &str) -> Result<Saved, HostError> {
    let there = match loaded(places) {
        Ok(all) => all,
        // A kernel that loads no modules.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
        Err(error) => return Err(Operation::ListModules.failed()(error)),
    };
    let all = needed(places, name).unwrap_or_else(|| vec![name.to_owned()]);
    let is_there = |name: &String| there.contains_key(name) || is_part(places, name);
    let present: BTreeSet<String> = all.into_iter().filter(is_there).collect();
    Ok(Saved::Modules { present })
}

/// True if the kernel has the contents of a module without loading one.
fn is_part(places: &Places, name: &str) -> bool {
    let controls = || {
        let all = sys::sysctl::read("net.ipv4.tcp_available_congestion_control");
        let all = all.unwrap_or_default();
        let name = name.strip_prefix("tcp_");
        all.split_whitespace().any(|cc| Some(cc) == name)
    };
    // Only parts with parameters have a folder here.
    let folder = || Path::new("/sys/module").join(name).exists();
    is_built_in(places, name) || (!places.loaded.exists() && (folder() || controls()))
}

pub(super) fn check(places: &Places, setting: &Setting, name: &str) -> Result<Vec<Text>, Refusal> {
    let refused = |reason| Err(Refusal::new(setting, reason));
    if !places.loaded.exists() {
        return refused(RefusalReason::NoModules);
    }
    if needed(places, name).is_none() {
        let folder = places.folder.display().to_string();
        return refused(RefusalReason::NoModule { folder });
    }
    let locked = fs::read_to_string("/proc/sys/kernel/modules_disabled").unwrap_or_default();
    if locked.trim() == "1" {
        return refused(RefusalReason::ModulesLocked);
    }
    Ok(vec![text!(
        "{setting}: it is removed again with the change, unless something uses it then",
        setting = setting
    )])
}

/// The module that brings a congestion control, if it can be loaded and is not.
pub(super) fn of_congestion_control(places: &Places, cc: &str) -> Option<String> {
    let name = format!("tcp_{}", cc.replace('-', "_"));
    let is_loaded = loaded(places).ok()?.contains_key(&name);
    (!is_loaded && needed(places, &name).is_some()).then_some(name)
}

pub(super) fn write(name: &str) -> Result<(), HostError> {
    let loader = fs::read_to_string(LOADER).unwrap_or_default();
    let loader = Some(loader.trim()).filter(|l| !l.is_empty());
    let failed = |error| Operation::Load(name.to_owned()).failed()(error);
    let output = Command::new(loader.unwrap_or("/sbin/modprobe"))
        .args(["--", name])
        .output()
        .map_err(failed)?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(failed(io::Error::other(why)))
        }
    }
}

/// Removes modules that were not present before, if they are unused: users of a module hold a
/// reference.
pub(super) fn restore(
    places: &Places,
    setting: &Setting,
    name: &str,
    old: &Saved,
) -> Result<(), HostError> {
    let Saved::Modules { present } = old else {
        return Err(HostError::unusable(setting));
    };
    let now = loaded(places).map_err(Operation::ListModules.failed())?;
    let all = needed(places, name).unwrap_or_else(|| vec![name.to_owned()]);
    for module in all.iter().filter(|m| !present.contains(*m)) {
        if now.contains_key(module) && !is_removed(module)? {
            break;
        }
    }
    Ok(())
}

fn is_removed(module: &str) -> Result<bool, HostError> {
    match remove(module) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        // In use, or the kernel cannot remove modules.
        Err(error) if is_kept(&error) => Ok(false),
        Err(error) => Err(Operation::Unload(module.to_owned()).failed()(error)),
    }
}

fn is_kept(error: &io::Error) -> bool {
    use io::ErrorKind as E;
    matches!(
        error.kind(),
        E::WouldBlock | E::ResourceBusy | E::Unsupported
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The lists of a host whose tcp_bbr is a module that needs another one.
    fn places(loaded: &str) -> (tempfile::TempDir, Places) {
        let root = tempfile::tempdir().unwrap();
        let dep = "kernel/net/ipv4/tcp_bbr.ko.xz: kernel/lib/helper.ko.xz\n\
                   kernel/lib/helper.ko.xz:\n";
        fs::write(root.path().join("modules.dep"), dep).unwrap();
        fs::write(
            root.path().join("modules.builtin"),
            "kernel/net/tcp_cubic.ko\n",
        )
        .unwrap();
        fs::write(root.path().join("loaded"), loaded).unwrap();
        let places = Places {
            loaded: root.path().join("loaded"),
            folder: root.path().to_owned(),
        };
        (root, places)
    }

    fn present(places: &Places, name: &str) -> Vec<String> {
        match read(places, name).unwrap() {
            Saved::Modules { present } => present.into_iter().collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_module_is_read_with_those_that_it_needs() {
        let (_root, none) = places("");
        assert!(present(&none, "tcp_bbr").is_empty());
        assert_eq!(
            present(&none, "tcp_cubic"),
            ["tcp_cubic"],
            "a part of the kernel"
        );
        let (_root, one) = places("helper 4096 0 - Live 0x0\n");
        assert_eq!(present(&one, "tcp_bbr"), ["helper"]);
    }

    #[test]
    fn what_cannot_be_loaded_is_refused_before() {
        let (_root, places) = places("");
        let setting = |name: &str| Setting::parse_module(name).unwrap();
        assert!(check(&places, &setting("tcp_bbr"), "tcp_bbr").is_ok());
        let refused = check(&places, &setting("tcp_none"), "tcp_none").unwrap_err();
        assert!(matches!(refused.reason, RefusalReason::NoModule { .. }));
        let kernel = Places {
            loaded: places.folder.join("nosuch"),
            ..places
        };
        let refused = check(&kernel, &setting("tcp_bbr"), "tcp_bbr").unwrap_err();
        assert!(matches!(refused.reason, RefusalReason::NoModules));
    }

    #[test]
    fn a_congestion_control_has_a_module_only_where_one_is_left_to_load() {
        let (_root, before) = places("");
        let of = |places: &Places| of_congestion_control(places, "bbr");
        assert_eq!(of(&before).as_deref(), Some("tcp_bbr"));
        let (_root, after) = places("tcp_bbr 4096 0 - Live 0x0\n");
        assert_eq!(of(&after), None);
        assert_eq!(of_congestion_control(&before, "none"), None);
    }
}
