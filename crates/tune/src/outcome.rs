//! Outcome of undoing a Change.

use std::fmt;

/// How an undoing went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollback {
    /// Steps whose old value could not be set, with the reason.
    pub failed: Vec<(usize, String)>,
    /// Settings that somebody else has changed since, which were left as they are.
    pub left: Vec<String>,
    /// Why the journal could not be written, if so; the old values are back all the same.
    pub journal: Option<String>,
}

impl Rollback {
    /// Whether every old value is back.
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
