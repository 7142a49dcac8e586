//! Round trips of cells through specs and Paths.

#![allow(clippy::unwrap_used)]

mod cells;

use cells::possible;
use model::{
    cell::{Cell, Loss},
    path::{Path, Trial},
    spec::{Spec, write},
    units::Share,
};
use proptest::prelude::*;

fn read(text: &str) -> Vec<Cell> {
    let spec = Spec::parse("x.toml", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    spec.cells().unwrap_or_else(|e| panic!("{e}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_written_cell_is_read_as_the_same(cell in possible()) {
        prop_assert_eq!(read(&write(&cell)), [cell]);
    }

    /// A Path has no third host, and so no line between the near end and one.
    #[test]
    fn the_true_path_of_any_cell_gives_the_cell_back(drawn in possible()) {
        let mut cell = drawn;
        cell.path.local = None;
        let path = Path::of(&cell);
        let json = serde_json::to_vec(&path).unwrap();
        let path = Path::parse(&json).unwrap();
        prop_assert_eq!(&path.filled(), &path);
        prop_assert_eq!(path.cell(&Trial::of(&cell)).unwrap(), cell);
    }
}

#[test]
fn the_factors_of_a_cell_are_those_of_its_siblings_and_are_not_written() {
    let cells = read("[matrix]\n\"path.loss\" = [\"1%\", \"2%\"]");
    let mut second = cells[1].clone();
    assert_eq!(second.factors["path.loss"], "2%");
    let written = read(&write(&second));
    second.factors.clear();
    assert_eq!(written, [second]);
}

/// Bug: shares with many digits, as computed by a program, were rejected.
#[test]
fn a_loss_with_many_digits_is_read() {
    let mut cell = read("").remove(0);
    cell.path.down.loss = Loss::Random(Share::new(1.234_567_890_123_456_7e-10).unwrap());
    assert_eq!(read(&write(&cell)), [cell]);
}

/// The key of a result in the cache is a hash over this text: keys that a spec does not contain
/// must not appear in it, or all cached results would be lost.
#[test]
fn a_line_without_new_stages_is_written_as_it_always_was() {
    let cell = read("").remove(0);
    assert_eq!(
        serde_json::to_string(&cell.path.down).unwrap(),
        "{\"delay_ns\":10000000,\"rate\":100000000,\"buffer\":{\"bytes\":250000},\
         \"queue\":\"fifo\",\"loss\":\"none\",\"jitter_ns\":0,\"reorder\":0.0,\"duplicate\":0.0}"
    );
    let keys = |json: &serde_json::Value| -> Vec<String> {
        json.as_object().unwrap().keys().cloned().collect()
    };
    let json = serde_json::to_value(&cell).unwrap();
    assert_eq!(keys(&json["path"]), ["down", "ip", "mtu", "up"]);
    assert_eq!(keys(&json["ends"]), ["client", "server"]);
    let all = [
        "cross",
        "duration_ns",
        "ends",
        "factors",
        "idle_ns",
        "name",
        "path",
        "sample_ns",
        "schema",
        "seed",
        "traffic",
        "tunnel",
        "warmup_ns",
    ];
    assert_eq!(keys(&json), all);
}
