//! Runs that the history has not taken yet, as files: the run, and the path it is of beside it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use store::{Document, Store, StoreError};
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
pub(crate) fn label(document: &mut Document) {
    document.label("host", &sys::machine::host_name());
    document.label("watch", "yes");
}

/// The files of all runs.
pub(super) fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect()
}

/// Moves the runs into the history; returns their number.
///
/// # Errors
/// It does not take one, which stays with the rest. Files that are not of a run stay, too.
pub(super) fn move_to(store: &mut Store, folder: &Path) -> Result<usize, StoreError> {
    let mut count = 0;
    for file in list(folder) {
        let Some(document) = read(&file) else {
            continue;
        };
        store.save(&document)?;
        let _ = fs::remove_file(&file);
        let _ = fs::remove_file(file.with_extension("path"));
        count += 1;
    }
    Ok(count)
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
