//! The patches to the kernel, and their application to a source of any version.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{Context as _, KernelError};
use super::run::{Runner, plain};

/// Patches in their order; see the file itself.
pub(super) const SERIES: &str = include_str!("../patches/series");

/// Every patch that the series can name.
pub(super) const FILES: &[(&str, &str)] = &[
    (
        "0001-um-hz-1000.patch",
        include_str!("../patches/0001-um-hz-1000.patch"),
    ),
    (
        "0002-um-seeded-entropy.patch",
        include_str!("../patches/0002-um-seeded-entropy.patch"),
    ),
    (
        "0003-um-simd-crypto.patch",
        include_str!("../patches/0003-um-simd-crypto.patch"),
    ),
    (
        "0004-um-quiet-sigchld.patch",
        include_str!("../patches/0004-um-quiet-sigchld.patch"),
    ),
    (
        "0005-um-fewer-futex-calls.patch",
        include_str!("../patches/0005-um-fewer-futex-calls.patch"),
    ),
    (
        "0006-um-same-memory.patch",
        include_str!("../patches/0006-um-same-memory.patch"),
    ),
    (
        "0007-um-same-task-size.patch",
        include_str!("../patches/0007-um-same-task-size.patch"),
    ),
    (
        "0030-um-whole-xstate.patch",
        include_str!("../patches/0030-um-whole-xstate.patch"),
    ),
    (
        "0008-um-near-code.patch",
        include_str!("../patches/0008-um-near-code.patch"),
    ),
    (
        "0009-um-builtins.patch",
        include_str!("../patches/0009-um-builtins.patch"),
    ),
    (
        "0010-um-percpu.patch",
        include_str!("../patches/0010-um-percpu.patch"),
    ),
    (
        "0011-um-irqflags.patch",
        include_str!("../patches/0011-um-irqflags.patch"),
    ),
    (
        "0012-um-direct-timer.patch",
        include_str!("../patches/0012-um-direct-timer.patch"),
    ),
    (
        "0013-um-idle-to-event.patch",
        include_str!("../patches/0013-um-idle-to-event.patch"),
    ),
    (
        "0014-netem-prefetch.patch",
        include_str!("../patches/0014-netem-prefetch.patch"),
    ),
    (
        "0015-chacha20poly1305-key.patch",
        include_str!("../patches/0015-chacha20poly1305-key.patch"),
    ),
    (
        "0016-tcp-discarding-reader.patch",
        include_str!("../patches/0016-tcp-discarding-reader.patch"),
    ),
    (
        "0017-wireguard-no-thread.patch",
        include_str!("../patches/0017-wireguard-no-thread.patch"),
    ),
    (
        "0018-um-keep-ticks.patch",
        include_str!("../patches/0018-um-keep-ticks.patch"),
    ),
    (
        "0019-um-vdso-clock.patch",
        include_str!("../patches/0019-um-vdso-clock.patch"),
    ),
    (
        "0020-path-qdisc.patch",
        include_str!("../patches/0020-path-qdisc.patch"),
    ),
    (
        "0021-veth-forward.patch",
        include_str!("../patches/0021-veth-forward.patch"),
    ),
    (
        "0022-um-profile.patch",
        include_str!("../patches/0022-um-profile.patch"),
    ),
    (
        "0023-wireguard-crypt-softirq.patch",
        include_str!("../patches/0023-wireguard-crypt-softirq.patch"),
    ),
    (
        "0024-um-hole.patch",
        include_str!("../patches/0024-um-hole.patch"),
    ),
    (
        "0025-um-stub-memory.patch",
        include_str!("../patches/0025-um-stub-memory.patch"),
    ),
    (
        "0026-um-fault-around.patch",
        include_str!("../patches/0026-um-fault-around.patch"),
    ),
    (
        "0027-hostfs-readahead.patch",
        include_str!("../patches/0027-hostfs-readahead.patch"),
    ),
    (
        "0028-um-huge-memory.patch",
        include_str!("../patches/0028-um-huge-memory.patch"),
    ),
];

/// One line of the series.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    required: bool,
    variants: Vec<&'a str>,
}

fn parse_series(text: &str) -> Vec<Entry<'_>> {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let required = words.next()? == "required";
            Some(Entry {
                required,
                variants: words.collect(),
            })
        })
        .collect()
}

/// The outcome of applying a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchState {
    /// It was applied.
    Applied,
    /// The source already has the change.
    Present,
    /// It does not apply to this version; the kernel was built without it.
    Skipped,
}

/// A patch and the outcome of applying it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchReport {
    /// File name of the patch.
    pub name: String,
    /// The outcome.
    pub state: PatchState,
}

/// Applies the series to a source tree.
pub(super) fn apply(
    runner: &Runner,
    tree: &Path,
    version: &str,
) -> Result<Vec<PatchReport>, KernelError> {
    let scratch = tempfile::tempdir().on("create a folder in", &std::env::temp_dir())?;
    let mut reports = Vec::new();
    for entry in parse_series(SERIES) {
        let mut state = PatchState::Skipped;
        let mut name = entry.variants.first().copied().unwrap_or_default();
        for variant in &entry.variants {
            let text = FILES
                .iter()
                .find(|(file, _)| file == variant)
                .map_or("", |(_, text)| text);
            let file = scratch.path().join(variant);
            std::fs::write(&file, text).on("write", &file)?;
            if let Some(result) = apply_one(runner, tree, &file)? {
                (state, name) = (result, variant);
                break;
            }
        }
        if entry.required && state == PatchState::Skipped {
            return Err(KernelError::Patch {
                name: name.to_owned(),
                version: version.to_owned(),
                tail: runner.tail(),
            });
        }
        reports.push(PatchReport {
            name: name.to_owned(),
            state,
        });
    }
    Ok(reports)
}

/// Tries first, so that a patch that does not fit leaves no half of itself behind.
fn apply_one(runner: &Runner, tree: &Path, file: &Path) -> Result<Option<PatchState>, KernelError> {
    let patch = |flags: &[&str]| {
        let mut command = plain("patch");
        command
            .args(["-p1", "--batch", "--no-backup-if-mismatch", "--fuzz=2"])
            .args(flags);
        command.arg("-d").arg(tree).arg("-i").arg(file);
        match runner.run("patching", &mut command) {
            Ok(()) => Ok(true),
            Err(KernelError::Step { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    };
    if patch(&["--forward", "--dry-run"])? {
        return Ok(patch(&["--forward"])?.then_some(PatchState::Applied));
    }
    Ok(patch(&["--reverse", "--dry-run"])?.then_some(PatchState::Present))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_names_each_file_once() {
        let named: Vec<_> = parse_series(SERIES)
            .into_iter()
            .flat_map(|entry| entry.variants)
            .collect();
        let files: Vec<_> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, files);
        for (name, text) in FILES {
            assert!(
                text.starts_with("SPDX-License-Identifier: GPL-2.0\n"),
                "{name}"
            );
        }
    }

    #[test]
    fn series_lines_are_read() {
        let entries = parse_series("# c\nrequired a.patch\noptional b.patch c.patch # why\n\n");
        assert_eq!(
            entries[0],
            Entry {
                required: true,
                variants: vec!["a.patch"]
            }
        );
        assert_eq!(
            entries[1],
            Entry {
                required: false,
                variants: vec!["b.patch", "c.patch"]
            }
        );
    }

    #[test]
    fn a_patch_applies_once_and_is_then_present() {
        let dir = tempfile::tempdir().unwrap();
        let runner = Runner::new(dir.path().join("log"), None).unwrap();
        let tree = dir.path().join("tree");
        std::fs::create_dir_all(tree.join("arch/um")).unwrap();
        std::fs::write(
            tree.join("arch/um/Kconfig"),
            "config HZ\n\tint\n\tdefault 100\n\nconfig X\n",
        )
        .unwrap();
        let file = dir.path().join("p");
        std::fs::write(&file, FILES[0].1).unwrap();
        assert_eq!(
            apply_one(&runner, &tree, &file).unwrap(),
            Some(PatchState::Applied)
        );
        let text = std::fs::read_to_string(tree.join("arch/um/Kconfig")).unwrap();
        assert!(text.contains("default 1000\n"), "{text}");
        assert_eq!(
            apply_one(&runner, &tree, &file).unwrap(),
            Some(PatchState::Present)
        );
        std::fs::write(&file, FILES[1].1).unwrap();
        assert_eq!(apply_one(&runner, &tree, &file).unwrap(), None);
        assert!(!tree.join("arch/um/os-Linux").exists());
    }
}
