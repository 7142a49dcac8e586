//! Tests of the files of a release: installed from a checkout and packed for Debian they are the
//! same, a bill of materials lists what cargo links, and packed twice they are the same bytes.
//! `make build` builds the programs.

#![allow(clippy::expect_used)]

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use common::{checkout, targets, text};
use package::{
    Epoch,
    crates::{self, Build},
    dist::{AGENT_FEATURES, ARM64_FEATURES},
    sbom,
};
use serde_json::Value;

const EPOCH: &str = "1790000000";

fn release(name: &str) -> PathBuf {
    let path = targets().join("release").join(name);
    assert!(path.exists(), "no {}; run: make build", path.display());
    path
}

/// Runs `pathtwin-package`, which must succeed.
fn package<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_pathtwin-package"))
        .arg("--source")
        .arg(checkout())
        .args(arguments)
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .output()
        .expect("run pathtwin-package");
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

/// The files below a folder with their permissions, by path.
fn files(root: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("list").flatten() {
            let path = entry.path();
            let about = fs::symlink_metadata(&path).expect("its kind");
            if about.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root).expect("below it");
            let name = name.to_string_lossy().into_owned();
            found.insert(name, about.permissions().mode() & 0o7777);
        }
    }
    found
}

/// Calls `make TARGET` with a root of its own.
fn install(command: &str, programs: &[PathBuf], root: &Path) -> Output {
    let place = ["--prefix", "/usr", "--destdir"].map(OsStr::new);
    let mut arguments = vec![OsStr::new(command)];
    arguments.extend(place);
    arguments.push(root.as_os_str());
    arguments.extend(programs.iter().map(|path| path.as_os_str()));
    package(arguments)
}

/// What Debian has and an installation from a checkout has not: the files of its policy, and those
/// that its users edit.
const DEBIANS: [&str; 8] = [
    "etc/default/pathtwin-serve",
    "usr/share/doc/pathtwin/README.md",
    "usr/share/doc/pathtwin/changelog.gz",
    "usr/share/doc/pathtwin/copyright",
    "usr/share/doc/pathtwin/sbom.cdx.json.gz",
    "usr/share/doc/pathtwin/third-party-licences.gz",
    "usr/share/lintian/overrides/pathtwin",
    "usr/share/man/man1/pathtwin-guest.1.gz",
];

/// The path of a file in the package that is installed from a checkout as `path`.
fn debians(path: &str) -> String {
    let path = path.replace("zsh/site-functions/", "zsh/vendor-completions/");
    match path.contains("/man/man1/") {
        true => format!("{path}.gz"),
        false => path,
    }
}

/// The package, unpacked by dpkg.
fn unpacked(programs: &[PathBuf], folder: &Path) -> PathBuf {
    let out = folder.join("deb");
    let mut arguments = vec![OsStr::new("deb"), OsStr::new("--out"), out.as_os_str()];
    arguments.extend(programs.iter().map(|path| path.as_os_str()));
    let said = text(&package(arguments).stdout);
    let root = folder.join("unpacked");
    let status = Command::new("dpkg-deb")
        .args(["--extract", said.trim()])
        .arg(&root)
        .status();
    assert!(status.expect("run dpkg-deb").success());
    root
}

#[test]
fn installed_from_a_checkout_it_has_the_files_of_the_package_and_uninstalled_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = ["pathtwin", "pathtwin-guest"].map(release);
    let root = folder.path().join("root");
    install("install", &programs, &root);
    let mut local = files(&root);
    assert!(local.remove("usr/share/pathtwin/installed").is_some());
    for part in [
        "usr/bin/pathtwin",
        "usr/lib/systemd/system/pathtwin-watch.service",
        "usr/lib/sysusers.d/pathtwin.conf",
        "usr/share/bash-completion/completions/pathtwin",
        "usr/share/man/man1/pathtwin-watch.1",
    ] {
        assert!(local.contains_key(part), "no {part}");
    }
    let local: BTreeMap<String, u32> = local.iter().map(|(p, m)| (debians(p), *m)).collect();

    let debian = unpacked(&programs, folder.path());
    let mut packed = files(&debian);
    // Only packages of a release have a bill and licences.
    for path in DEBIANS
        .iter()
        .filter(|path| !path.contains("sbom") && !path.contains("third"))
    {
        assert!(packed.contains_key(*path), "no {path}");
    }
    packed.retain(|path, _| !DEBIANS.contains(&path.as_str()));
    assert_eq!(local, packed);
    // With the prefix of the package, their contents are the same, too, but for compressed ones.
    for path in local.keys().filter(|path| root.join(path).exists()) {
        let same =
            fs::read(root.join(path)).expect("read") == fs::read(debian.join(path)).expect("read");
        assert!(same, "{path} differs");
    }

    let said = text(&install("uninstall", &[], &root).stdout);
    assert!(
        said.starts_with(&format!("{} files", local.len() + 1)),
        "{said}"
    );
    assert_eq!(files(&root), BTreeMap::new());
    let left = Command::new("find")
        .arg(&root)
        .args(["-name", "*pathtwin*"])
        .output();
    assert_eq!(text(&left.expect("run find").stdout), "");
}

/// A unit below another prefix starts the program that is there.
#[test]
fn make_install_takes_another_prefix_and_make_uninstall_finds_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().to_str().expect("a path");
    let make = |target: &str| {
        let output = Command::new("make")
            .args([target, "PREFIX=/opt/tools", &format!("DESTDIR={root}")])
            .arg(format!("CARGO_TARGET_DIR={}", targets().display()))
            .arg(format!(
                "PACKAGE={}",
                env!("CARGO_BIN_EXE_pathtwin-package")
            ))
            .env("SOURCE_DATE_EPOCH", EPOCH)
            .current_dir(checkout())
            .output()
            .expect("run make");
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    make("install");
    let at = |path: &str| folder.path().join("opt/tools").join(path);
    let unit = fs::read_to_string(at("lib/systemd/system/pathtwin-watch.service"));
    let unit = unit.expect("read the unit");
    assert!(
        unit.contains("\nExecStart=/opt/tools/bin/pathtwin watch "),
        "{unit}"
    );
    let version = Command::new(at("bin/pathtwin")).arg("--version").output();
    assert!(version.expect("run it").status.success());
    assert!(at("bin/pathtwin-validation").exists());
    make("uninstall");
    assert_eq!(files(folder.path()), BTreeMap::new());
}

/// The builds of a release: target, programs, features.
const BUILDS: [Build<'_>; 4] = [
    Build {
        target: "x86_64-unknown-linux-gnu",
        packages: &["pathtwin", "pathtwin-guest"],
        features: None,
    },
    Build {
        target: "aarch64-unknown-linux-gnu",
        packages: &["pathtwin"],
        features: Some(ARM64_FEATURES),
    },
    Build {
        target: "x86_64-unknown-linux-musl",
        packages: &["pathtwin"],
        features: Some(AGENT_FEATURES),
    },
    Build {
        target: "aarch64-unknown-linux-musl",
        packages: &["pathtwin"],
        features: Some(AGENT_FEATURES),
    },
];

/// What cargo would compile for the target, asked in another way than the bill is made: one line a
/// crate, with the build's features. Without `no-proc-macro` these are included, and taken out by
/// `cargo metadata`.
fn linked(build: Build<'_>) -> BTreeSet<String> {
    let mut arguments = vec!["tree", "--locked", "--offline", "--edges", "normal"];
    arguments.extend(["--no-dedupe", "--prefix", "depth", "--target", build.target]);
    for name in build.packages {
        arguments.extend(["--package", name]);
    }
    if let Some(features) = build.features {
        arguments.extend(["--no-default-features", "--features", features]);
    }
    let tree = cargo(&arguments);
    let (mut found, mut above) = (BTreeSet::new(), None);
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let digits = line.find(|c: char| !c.is_ascii_digit()).expect("a name");
        let depth: usize = line[..digits].parse().expect("a depth");
        // What a macro uses runs on the build machine.
        if above.is_some_and(|macros| depth > macros) {
            continue;
        }
        above = line.contains("(proc-macro)").then_some(depth);
        if above.is_none() {
            let mut words = line[digits..].split_whitespace();
            let (name, version) = (words.next(), words.next());
            let version = version.expect("a version").trim_start_matches('v');
            found.insert(format!("{} {version}", name.expect("a name")));
        }
    }
    found
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(checkout())
        .output()
        .expect("run cargo");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// CycloneDX 1.5, as its JSON schema has it: required fields and their forms.
fn check_form(bill: &Value) {
    assert_eq!(string(bill, "bomFormat"), "CycloneDX");
    assert_eq!(string(bill, "specVersion"), "1.5");
    assert!(bill["version"].as_u64() >= Some(1));
    let serial = string(bill, "serialNumber").strip_prefix("urn:uuid:");
    let serial: Vec<usize> = serial.expect("a URN").split('-').map(str::len).collect();
    assert_eq!(serial, [8, 4, 4, 4, 12]);
    let main = &bill["metadata"]["component"];
    assert_eq!(string(main, "type"), "application");
    assert!(!string(main, "version").is_empty());
    let mut references = BTreeSet::from([string(main, "bom-ref")]);
    for part in bill["components"].as_array().expect("components") {
        assert_eq!(string(part, "type"), "library");
        let purl = format!(
            "pkg:cargo/{}@{}",
            string(part, "name"),
            string(part, "version")
        );
        assert_eq!(string(part, "purl"), purl);
        assert!(references.insert(string(part, "bom-ref")), "twice: {part}");
    }
    let graph = bill["dependencies"].as_array().expect("dependencies");
    let named: BTreeSet<&str> = graph.iter().map(|node| string(node, "ref")).collect();
    assert_eq!(named, references, "the graph has each component once");
    assert_eq!(graph.len(), references.len());
    for on in graph
        .iter()
        .flat_map(|node| node["dependsOn"].as_array().expect("a list"))
    {
        assert!(
            references.contains(on.as_str().expect("a reference")),
            "{on} is no component"
        );
    }
}

/// Names and versions of the components.
fn components(bill: &Value) -> BTreeSet<String> {
    let parts = bill["components"].as_array().expect("components").iter();
    parts
        .map(|part| format!("{} {}", string(part, "name"), string(part, "version")))
        .collect()
}

#[test]
fn a_bill_of_materials_is_cyclonedx_and_lists_what_cargo_links() {
    let epoch = Epoch(EPOCH.parse().expect("a time"));
    for build in BUILDS {
        let crates = crates::of(&checkout(), build).expect("the crates");
        let bill = sbom::cyclonedx("pathtwin", &crates, epoch);
        assert!(
            bill == sbom::cyclonedx("pathtwin", &crates, epoch),
            "twice the same"
        );
        let bill: Value = serde_json::from_slice(&bill).expect("JSON");
        check_form(&bill);
        let (listed, linked) = (components(&bill), linked(build));
        println!("{}: {} components", build.target, listed.len());
        let missing: Vec<_> = linked.difference(&listed).collect();
        let surplus: Vec<_> = listed.difference(&linked).collect();
        let what = format!("{}: missing {missing:?}, surplus {surplus:?}", build.target);
        assert!(missing.is_empty() && surplus.is_empty(), "{what}");
    }
}

/// Arguments of `dist` for what is built here.
fn dist(out: &Path) -> Vec<PathBuf> {
    let mut arguments: Vec<PathBuf> = vec!["dist".into(), "--out".into(), out.into()];
    arguments.extend(["--release".into(), targets().join("release")]);
    for processor in ["x86_64", "aarch64"] {
        let agent = targets().join(format!("agent-{processor}/pathtwin"));
        assert!(agent.exists(), "no {}; run: make agent", agent.display());
        arguments.extend(["--agent".into(), agent]);
    }
    let arm64 = targets().join("aarch64-unknown-linux-gnu/release/pathtwin");
    match arm64.exists() {
        true => arguments.extend(["--arm64".into(), arm64]),
        false => println!("without the .deb for arm64: make dist builds its program"),
    }
    arguments
}

#[test]
fn a_release_packed_twice_from_the_same_programs_is_the_same_bytes() {
    release("pathtwin-guest");
    let folder = tempfile::tempdir().expect("a folder");
    let outs = ["first", "second"].map(|name| folder.path().join(name));
    for out in &outs {
        package(dist(out));
    }
    let [first, second] = [&outs[0], &outs[1]].map(|out| files(out));
    assert_eq!(first, second);
    println!("{} files", first.len());
    for name in first.keys() {
        let same = fs::read(outs[0].join(name)).expect("read")
            == fs::read(outs[1].join(name)).expect("read");
        assert!(same, "{name} differs");
    }
}
