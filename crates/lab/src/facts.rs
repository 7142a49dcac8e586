//! What a kernel image can do, found by booting it.

use std::fs;

use model::{
    job::{Facts, Job, OUTPUT_FILE},
    units::Seed,
};

use crate::{
    LabError,
    guest::{self, Boot},
};

/// Memory of the guest that tries, MB.
const MEMORY_MB: u64 = 256;

/// Boots the image and has it try everything pathtwin can use.
pub fn facts(boot: Boot<'_>) -> Result<Facts, LabError> {
    let folder = boot.sandbox.cell_folder()?;
    let path = folder.join(OUTPUT_FILE);
    let done = guest::run(boot, &folder, &Job::Facts, Seed(1), MEMORY_MB).and_then(|_| {
        let text = fs::read(&path).map_err(LabError::file("read", &path))?;
        serde_json::from_slice(&text).map_err(|e| LabError::Result(path.clone(), e.to_string()))
    });
    let _ = fs::remove_dir_all(&folder);
    done
}
