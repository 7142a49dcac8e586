//! Arbitrary bytes as a Path: rejected, or a path whose cell, if the lab supports it, round-trips
//! through a spec and through its true path.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{
    path::{Path, Trial},
    spec::{Spec, write},
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(path) = Path::parse(bytes) else {
        return;
    };
    let filled = path.filled();
    let Ok(cell) = path.cell(&Trial::default()) else {
        return;
    };
    assert_eq!(filled.cell(&Trial::default()).ok().as_ref(), Some(&cell));
    let read = Spec::parse("fuzz.toml", &write(&cell)).and_then(|spec| spec.cells());
    assert_eq!(read.as_deref().ok(), Some([cell.clone()].as_slice()));
    let truth = Path::of(&cell);
    assert_eq!(truth.cell(&Trial::of(&cell)).ok(), Some(cell));
});
