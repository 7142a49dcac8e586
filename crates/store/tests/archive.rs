//! Archives of earlier versions remain readable; damaged ones are rejected, never partially read.

#![allow(clippy::unwrap_used)]

mod common;

use common::file;
use model::history::{Kind, SeriesName};
use proptest::prelude::*;
use store::{Document, Filter, Store};

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
        step: "underlay/v4 idle".into(),
        figure: "rtt_p50_us".into(),
    };
    let series = store.series(&name, &Filter::default()).unwrap();
    assert_eq!((series.len(), series[0].median), (1, 207_593.088));
}

/// Bug: the first line was then read as a part of a Run, and the error was that of the Run.
#[test]
fn an_archive_of_a_newer_program_is_refused_with_that_reason() {
    let text = String::from_utf8(ARCHIVE_1.to_vec()).unwrap();
    let newer = text.replacen("\"pathtwin_archive\":1", "\"pathtwin_archive\":9", 1);
    assert_ne!(newer, text);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&file(folder.path())).unwrap();
    for newer in [&newer, "{\"pathtwin_archive\": 2, \"kind\": \"unknown\"}\n"] {
        let error = store.import(&mut newer.as_bytes(), "newer", &[]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("update pathtwin"), "{error}");
    }
}

proptest! {
    #[test]
    fn a_line_that_was_cut_off_is_refused(at in 0..ARCHIVE_1.len() - 2) {
        prop_assert!(Document::of_line(&ARCHIVE_1[..at], "cut").is_err());
    }

    /// After any change of one byte: refused, or a document that is stored and returned.
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

/// An archive from elsewhere: 33 kB of it hold a document of 1 GiB.
#[test]
fn a_document_of_a_gigabyte_in_a_few_kilobytes_is_refused_before_it_is_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let place = file(folder.path());
    let mut store = Store::open(&place).unwrap();
    let small = Document::new(Kind::Findings, "bomb", 1, "lab", b"{}".to_vec());
    store.save(&small).unwrap();
    drop(store);
    let mut packed = zstd::Encoder::new(Vec::new(), 6).unwrap();
    for _ in 0..1024 {
        std::io::Write::write_all(&mut packed, &vec![b' '; 1 << 20]).unwrap();
    }
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 100_000);
    let sql = rusqlite::Connection::open(place.file().unwrap()).unwrap();
    let size = i64::from(1 << 30);
    sql.execute("UPDATE body SET data = ?1", [&packed]).unwrap();
    sql.execute("UPDATE document SET size = ?1", [size])
        .unwrap();
    drop(sql);
    let mut store = Store::open(&place).unwrap();
    let before = resident_kib();
    let shown = store.body(Kind::Findings, "bomb").unwrap_err();
    let exported = store
        .export(&Filter::default(), &mut std::io::sink())
        .unwrap_err();
    for error in [shown, exported] {
        let message = error.to_string();
        assert!(
            matches!(
                error,
                store::StoreError::TooLarge {
                    bytes: 0x4000_0000,
                    ..
                }
            ),
            "{message}"
        );
        assert!(
            message.contains("findings bomb") && message.contains("--max-document"),
            "{message}"
        );
        assert!(
            message.contains(&store::LARGEST_DOCUMENT.to_string()),
            "{message}"
        );
    }
    assert!(
        resident_kib() < before + 10_000,
        "from {before} to {} KiB",
        resident_kib()
    );
}

/// Peak resident memory of this process, KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_line_or_file_larger_than_a_document_may_be_is_refused_by_name_and_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&file(folder.path())).unwrap();
    store.allow_documents_of(10_000);
    let long = [&b"{\"a\":\""[..], &vec![b'x'; 2 << 20], b"\"}"].concat();
    let over_lines = [b"{\n", &vec![b' '; 2 << 20][..], b"}\n"].concat();
    for text in [long, over_lines] {
        let error = store
            .import(&mut text.as_slice(), "archive.jsonl", &[])
            .unwrap_err();
        let message = error.to_string();
        assert!(
            matches!(error, store::StoreError::TooLarge { .. }),
            "{message}"
        );
        assert!(message.contains("archive.jsonl, line 1"), "{message}");
    }
    let imported = store.import(&mut &ARCHIVE_1[..], "archive-1", &[]).unwrap();
    assert_eq!(imported.added, 1);
}
