//! `pathtwin lab kernel`.

use std::process::ExitCode;

use crate::{
    Failure,
    arguments::{Kernel, KernelCommand},
    output,
};

pub(crate) fn kernel(arguments: &Kernel) -> Result<ExitCode, Failure> {
    match &arguments.command {
        KernelCommand::Path => {
            let image = lab::kernel::locate().map_err(lab::LabError::from)?;
            output::print(format!("{}\n", image.path.display()).as_bytes())?;
        }
        KernelCommand::Build { .. } | KernelCommand::Info { .. } => {}
    }
    Ok(ExitCode::SUCCESS)
}
