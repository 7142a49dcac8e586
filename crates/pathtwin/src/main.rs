//! The program `pathtwin`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pathtwin::run()
}
