//! Packages of apk-tools 3, for OpenWrt 25.12 and newer. They are not signed: `apk add
//! --allow-untrusted FILE`, or `apk adbsign` with a key that the router trusts.

use std::{collections::BTreeMap, io::Write};

use flate2::{Compression, write::DeflateEncoder};
use sha2::{Digest, Sha256};

use crate::{
    Epoch, PackageError,
    adb::{self, Block, Value, Values},
    deb::Package,
    openwrt::{self, Router},
    tree::{Node, Tree},
};

/// Packs a program for one of OpenWrt's architectures.
///
/// # Errors
/// It cannot be packed.
pub fn package(router: &Router, architecture: &str, epoch: Epoch) -> Result<Package, PackageError> {
    let name = format!("pathtwin-{}_{architecture}.apk", openwrt::version());
    let plain = container(router, architecture, epoch);
    let mut encoder = DeflateEncoder::new(adb::DEFLATED.to_vec(), Compression::best());
    let done = encoder.write_all(&plain).and_then(|()| encoder.finish());
    let bytes = done.map_err(PackageError::file("compress", "memory"))?;
    Ok(Package { name, bytes })
}

/// The package before it is compressed.
pub fn container(router: &Router, architecture: &str, epoch: Epoch) -> Vec<u8> {
    let tree = with_lists(&router.tree);
    let folders = folders(&tree);
    let mut out = adb::PACKAGE.to_vec();
    let values = values(router, architecture, &folders, epoch);
    adb::block(&mut out, Block::Adb, &[&values]);
    // Folders and files are named by their place in the lists, from 1.
    for (folder, (_, _, files)) in (1_u32..).zip(&folders) {
        for (file, (_, _, bytes)) in (1_u32..).zip(files) {
            if !bytes.is_empty() {
                let place = [folder.to_le_bytes(), file.to_le_bytes()].concat();
                adb::block(&mut out, Block::Data, &[&place, bytes]);
            }
        }
    }
    out
}

/// The additional files that OpenWrt's scripts expect: the list of files, the list of configuration
/// files, and the original checksums of the latter (include/package-pack.mk of OpenWrt 25.12).
fn with_lists(tree: &Tree) -> Tree {
    let mut all = tree.clone();
    let list: String = tree.files().map(|(path, _)| format!("/{path}\n")).collect();
    all.file("lib/apk/packages/pathtwin.list", list);
    let edited = || tree.files().filter(|(path, _)| *path == openwrt::CONFIG);
    let names: String = edited().map(|(path, _)| format!("/{path}\n")).collect();
    all.file("lib/apk/packages/pathtwin.conffiles", names);
    let sums = edited().map(|(path, bytes)| {
        let digest = Sha256::digest(bytes);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("/{path} {hex}\n")
    });
    let sums: String = sums.collect();
    all.file("lib/apk/packages/pathtwin.conffiles_static", sums);
    all
}

type File<'a> = (&'a str, u32, &'a [u8]);
type Folder<'a> = (&'a str, u32, Vec<File<'a>>);

/// Folders with their files, both by name; the root is the first.
fn folders(tree: &Tree) -> Vec<Folder<'_>> {
    let mut all: BTreeMap<&str, Folder<'_>> = BTreeMap::new();
    all.insert("", ("", 0o755, Vec::new()));
    for (path, node) in tree.iter() {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match node {
            Node::Folder { mode } => {
                all.insert(path, (path, *mode, Vec::new()));
            }
            Node::File { mode, bytes } => {
                if let Some((_, _, files)) = all.get_mut(folder) {
                    files.push((name, *mode, bytes));
                }
            }
            // A package for routers has no links.
            Node::Link { .. } => {}
        }
    }
    all.into_values().collect()
}

/// Names, sizes, checksums and scripts (struct `schema_package` of apk-tools).
fn values(router: &Router, architecture: &str, folders: &[Folder<'_>], epoch: Epoch) -> Vec<u8> {
    let mut values = Values::new();
    let v = &mut values;
    let name = v.blob(b"pathtwin");
    let version = v.blob(openwrt::version().as_bytes());
    let description = v.blob(openwrt::SUMMARY.as_bytes());
    let architecture = v.blob(architecture.as_bytes());
    let licence = v.blob(b"MIT OR Apache-2.0");
    let maintainer = v.blob(openwrt::MAINTAINER.as_bytes());
    let libc = v.blob(b"libc");
    let libc = v.object(&[libc]);
    let depends = v.array(&[libc]);
    let paths: Vec<Value> = folders.iter().map(|f| folder(v, f, epoch)).collect();
    let files = folders.iter().flat_map(|(_, _, files)| files);
    let size: usize = files.map(|(_, _, bytes)| bytes.len()).sum();
    let size = v.int(u64::try_from(size).unwrap_or(u64::MAX));
    // Its identity, over all values with zeroes in this place.
    let (hash, place) = v.room(20);
    let null = Value::NULL;
    let info = v.object(&[
        name,
        version,
        hash,
        description,
        architecture,
        licence,
        name,
        maintainer,
        null,
        null,
        null,
        size,
        null,
        null,
        depends,
    ]);
    let paths = v.array(&paths);
    let installed = v.blob(&router.scripts.installed);
    let upgraded = [
        b"#!/bin/sh\nexport PKG_UPGRADE=1\n",
        &router.scripts.installed[..],
    ]
    .concat();
    let upgraded = v.blob(&upgraded);
    let removed = v.blob(&router.scripts.removed);
    // Trigger, before and after installing, before and after removing, before and after upgrading.
    let scripts = v.object(&[null, null, installed, removed, null, null, upgraded]);
    let package = v.object(&[info, paths, scripts]);
    let mut bytes = values.finish(package);
    let digest = Sha256::digest(&bytes);
    bytes[place..place + 20].copy_from_slice(&digest[..20]);
    bytes
}

fn folder(v: &mut Values, (path, mode, files): &Folder<'_>, epoch: Epoch) -> Value {
    let files: Vec<Value> = files.iter().map(|f| file(v, f, epoch)).collect();
    let path = v.blob(path.as_bytes());
    let access = access(v, *mode);
    let files = v.array(&files);
    v.object(&[path, access, files])
}

fn file(v: &mut Values, (name, mode, bytes): &File<'_>, epoch: Epoch) -> Value {
    let name = v.blob(name.as_bytes());
    let digest = v.blob(&Sha256::digest(bytes));
    let time = v.int(epoch.0);
    let size = v.int(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    let access = access(v, *mode);
    v.object(&[name, access, size, time, digest])
}

fn access(v: &mut Values, mode: u32) -> Value {
    let mode = v.int(u64::from(mode));
    let root = v.blob(b"root");
    v.object(&[mode, root, root])
}
