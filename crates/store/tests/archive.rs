//! An archive that a program of its time wrote stays readable; a damaged one is refused, never half read.

#![allow(clippy::unwrap_used)]

mod common;

use common::file;
use proptest::prelude::*;
use store::{Document, Filter, SeriesName, Store};

const ARCHIVE_1: &[u8] = include_bytes!("data/archive-1.jsonl");

#[test]
fn an_archive_of_version_1_is_imported() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&file(folder.path())).unwrap();
    let imported = store.import(&mut &ARCHIVE_1[..], "archive-1", &[]).unwrap();
    assert_eq!((imported.added, imported.known), (1, 0));
    let entries = store.list(&Filter::default()).unwrap();
    assert_eq!(entries[0].id, "b820f1098ca937a7");
    assert_eq!((entries[0].schema, entries[0].path.as_str()), (1, "lab"));
    assert_eq!(entries[0].labels["kernel"], "7.2.13");
    let name = SeriesName {
        path: "lab".to_owned(),
        step: "underlay/v4 idle".to_owned(),
        figure: "rtt_p50_us".to_owned(),
    };
    let series = store.series(&name, &Filter::default()).unwrap();
    assert_eq!((series.len(), series[0].median), (1, 207_593.088));
}

proptest! {
    #[test]
    fn a_line_that_was_cut_off_is_refused(at in 0..ARCHIVE_1.len() - 2) {
        prop_assert!(Document::of_line(&ARCHIVE_1[..at], "cut").is_err());
    }

    /// Whatever one byte becomes: refused, or a document that is kept and given back.
    #[test]
    fn a_changed_byte_is_refused_or_kept(at in 0..ARCHIVE_1.len() - 2, byte in any::<u8>()) {
        let mut line = ARCHIVE_1.to_vec();
        line[at] = byte;
        if let Ok(document) = Document::of_line(&line, "changed") {
            let folder = tempfile::tempdir().unwrap();
            let mut store = Store::open(&file(folder.path())).unwrap();
            if store.save(&document).is_ok() {
                let kept = store.body(document.kind, &document.id).unwrap();
                prop_assert_eq!(kept, document.body);
            }
        }
    }
}
