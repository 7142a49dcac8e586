//! The bill of materials (CycloneDX 1.5, JSON), and the licence texts of the crates in it.
//!
//! It is computed from `cargo tree` and `cargo metadata` instead of by cargo-cyclonedx, which adds
//! a random serial number, so that it is reproducible.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    Epoch, PackageError, VERSION, changelog,
    crates::{Crate, Id},
};

/// The bill of materials of a program.
pub fn cyclonedx(name: &str, crates: &BTreeMap<Id, Crate>, epoch: Epoch) -> Vec<u8> {
    let components: Vec<Value> = crates.values().map(component).collect();
    let mut dependencies: Vec<Value> = vec![json!({
        "ref": name,
        "dependsOn": crates.values().map(reference).collect::<Vec<_>>(),
    })];
    dependencies.extend(crates.values().map(|used| {
        let on = used.uses.iter().filter_map(|id| crates.get(id));
        let on: Vec<String> = on.map(reference).collect();
        json!({"ref": reference(used), "dependsOn": on})
    }));
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": changelog::timestamp(epoch),
            "component": {
                "type": "application",
                "bom-ref": name,
                "name": name,
                "version": VERSION,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    document["serialNumber"] = json!(format!("urn:uuid:{}", uuid(&document)));
    let mut text = format!("{document:#}").into_bytes();
    text.push(b'\n');
    text
}

/// A UUID over the contents (RFC 9562, version 8).
fn uuid(document: &Value) -> String {
    let digest = Sha256::digest(document.to_string().as_bytes());
    let mut bytes: Vec<u8> = digest[..16].to_vec();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    parts.join("-")
}

/// A package URL (purl-spec, type cargo).
fn reference(used: &Crate) -> String {
    format!("pkg:cargo/{}@{}", used.name, used.version)
}

fn component(used: &Crate) -> Value {
    let reference = reference(used);
    let mut component = json!({
        "type": "library",
        "bom-ref": reference,
        "name": used.name,
        "version": used.version,
        "purl": reference,
    });
    if let Some(licence) = &used.licence {
        // Before SPDX expressions, a slash was "or".
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if let Some(checksum) = &used.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(url) = &used.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": url}]);
    }
    component
}

/// The licence texts of third-party crates, each text once, with its crates.
///
/// # Errors
/// A folder of sources cannot be read.
pub fn licences(crates: &BTreeMap<Id, Crate>) -> Result<Vec<u8>, PackageError> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut without = String::new();
    for used in crates.values().filter(|used| used.checksum.is_some()) {
        let name = format!("{} {}", used.name, used.version);
        let found = texts_of(&used.folder)?;
        if found.is_empty() {
            let licence = used.licence.as_deref().unwrap_or("not stated");
            without.push_str(&format!("{name}: {licence}\n"));
        }
        for text in found {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    let mut out = "The programs contain these crates of other authors.\n".to_owned();
    let mut texts: Vec<_> = texts
        .into_iter()
        .map(|(text, crates)| (crates, text))
        .collect();
    texts.sort();
    for (crates, text) in texts {
        let crates: Vec<String> = crates.into_iter().collect();
        out.push_str(&format!(
            "\n{}\n{}\n\n{text}\n",
            "=".repeat(72),
            crates.join(", ")
        ));
    }
    if !without.is_empty() {
        let line = "=".repeat(72);
        out.push_str(&format!(
            "\n{line}\nCrates whose archives have no licence text, with the licences that they state:\n\n{without}"
        ));
    }
    Ok(out.into_bytes())
}

/// The licence files at the top of a crate.
fn texts_of(folder: &Path) -> Result<Vec<String>, PackageError> {
    let error = PackageError::file("list", folder);
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut paths: Vec<_> = entries
        .map_err(error)?
        .iter()
        .map(fs::DirEntry::path)
        .collect();
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_uppercase();
        let known = [
            "LICENSE",
            "LICENCE",
            "COPYING",
            "COPYRIGHT",
            "NOTICE",
            "UNLICENSE",
        ];
        if path.is_file() && known.iter().any(|known| name.starts_with(known)) {
            let bytes = fs::read(&path).map_err(PackageError::file("read", &path))?;
            texts.push(String::from_utf8_lossy(&bytes).trim().replace('\r', ""));
        }
    }
    Ok(texts)
}
