//! Tests of segments, and files of segments for the tests of others.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::{
    file::{Contents, Entry, SEGMENT_SCHEMA, Sweep},
    *,
};

proptest! {
    #[test]
    fn every_cell_is_in_one_segment_and_segments_are_of_one_size(
        total in 0usize..500, count in 1usize..40
    ) {
        let parts: Vec<_> = (1..=count)
            .map(|number| Segment::new(number, count).unwrap().indices(total))
            .collect();
        for part in &parts {
            prop_assert!(part.is_sorted());
            prop_assert!(part.len() >= total / count && part.len() <= total.div_ceil(count));
        }
        let mut all: Vec<_> = parts.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..total).collect::<Vec<_>>());
    }

    #[test]
    fn a_segment_round_trips(count in 1usize..1000, index in 0usize..1000) {
        let segment = Segment::new(index % count + 1, count).unwrap();
        prop_assert_eq!(segment.to_string().parse(), Ok(segment));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[ -~]*") {
        let _ = text.parse::<Segment>();
    }
}

#[test]
fn a_segment_that_there_is_not_is_refused() {
    for text in ["0/3", "4/3", "1/0", "3", "/", "1/2/3", "-1/3", "a/b", ""] {
        assert!(text.parse::<Segment>().is_err(), "{text}");
    }
    assert_eq!(Segment::WHOLE.indices(3), [0, 1, 2]);
}

#[test]
fn an_innermost_factor_of_as_many_values_as_segments_does_not_fill_one_segment() {
    // 100 cells, an expensive one at every fourth index; by chance a segment has 25/4 of them.
    for number in 1..=4 {
        let indices = Segment::new(number, 4).unwrap().indices(100);
        let expensive = indices.iter().filter(|p| *p % 4 == 3).count();
        assert!(expensive < 13, "{expensive} of 25 in segment {number}");
    }
}

/// The result of a cell, with values that need all digits of a double.
pub(crate) fn entry(cell: usize) -> Entry {
    let row = serde_json::json!({
        "schema": 1, "name": "n", "factors": {"path.rtt": "10ms"}, "seed": cell, "layer": "underlay",
        "direction": "down", "flows": 1, "goodput_mbps": 0.1 + cell as f64 / 3.0, "valid": true,
        "kernel": "7.2.13", "cpu_s": 0.3, "virtual_s": 1e-9, "wall_s": 1.7, "cached": false,
        "digest": "d"
    });
    Entry {
        cell,
        seed: model::units::Seed(cell as u64),
        rows: Some(vec![serde_json::from_value(row).unwrap()]),
        error: None,
    }
}

/// A file of some cells.
pub(crate) fn contents(total: usize, segment: &str, cells: &[usize]) -> Contents {
    let hash = |text: &str| text.to_owned();
    let sweep = Sweep {
        schema: SEGMENT_SCHEMA,
        name: "n".to_owned(),
        cells: total,
        spec: hash("spec"),
        kernel: hash("kernel"),
        guest: hash("guest"),
    };
    Contents {
        header: Header {
            part: Part::Segment(segment.parse().unwrap()),
            sweep,
        },
        entries: cells.iter().map(|cell| entry(*cell)).collect(),
        unreadable: Vec::new(),
    }
}

#[test]
fn a_header_of_an_earlier_version_is_read_and_a_task_has_a_separate_one() {
    let rest = r#""schema":1,"name":"n","cells":2,"spec":"s","kernel":"k","guest":"g"}"#;
    let read = |part: &str| -> Header {
        let text = format!("{{{part},{rest}");
        let header = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&header).unwrap(), text);
        header
    };
    let old = read(r#""segment":"2/3""#);
    assert_eq!(old.part, Part::Segment(Segment::new(2, 3).unwrap()));
    assert_eq!(old.part.file_name(), "segment-2-of-3.jsonl");
    let task = read(r#""task":"1/17""#);
    assert_eq!(task.part, Part::Task(TaskId { round: 1, task: 17 }));
    for part in [old.part, task.part] {
        assert!(Part::is_file_name(&part.file_name()));
    }
}

/// The bytes of a file.
pub(crate) fn text(contents: &Contents) -> Vec<u8> {
    let mut text = serde_json::to_vec(&contents.header).unwrap();
    text.push(b'\n');
    for entry in &contents.entries {
        text.extend(serde_json::to_vec(entry).unwrap());
        text.push(b'\n');
    }
    text
}
