//! Profiles of `cases/paths` as paths for twins.

use std::{fs, path::Path as File};

use anyhow::{Context, Result};
use model::{cell::Cell, net::Direction, path::Path, spec::Spec};

use super::{draw::Drawn, feature::Feature};

/// Seed of the measurement.
const SEED: u64 = 9_000_000;

/// The profiles of a folder, in the order of their names. The direction of their traffic is down,
/// for which the questions are asked.
///
/// # Errors
/// The folder or a spec cannot be read.
pub fn profiles(folder: &File) -> Result<Vec<Drawn>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let file = entry.with_context(|| folder.display().to_string())?.path();
        if file.extension().is_some_and(|e| e == "toml") {
            files.push(file);
        }
    }
    files.sort();
    files.iter().map(|file| profile(file)).collect()
}

fn profile(file: &File) -> Result<Drawn> {
    let name = file.display().to_string();
    let folder = file.parent().unwrap_or(File::new("."));
    let text = fs::read_to_string(file).with_context(|| name.clone())?;
    let spec = Spec::parse(&name, &text)?;
    let spec = spec.with_files(|beside| fs::read_to_string(folder.join(beside)))?;
    let (mut cell, _) = spec.first_cell()?;
    toward_near_end(&mut cell);
    Ok(Drawn::new(&Path::of(&cell), SEED, Some(Feature::Profile))?)
}

/// Exchanges the two lines if the traffic goes up.
fn toward_near_end(cell: &mut Cell) {
    if cell.traffic.directions == [Direction::Up] {
        std::mem::swap(&mut cell.path.down, &mut cell.path.up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_a_path_with_its_rate_down() {
        let folder = File::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/paths");
        let all = profiles(&folder).unwrap();
        assert!(all.len() >= 13, "{}", all.len());
        for drawn in all {
            assert!(drawn.cell.path.down.rate.is_some(), "{}", drawn.cell.name);
        }
    }
}
