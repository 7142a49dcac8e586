//! Find out why TCP is slow on a path, prove the fix on a twin of it
fn main() {}
