#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::segment::tests::{contents, entry, text};

#[test]
fn a_file_truncated_anywhere_keeps_the_complete_lines() {
    let whole = text(&contents(5, "1/1", &[0, 1, 2, 3, 4]));
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for length in header + 1..whole.len() {
        let read = Contents::parse(Path::new("x"), &whole[..length]).unwrap();
        let ends = whole[..length]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            - 1;
        // A line without its end is complete, or unreadable.
        let last = read.entries.len() - ends;
        assert!(last <= 1 && read.unreadable.len() + last <= 1, "{length}");
        assert!(read.entries.iter().enumerate().all(|(n, e)| e.cell == n));
    }
}

#[test]
fn a_cell_that_the_spec_has_not_is_unreadable() {
    let mut bytes = text(&contents(2, "1/1", &[0, 1]));
    bytes.extend(line(&entry(2)).unwrap());
    let read = Contents::parse(Path::new("x"), &bytes).unwrap();
    assert_eq!((read.entries.len(), read.unreadable), (2, vec![4]));
}

#[test]
fn a_resumed_segment_keeps_its_rows_and_drops_failures_and_half_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut known = contents(9, "1/1", &[3, 1]);
    known.entries.push(Entry {
        rows: None,
        error: Some(model::text!("the guest ended")),
        ..entry(7)
    });
    let path = folder.path().join(known.header.part.file_name());
    let mut bytes = text(&known);
    bytes.extend(b"{\"cell\":5,\"se");
    fs::write(&path, &bytes).unwrap();

    let again = SegmentFile::open(folder.path(), &known.header, false);
    assert!(matches!(
        again,
        Err(LabError::Segment(SegmentError::Exists(_)))
    ));
    let file = SegmentFile::open(folder.path(), &known.header, true).unwrap();
    let has: Vec<_> = (0..9).filter(|index| file.has(*index)).collect();
    assert_eq!(has, [1, 3]);
    let read = Contents::read(&path).unwrap();
    assert_eq!(read.entries, [entry(1), entry(3)]);
    assert!(read.unreadable.is_empty());
}

#[test]
fn a_segment_of_another_kernel_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let known = contents(9, "1/1", &[3]);
    let path = folder.path().join(known.header.part.file_name());
    fs::write(&path, text(&known)).unwrap();
    let mut other = known.header;
    other.sweep.kernel = "another".to_owned();
    let refused = SegmentFile::open(folder.path(), &other, true);
    assert!(matches!(
        refused,
        Err(LabError::Segment(SegmentError::OtherRun {
            what: "kernel image",
            ..
        }))
    ));
    assert_eq!(fs::read(&path).unwrap(), text(&contents(9, "1/1", &[3])));
}

/// Two starts of a program that continue one segment at the same time.
#[test]
fn rows_are_not_lost_in_a_file_that_another_start_has_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let known = contents(9, "1/1", &[3]);
    let path = folder.path().join(known.header.part.file_name());
    fs::write(&path, text(&known)).unwrap();
    let cell = model::spec::Spec::parse("s", "[path]\nrtt = \"10ms\"\n")
        .and_then(|spec| spec.cells())
        .unwrap()
        .remove(0);
    let failed = || Err(LabError::NoCache);
    let mut first = SegmentFile::open(folder.path(), &known.header, true).unwrap();
    first.append(1, &cell, &failed()).unwrap();
    let mut second = SegmentFile::open(folder.path(), &known.header, true).unwrap();
    for lost in [first.append(2, &cell, &failed()), first.check()] {
        assert!(matches!(
            lost,
            Err(LabError::Segment(SegmentError::Replaced(file))) if file == path
        ));
    }
    second.append(2, &cell, &failed()).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(second.check().is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Contents::parse(Path::new("x"), &bytes);
    }

    #[test]
    fn damage_in_a_line_costs_that_line_only(at in 0usize..10_000, byte in any::<u8>()) {
        let mut bytes = text(&contents(5, "1/1", &[0, 1, 2, 3, 4]));
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let at = header + 1 + at % (bytes.len() - header - 1);
        // A line end in a line makes two of it, or one of two.
        prop_assume!(byte != b'\n' && bytes[at] != b'\n');
        bytes[at] = byte;
        let read = Contents::parse(Path::new("x"), &bytes).unwrap();
        let good = read.entries.iter().filter(|e| **e == entry(e.cell)).count();
        prop_assert!(good >= 4 && read.entries.len() + read.unreadable.len() == 5);
    }
}
