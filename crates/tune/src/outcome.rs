//! Outcome of undoing a Change.

use std::fmt;

/// Outcome of a rollback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollback {
    /// Steps whose old value could not be set, with the reason.
    pub failed: Vec<(usize, String)>,
    /// Settings that somebody else has changed since, which were left as they are.
    pub left: Vec<String>,
    /// Error writing the journal, if any; the old values are restored all the same.
    pub journal: Option<String>,
}

impl Rollback {
    /// Returns true if every old value is restored.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }
}

impl fmt::Display for Rollback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failed.as_slice() {
            [] => f.write_str("everything was undone")?,
            failed => {
                f.write_str("undone except")?;
                for (step, error) in failed {
                    write!(f, " step {}: {error};", step + 1)?;
                }
            }
        }
        for left in &self.left {
            write!(f, "; left as it is: {left}")?;
        }
        Ok(())
    }
}
