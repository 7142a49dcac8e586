//! One load of a run as a flent data file (`.flent.gz`, version 4 of the format), for flent's plots
//! and tables.
//!
//! A flent file contains one test, so it holds one measurement: all its repeats, consecutively on a
//! common time axis, each without its warm-up. The means computed by flent then equal those of the
//! run.

mod document;
mod series;
mod test;

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use model::run::Run;

use self::{document::document, test::tests};

/// Error of making a flent file.
#[derive(Debug, thiserror::Error)]
pub enum FlentError {
    /// No TCP load and no probes with time series.
    #[error(
        "the run has no TCP load and no idle latency with time series, and flent supports nothing \
        else"
    )]
    Nothing,
    /// No step of this name.
    #[error("the run has no step {name:?}; it has: {}", steps.join(", "))]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing steps.
        steps: Vec<String>,
    },
}

/// The compressed file of the step with this name (see [`steps`]), or of the first one.
///
/// # Errors
/// There is no step of this name, or none that flent supports.
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

/// Steps of a run that flent supports, by their names in the run's tables. Loads in both directions
/// at once are one step. The tunnel, few flows and down come first.
pub fn steps(run: &Run) -> Vec<String> {
    tests(run).into_iter().map(|test| test.name).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    // Writing to memory cannot fail. The timestamp of the gzip header is 0, so that the same run
    // gives the same file.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}
