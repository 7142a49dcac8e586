//! Value of `--on`: `slurm:partition=short,parallel=50`.

use std::{num::NonZeroUsize, str::FromStr, time::Duration};

use model::spec::quantity;

use super::{BatchError, OptionError};

/// Estimated work of a task: two minutes, since the estimate may be too high by a factor of two.
const WORK: Duration = Duration::from_secs(120);
/// Attempts at a cell.
const TRIES: u32 = 3;

/// Options for running cells on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Options of sbatch, passed on unchanged.
    pub sbatch: Vec<String>,
    /// Cells at once in a task, each on a processor.
    pub processors: NonZeroUsize,
    /// Tasks at once; absent = as many as the scheduler allows.
    pub parallel: Option<NonZeroUsize>,
    /// Minimum estimated work of a task.
    pub work: Duration,
    /// Attempts at a cell before it is given up.
    pub tries: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sbatch: Vec::new(),
            processors: NonZeroUsize::MIN,
            parallel: None,
            work: WORK,
            tries: TRIES,
        }
    }
}

impl FromStr for Options {
    type Err = BatchError;

    fn from_str(text: &str) -> Result<Self, BatchError> {
        let (engine, list) = text.split_once(':').unwrap_or((text, ""));
        let wrong = |text: &str, why: OptionError| BatchError::Option {
            text: text.to_owned(),
            why,
        };
        if engine != "slurm" {
            return Err(wrong(engine, OptionError::Scheduler));
        }
        let mut options = Self::default();
        for option in list.split(',').filter(|option| !option.is_empty()) {
            let (key, value) = option
                .split_once('=')
                .ok_or_else(|| wrong(option, OptionError::Form))?;
            options.set(key, value).map_err(|why| wrong(option, why))?;
        }
        Ok(options)
    }
}

impl Options {
    fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        let number = || {
            let number = value.parse::<NonZeroUsize>();
            number.map_err(|_| OptionError::Number)
        };
        match key {
            "partition" | "account" | "qos" | "time" | "mem" | "constraint" => {
                if value.is_empty() {
                    return Err(OptionError::NoValue);
                }
                self.sbatch.push(format!("--{key}={value}"));
            }
            "processors" => self.processors = number()?,
            "parallel" => self.parallel = Some(number()?),
            "work" => self.work = quantity::duration(value)?,
            "tries" => {
                self.tries = u32::try_from(number()?.get()).map_err(|_| OptionError::Number)?
            }
            _ => return Err(OptionError::Unknown),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn options_are_read() {
        assert_eq!("slurm".parse::<Options>().unwrap(), Options::default());
        let text = "slurm:partition=short,mem=2G,processors=4,parallel=50,work=5m,tries=2";
        let options: Options = text.parse().unwrap();
        assert_eq!(options.sbatch, ["--partition=short", "--mem=2G"]);
        assert_eq!(options.processors.get(), 4);
        assert_eq!(options.parallel.map(NonZeroUsize::get), Some(50));
        assert_eq!(options.work, Duration::from_secs(300));
        assert_eq!(options.tries, 2);
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, named) in [
            ("pbs", "pbs"),
            ("slurm:x=1", "x=1"),
            ("slurm:partition", "partition"),
            ("slurm:partition=", "partition="),
            ("slurm:parallel=0", "parallel=0"),
            ("slurm:work=fast", "work=fast"),
        ] {
            let error = text.parse::<Options>().unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(slurm)?[ -~]{0,40}") {
            let _ = text.parse::<Options>();
        }
    }
}
