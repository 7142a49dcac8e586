//! Init of the lab guest, and the child of the native engine
fn main() {}
