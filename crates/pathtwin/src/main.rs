//! Find out why TCP is slow on a path, prove the fix on a twin of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    pathtwin::run()
}
