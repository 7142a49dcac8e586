//! Lines on standard error.

/// Prints a line on standard error. One that cannot be written, because nobody reads it any more,
/// is dropped; `eprintln!` would end the program before its results are stored.
macro_rules! say {
    ($($line:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr().lock(), $($line)*);
    }};
}

pub(crate) use say;
