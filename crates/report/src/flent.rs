//! One load of a run as flent's data file (`.flent.gz`, version 4 of its format), so that flent's
//! plots and tables can be had of it.
//!
//! A file of flent is one test, so it holds one thing that was run: all its repeats, one after the
//! other on one time axis, and of each only the time that counts. The means that flent then states
//! are those of the run.

mod course;
mod document;
mod test;

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use model::run::Run;

use self::{document::document, test::tests};

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum FlentError {
    /// No TCP load and no probes with their times.
    #[error(
        "the run has no TCP load and no idle latency with its course over time, and flent shows nothing else"
    )]
    Nothing,
    /// Nothing of that name.
    #[error("the run has no step {name:?}; it has: {}", steps.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        steps: Vec<String>,
    },
}

/// The file, compressed: of the step with this name (see [`steps`]), or of the first one.
///
/// # Errors
/// There is nothing of that name, or nothing that flent could show.
pub fn flent(run: &Run, step: Option<&str>) -> Result<Vec<u8>, FlentError> {
    let tests = tests(run);
    let test = match step {
        None => tests.first().ok_or(FlentError::Nothing)?,
        Some(name) => {
            tests
                .iter()
                .find(|test| test.name == name)
                .ok_or_else(|| FlentError::Unknown {
                    name: name.to_owned(),
                    steps: steps(run),
                })?
        }
    };
    Ok(gzip(&document(run, test).to_string()))
}

/// What of a run can be a file, each by its name in the run's tables. Loads in both directions at
/// once are one. What is judged first is first: the tunnel, few flows, down.
pub fn steps(run: &Run) -> Vec<String> {
    tests(run).into_iter().map(|test| test.name).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    // Writing to memory cannot fail; the frame's time stamp is left 0, so that the same run gives
    // the same file.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}
