//! Runs that the history has not taken yet, as files: the run, and the path it is of beside it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::history::HOST;
use store::{Document, StoreError};
use sys::files::{self, Existing, Readers};

/// Writes a run; both of its files are there when this returns.
pub(super) fn write(folder: &Path, document: &Document) -> io::Result<()> {
    files::make_private_folder(folder)?;
    let file = folder.join(format!("{}.json", document.id));
    let line = serde_json::json!({"path": document.path, "run": document.id}).to_string();
    let written = [
        (file.with_extension("path"), line.as_bytes()),
        (file.clone(), document.body.as_slice()),
    ];
    for (file, content) in written {
        files::write(&file, Readers::Owner, Existing::Replace, content)?;
    }
    Ok(())
}

/// The labels of all runs of this watch but their path.
pub(super) fn label(document: &mut Document) {
    document.label(HOST, &sys::machine::host_name());
    document.label("watch", "yes");
}

/// The files of all runs, in the same order each time.
pub(super) fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    files
}

/// Copies the runs of a folder that ends with the process to one that stays. Those of the first
/// remain: a run that is there twice is added once.
pub(super) fn rescue(from: &Path, to: &Path) -> io::Result<()> {
    for file in list(from) {
        files::make_private_folder(to)?;
        // The path first, as in `write`.
        for file in [file.with_extension("path"), file] {
            if let (Some(name), Ok(content)) = (file.file_name(), fs::read(&file)) {
                let to = to.join(name);
                files::write(&to, Readers::Owner, Existing::Replace, &content)?;
            }
        }
    }
    Ok(())
}

/// Moves the runs that `save` takes out of the folder, and counts them. Those that it does not take
/// stay, and files that are not of a run.
///
/// # Errors
/// That of `save`, which ends it.
pub(super) fn move_to(
    folder: &Path,
    count: &mut usize,
    mut save: impl FnMut(&Document) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    for file in list(folder) {
        let Some(document) = read(&file) else {
            continue;
        };
        if !save(&document)? {
            continue;
        }
        let _ = fs::remove_file(&file);
        let _ = fs::remove_file(file.with_extension("path"));
        *count += 1;
    }
    Ok(())
}

fn read(file: &Path) -> Option<Document> {
    let mut document = Document::of_run(fs::read(file).ok()?, "a run that was kept").ok()?;
    let line = fs::read(file.with_extension("path")).ok();
    let line = line.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let path = line.as_ref().and_then(|line| line.get("path")?.as_str());
    if let Some(path) = path {
        document.label("path", path);
    }
    label(&mut document);
    Some(document)
}
