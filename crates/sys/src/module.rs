//! Modules of the kernel: lists of available and loaded ones, and their removal.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::CString,
    fs, io,
    path::{Path, PathBuf},
};

/// Places of the lists of modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Loaded modules, `/proc/modules`; absent if the kernel cannot load any.
    pub loaded: PathBuf,
    /// The folder of the modules of this kernel, `/lib/modules/RELEASE`.
    pub folder: PathBuf,
}

impl Places {
    /// The locations for the running kernel.
    pub fn own() -> Self {
        Self {
            loaded: PathBuf::from("/proc/modules"),
            folder: Path::new("/lib/modules").join(crate::machine::release()),
        }
    }
}

/// A module that is loaded (proc_modules(5)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Number of references to it, including modules.
    pub references: u32,
    /// Modules that need it.
    pub users: BTreeSet<String>,
}

/// The modules that are loaded.
///
/// # Errors
/// The kernel cannot load modules, or /proc is not mounted.
pub fn loaded(places: &Places) -> io::Result<BTreeMap<String, Loaded>> {
    Ok(read_loaded(&fs::read_to_string(&places.loaded)?))
}

/// The module and all its dependencies, if it can be loaded; dependencies come after the modules
/// that need them (modules.dep(5)).
pub fn needed(places: &Places, name: &str) -> Option<Vec<String>> {
    let text = fs::read_to_string(places.folder.join("modules.dep")).ok()?;
    let mut lines = text.lines().filter_map(read_needed);
    lines.find(|all| all.first().is_some_and(|first| first == name))
}

/// True if a module is part of the kernel itself.
pub fn is_built_in(places: &Places, name: &str) -> bool {
    let text = fs::read_to_string(places.folder.join("modules.builtin")).unwrap_or_default();
    text.lines().any(|path| stem(path).as_deref() == Some(name))
}

/// Removes an unused module (delete_module(2)).
///
/// # Errors
/// It is in use (`EWOULDBLOCK`), it is not loaded, or not root.
pub fn remove(name: &str) -> io::Result<()> {
    let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(rustix::system::delete_module(&name, libc::O_NONBLOCK)?)
}

/// `name size references users state address`, where users end with commas, or are `-`.
fn read_loaded(text: &str) -> BTreeMap<String, Loaded> {
    let one = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let references = words.nth(1)?.parse().ok()?;
        let users = words.next()?.split(',');
        let users = users.filter(|user| !user.is_empty() && !matches!(*user, "-" | "[permanent]"));
        let users = users.map(str::to_owned).collect();
        Some((name, Loaded { references, users }))
    };
    text.lines().filter_map(one).collect()
}

/// `kernel/net/ipv4/tcp_bbr.ko.xz: kernel/…`.
fn read_needed(line: &str) -> Option<Vec<String>> {
    let (first, rest) = line.split_once(':')?;
    let all = std::iter::once(first).chain(rest.split_whitespace());
    all.map(stem).collect()
}

/// The name of a module of a file; the kernel writes all of them with underscores.
fn stem(path: &str) -> Option<String> {
    let file = path.rsplit('/').next()?;
    let (name, _) = file.split_once(".ko")?;
    Some(name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn places(files: &[(&str, &str)]) -> (tempfile::TempDir, Places) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(root.path().join(name), text).unwrap();
        }
        let places = Places {
            loaded: root.path().join("modules"),
            folder: root.path().to_owned(),
        };
        (root, places)
    }

    /// Lines of a Debian 12 host.
    #[test]
    fn loaded_modules_have_their_users() {
        let text = "tcp_bbr 20480 3 - Live 0x0000000000000000\n\
                    sch_fq 24576 0 - Live 0x0000000000000000\n\
                    nf_tables 303104 12 nft_ct,nft_chain_nat, Live 0x0000000000000000\n\
                    stuck 1 1 [permanent], Live 0x0\n";
        let (_root, places) = places(&[("modules", text)]);
        let all = loaded(&places).unwrap();
        assert_eq!(all["tcp_bbr"].references, 3);
        assert!(all["tcp_bbr"].users.is_empty() && all["stuck"].users.is_empty());
        let users: Vec<&str> = all["nf_tables"].users.iter().map(String::as_str).collect();
        assert_eq!(users, ["nft_chain_nat", "nft_ct"]);
    }

    #[test]
    fn a_module_has_the_kernels_name_regardless_of_its_file_name() {
        let (_root, places) = places(&[
            (
                "modules.dep",
                "kernel/net/sched/act_mirred.ko.zst:\n\
                 kernel/drivers/net/wireguard/wire-guard.ko: kernel/net/udp_tunnel.ko kernel/a-b.ko\n",
            ),
            ("modules.builtin", "kernel/net/ipv4/tcp_cubic.ko\n"),
        ]);
        assert_eq!(needed(&places, "act_mirred").unwrap(), ["act_mirred"]);
        let all = needed(&places, "wire_guard").unwrap();
        assert_eq!(all, ["wire_guard", "udp_tunnel", "a_b"]);
        assert_eq!(
            needed(&places, "udp_tunnel"),
            None,
            "it has no line of its own"
        );
        assert!(is_built_in(&places, "tcp_cubic") && !is_built_in(&places, "tcp_cub"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,200}") {
            let _ = read_loaded(&text);
            let _ = text.lines().map(read_needed).count();
        }
    }
}
