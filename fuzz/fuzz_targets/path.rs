//! Any bytes as a Path: refused, or a path whose cell, if the lab can make it, is the same after it
//! was written as a spec and read, and whose true path gives the cell back.
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
