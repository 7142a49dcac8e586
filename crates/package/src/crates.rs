//! The crates of other authors in a program, as cargo resolves them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{PackageError, contents, program};

/// Contents of a build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Target triple.
    pub target: &'a str,
    /// Programs, as cargo names their packages.
    pub packages: &'a [&'a str],
    /// Features of `pathtwin`; none: those by default.
    pub features: Option<&'a str>,
}

/// A crate in a program.
#[derive(Clone, Debug)]
pub struct Crate {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Licence as its author states it (SPDX).
    pub licence: Option<String>,
    /// Repository of its sources.
    pub repository: Option<String>,
    /// SHA-256 of its archive in the registry; absent for crates of this workspace.
    pub checksum: Option<String>,
    /// Folder of its sources.
    pub folder: PathBuf,
    /// Crates that it uses.
    pub uses: BTreeSet<Id>,
}

/// Name and version.
pub type Id = (String, String);

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The crates of a build, including those of this workspace: the ones linked into its programs,
/// without those that run on the build machine.
///
/// # Errors
/// Cargo fails, or its output is not understood.
pub fn of(checkout: &Path, build: Build<'_>) -> Result<BTreeMap<Id, Crate>, PackageError> {
    let linked = linked(&tree(checkout, build)?);
    let manifest = checkout.join("Cargo.toml");
    let arguments = [
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--manifest-path",
    ];
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    let printed = program::run(
        &cargo(),
        &[&arguments[..], &[manifest.as_os_str()]].concat(),
    )?;
    let metadata: Metadata = serde_json::from_slice(&printed).map_err(unexpected)?;
    let lock = contents::source(checkout, "Cargo.lock")?;
    let lock: Lock = toml::from_slice(&lock).map_err(unexpected)?;
    let sums = lock.package.into_iter();
    let mut sums: BTreeMap<Id, String> = sums
        .filter_map(|locked| Some(((locked.name, locked.version), locked.checksum?)))
        .collect();
    let ids: BTreeMap<&str, Id> = metadata
        .packages
        .iter()
        .map(|p| (p.id.as_str(), (p.name.clone(), p.version.clone())))
        .collect();
    let uses = uses(&metadata.resolve, &ids, &linked);
    let mut all = BTreeMap::new();
    for package in &metadata.packages {
        let id = (package.name.clone(), package.version.clone());
        if !linked.contains(&id) {
            continue;
        }
        let found = Crate {
            name: package.name.clone(),
            version: package.version.clone(),
            licence: package.license.clone(),
            repository: package.repository.clone(),
            checksum: sums.remove(&id),
            folder: package
                .manifest_path
                .parent()
                .map_or_else(PathBuf::new, Path::to_owned),
            uses: uses.get(package.id.as_str()).cloned().unwrap_or_default(),
        };
        all.insert(id, found);
    }
    Ok(all)
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn unexpected(error: impl std::fmt::Display) -> PackageError {
    PackageError::Cargo(error.to_string())
}

/// Returns the crates that cargo would link. Unlike the whole resolution, this uses only the
/// features of the build.
fn tree(checkout: &Path, build: Build<'_>) -> Result<String, PackageError> {
    let manifest = checkout.join("Cargo.toml");
    let mut arguments = vec!["tree", "--locked", "--edges", "normal,no-proc-macro"];
    arguments.extend([
        "--prefix",
        "none",
        "--format",
        "{p}",
        "--target",
        build.target,
    ]);
    for package in build.packages {
        arguments.extend(["--package", package]);
    }
    if let Some(features) = build.features {
        arguments.extend(["--no-default-features", "--features", features]);
    }
    let mut arguments: Vec<&OsStr> = arguments.into_iter().map(OsStr::new).collect();
    arguments.extend([OsStr::new("--manifest-path"), manifest.as_os_str()]);
    let printed = program::run(&cargo(), &arguments)?;
    String::from_utf8(printed).map_err(unexpected)
}

/// Names and versions in lines such as "model v0.1.0 (/folder) (*)".
fn linked(tree: &str) -> BTreeSet<Id> {
    let id = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        Some((name.to_owned(), version.trim_start_matches('v').to_owned()))
    };
    tree.lines().filter_map(id).collect()
}

/// The dependencies of each crate among the linked ones.
fn uses<'a>(
    resolve: &'a Resolve,
    ids: &BTreeMap<&str, Id>,
    linked: &BTreeSet<Id>,
) -> BTreeMap<&'a str, BTreeSet<Id>> {
    let nodes = resolve.nodes.iter();
    let of = |node: &'a Node| {
        let normal = |d: &&Dependency| d.dep_kinds.iter().any(|kind| kind.kind.is_none());
        let used = node.deps.iter().filter(normal);
        let used = used.filter_map(|dependency| ids.get(dependency.pkg.as_str()));
        let used = used.filter(|id| linked.contains(*id)).cloned().collect();
        (node.id.as_str(), used)
    };
    nodes.map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_tree_are_names_with_versions() {
        let ids = linked("pathtwin v0.1.0 (/a b/c)\nserde v1.0.1\nserde v1.0.1 (*)\n\n");
        let expected = [("pathtwin", "0.1.0"), ("serde", "1.0.1")];
        let expected = expected.map(|(name, version)| (name.to_owned(), version.to_owned()));
        assert_eq!(ids, BTreeSet::from(expected));
    }
}
