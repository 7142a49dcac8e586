//! Results of a run in a folder of the user: each cell with its description and records, and all
//! rows.

use std::{fs, io::ErrorKind, path::Path};

use model::{
    cell::Cell,
    job::{OUTPUT_FILE, RECORDS_FILE, TRUTH_FILE},
    row::Row,
};

use sys::files::{Existing, Readers};

use crate::{LabError, cell::CellResult};

/// The console of a cell that failed.
const ERROR_FILE: &str = "error.txt";

/// Writes the results to `folder`: `rows.jsonl`, and for each cell `NNNN/` with `cell.json`, its
/// output and records, or `error.txt` with the console of one that failed.
///
/// # Errors
/// A folder or file cannot be written.
pub fn keep(
    folder: &Path,
    cells: &[Cell],
    results: &[Option<Result<CellResult, LabError>>],
    rows: &[Row],
) -> Result<(), LabError> {
    for (index, (cell, result)) in cells.iter().zip(results).enumerate() {
        let place = folder.join(format!("{index:04}"));
        fs::create_dir_all(&place).map_err(LabError::file("create", &place))?;
        write(&place.join("cell.json"), &json(cell))?;
        match result {
            Some(Ok(result)) => {
                // Of an earlier run that failed.
                remove(&place.join(ERROR_FILE))?;
                write(&place.join(OUTPUT_FILE), &json(&result.output))?;
                write(&place.join(RECORDS_FILE), &result.records)?;
                write(&place.join(TRUTH_FILE), &result.truth)?;
            }
            Some(Err(error)) => {
                for name in [OUTPUT_FILE, RECORDS_FILE, TRUTH_FILE] {
                    remove(&place.join(name))?;
                }
                write(&place.join(ERROR_FILE), error.to_string().as_bytes())?;
            }
            None => {}
        }
    }
    let lines: Vec<u8> = rows
        .iter()
        .flat_map(|row| [json(row), b"\n".to_vec()].concat())
        .collect();
    write(&folder.join("rows.jsonl"), &lines)
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    sys::files::write(path, Readers::ByUmask, Existing::Replace, bytes)
        .map_err(LabError::file("write", path))
}

fn remove(path: &Path) -> Result<(), LabError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(LabError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}
