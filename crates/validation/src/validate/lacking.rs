//! Queues of the checks that the image does not have.

use kernel::{Image, Meta};
use lab::Lab;
use model::cell::{Cell, Queue};

use super::line::Line;

/// The image whose checks are run, as far as it is known.
pub(super) struct Lacking<'a>(Option<&'a Meta>);

/// What the usual image of a lab lacks.
pub(super) fn of(lab: &Lab) -> Lacking<'_> {
    Lacking::of(lab.image().ok())
}

impl<'a> Lacking<'a> {
    fn of(image: Option<&'a Image>) -> Self {
        Self(image.and_then(|image| image.meta.as_ref()))
    }

    /// Whether a cell has a queue that the image lacks. Of the queues of the checks, that can only
    /// be dualpi2, which is in Linux 6.17 and newer.
    pub(super) fn has(&self, cell: &Cell) -> bool {
        let path = &cell.path;
        let needed = [path.down.queue, path.up.queue].contains(&Queue::Dualpi2);
        let there = |meta: &Meta| meta.qdiscs.iter().any(|name| name == "dualpi2");
        needed && self.0.is_some_and(|meta| !there(meta))
    }

    /// One line about the cells of a check that are left out.
    pub(super) fn lines(&self, cells: &[Cell]) -> Vec<Line> {
        match self.0 {
            Some(meta) if cells.iter().any(|cell| self.has(cell)) => {
                let why = format!("Linux {} has no dualpi2", meta.version);
                vec![Line::skipped(why)]
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::spec::Spec;

    use super::*;

    fn image(qdiscs: &[&str]) -> Image {
        let qdiscs: Vec<_> = qdiscs.iter().map(|q| format!("\"{q}\"")).collect();
        let meta = format!(
            r#"{{"schema": 1, "sha256": "", "size_bytes": 0, "version": "6.12.107", "seeded": true,
            "seccomp": false, "simd_crypto": false, "congestion_controls": [], "qdiscs": [{}],
            "tunnels": [], "missing_options": [], "config": ""}}"#,
            qdiscs.join(", ")
        );
        Image {
            path: "linux".into(),
            sha256: String::new(),
            meta: Some(serde_json::from_str(&meta).unwrap()),
        }
    }

    fn cells() -> Vec<Cell> {
        let text = "name = \"x\"\n[matrix]\n\"path.queue\" = [\"dualpi2\", \"codel\"]\n\
                    [path]\nrate = \"10mbit\"\nrtt = \"10ms\"\n";
        Spec::parse("x", text).unwrap().cells().unwrap()
    }

    #[test]
    fn an_older_kernel_is_validated_without_the_queue_that_it_lacks() {
        let older = image(&["codel", "pie"]);
        let lacking = Lacking::of(Some(&older));
        let left_out: Vec<bool> = cells().iter().map(|cell| lacking.has(cell)).collect();
        assert_eq!(left_out, [true, false]);
        let lines = lacking.lines(&cells());
        assert_eq!(lines.len(), 1);
        let reason = lines[0].reason.as_deref().unwrap();
        assert!(reason.contains("6.12.107 has no dualpi2"), "{reason}");
    }

    #[test]
    fn nothing_is_left_out_where_the_kernel_has_all_queues_or_is_unknown() {
        let newer = image(&["codel", "dualpi2"]);
        for known in [Some(&newer), None] {
            let lacking = Lacking::of(known);
            assert!(!cells().iter().any(|cell| lacking.has(cell)));
            assert!(lacking.lines(&cells()).is_empty());
        }
    }
}
