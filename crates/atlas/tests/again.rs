//! Published cells that are run again have the same results.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::sync::atomic::AtomicBool;

use atlas::{cell::Cell, source};
use common::{cells, published};
use lab::{Config, Lab};
use stats::Random;

/// Cells that are run again, chosen by the digest of the table.
const AGAIN: usize = 4;

/// Results depend on the kernel image, so with another image there is nothing to compare. With
/// another guest program the results must still be the same ones.
#[test]
fn cells_run_again_have_the_published_figures() {
    let Some(atlas) = published() else { return };
    let config = Config {
        cache: false,
        ..Config::default()
    };
    let lab = Lab::open(&config).unwrap();
    let image = lab.image_hashes(&cells(source::SPECS[0])).unwrap();
    if image != atlas.source.image {
        println!(
            "skipped: the atlas was run with another kernel image, {}",
            atlas.source.image
        );
        return;
    }
    let seed = u64::from_str_radix(&atlas.source.table[..16], 16).unwrap();
    let mut random = Random::new(seed);
    for _ in 0..AGAIN {
        let expected = &atlas.cells[random.below(atlas.cells.len())];
        let cell = &cells(source::file(&expected.spec))[expected.index];
        let result = lab.run(cell, &AtomicBool::new(false), &mut |_| {}).unwrap();
        let rows = lab::rows::rows(cell, &result).unwrap();
        let again = Cell::of_rows(&expected.spec, expected.index, &rows).unwrap();
        assert_eq!(again, *expected);
    }
}
