//! The published atlas is complete and consistent.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use atlas::{cell::Factor, page, publish::Atlas, readme, source::SPECS, table};
use common::{cells, folder, made_up, published, spec};

/// Bytes of the page and of the table, at most.
const LIMIT: usize = 2_000_000;

#[test]
fn the_specs_have_ten_thousand_different_possible_cells() {
    let all: usize = SPECS.iter().map(|file| cells(file).len()).sum();
    assert!(all >= 10_000, "{all}");
    for file in SPECS {
        assert_eq!(spec(file).name, atlas::source::name(file));
        let keys = cells(file);
        let different: BTreeSet<String> = keys
            .iter()
            .map(|cell| serde_json::to_string(cell).unwrap())
            .collect();
        assert_eq!(different.len(), keys.len(), "{file}");
    }
}

/// Every cell of the specs, in their order, with the levels that the spec has.
#[test]
fn the_table_has_every_cell_of_the_specs_in_order() {
    let Some(atlas) = published() else { return };
    assert!(!atlas.source.sample);
    assert!(atlas.cells.len() >= 10_000);
    let mut rest = atlas.cells.as_slice();
    for file in SPECS {
        let expected = cells(file);
        let (own, after) = rest.split_at(expected.len());
        for (index, (cell, expected)) in own.iter().zip(&expected).enumerate() {
            assert_eq!(
                (cell.index, cell.spec.as_str()),
                (index, expected.name.as_str())
            );
            for factor in Factor::ALL {
                let level = expected.factors.get(factor.key()).unwrap();
                let level = level
                    .as_str()
                    .map_or_else(|| level.to_string(), str::to_owned);
                assert_eq!(cell.level(factor), level, "{file} {index}");
            }
        }
        rest = after;
    }
    assert!(rest.is_empty());
    // The depth of a fifo that never fills makes no difference; everything else does.
    let mut known: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for cell in &atlas.cells {
        let levels = Factor::ALL.map(|factor| match cell.level(factor) {
            depth if factor == Factor::Queue && depth.starts_with("fifo") => "fifo".to_owned(),
            level => level.to_owned(),
        });
        let first = known.entry(&cell.digest).or_insert(levels.to_vec());
        assert_eq!(first, &levels, "cells with the same result");
    }
}

#[test]
fn the_digests_of_the_readme_are_those_of_the_source_and_the_table() {
    let Some(atlas) = published() else { return };
    let text = std::fs::read(folder().join(table::FILE)).unwrap();
    assert_eq!(blake3::hash(&text).to_hex().as_str(), atlas.source.table);
    assert!(text.len() < LIMIT, "{}", text.len());
    let readme = std::fs::read_to_string(folder().join(readme::FILE)).unwrap();
    let source = &atlas.source;
    let rows = source.specs.iter().map(|sweep| &sweep.rows);
    for digest in [&source.rows, &source.table, &source.image, &source.guest]
        .into_iter()
        .chain(rows)
    {
        assert!(readme.contains(digest.as_str()), "{digest}");
    }
    assert_eq!(source.cells(), atlas.cells.len());
    assert_eq!(source.specs.len(), SPECS.len());
}

/// Findings, maps, page and README are those of the table.
#[test]
fn everything_published_is_made_from_the_table() {
    let Some(atlas) = published() else { return };
    let readme = std::fs::read_to_string(folder().join(readme::FILE)).unwrap();
    for (name, expected) in atlas.files(&readme).unwrap() {
        let text = std::fs::read_to_string(folder().join(&name)).unwrap();
        assert!(
            text == expected,
            "{} is old: pathtwin-atlas render",
            name.display()
        );
    }
}

#[test]
fn there_are_ten_findings_and_their_cells_are_in_the_specs() {
    let findings = atlas::rules::all();
    let ids: BTreeSet<&str> = findings.iter().map(|finding| finding.id).collect();
    assert_eq!((findings.len(), ids.len()), (10, 10));
    let all: Vec<_> = SPECS.iter().flat_map(|file| cells(file)).collect();
    let has = |factor: Factor, level: &str| all.iter().any(|c| c.factors[factor.key()] == level);
    for rule in findings.iter().map(|finding| finding.rule) {
        for (factor, levels) in rule.only {
            for level in *levels {
                assert!(has(*factor, level), "{level}");
            }
        }
        if let Some((factor, over, under)) = rule.ratio {
            assert!(has(factor, over) && has(factor, under), "{over}, {under}");
        }
    }
}

#[test]
fn the_cells_show_what_the_findings_claim() {
    let Some(atlas) = published() else { return };
    let found = atlas.findings();
    assert_eq!(found.len(), 10);
    let wrong = found.iter().filter(|one| !one.holds());
    let wrong: Vec<_> = wrong.map(|one| (one.finding.id, &one.groups)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The data in a page.
fn data(html: &str) -> page::Data {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn check_page(atlas: &Atlas, html: &str) {
    assert!(html.len() < LIMIT, "{}", html.len());
    let data = data(html);
    assert_eq!(data, page::data(&atlas.cells));
    assert_eq!(data.cells, atlas.cells.len());
    for column in data.factors.iter().map(|f| f.codes.len()) {
        assert_eq!(column, atlas.cells.len());
    }
    // Nothing is loaded from elsewhere.
    for outside in ["src=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn the_page_has_all_cells_and_needs_no_network() {
    let made_up = made_up();
    check_page(
        &made_up,
        &page::html(&made_up.cells, &made_up.source, &made_up.findings()),
    );
    let Some(atlas) = published() else { return };
    let html = std::fs::read_to_string(folder().join(page::FILE)).unwrap();
    check_page(&atlas, &html);
}

/// What a test of the published files would find if the README had lost a mark.
#[test]
fn all_files_can_be_written_with_the_readme_of_the_repository() {
    let readme = std::fs::read_to_string(folder().join(readme::FILE)).unwrap();
    let files = made_up().files(&readme).unwrap();
    let names: Vec<_> = files
        .iter()
        .map(|(name, _)| name.display().to_string())
        .collect();
    for name in [
        "cells.csv",
        "source.json",
        "findings.jsonl",
        "README.md",
        "index.html",
        "maps/loss.svg",
    ] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
}
