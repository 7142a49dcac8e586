//! Commands that are separate programs, as in git: those for developers of pathtwin are not part of
//! it.

use std::{os::unix::process::CommandExt, process::Command, process::ExitCode};

use anyhow::{Context, anyhow};

use crate::exit::{Failure, code};

/// The program of `lab validate`, `lab accuracy` and `explain --corpus`.
const VALIDATION: &str = "pathtwin-validation";

/// Executes the validation program with the same command line.
///
/// # Errors
///
/// It does not exist, or cannot be started; otherwise this does not return.
pub(crate) fn validation() -> Result<ExitCode, Failure> {
    let own = std::env::current_exe().context("find this program's own file")?;
    let program = own.with_file_name(VALIDATION);
    if !program.exists() {
        let lacks = anyhow!(
            "no program {}: it checks pathtwin itself and is not part of every build; \
             `make build` builds it, `make install` puts it beside pathtwin",
            program.display()
        );
        return Err(Failure::new(code::LACKS, lacks));
    }
    let error = Command::new(&program)
        .args(std::env::args_os().skip(1))
        .exec();
    let error = anyhow!(error).context(format!("start {}", program.display()));
    Err(Failure::new(code::LACKS, error))
}
