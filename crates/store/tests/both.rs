//! Behaviour of a history on both databases.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::*;
use model::history::{Kind, SeriesName};
use store::{Filter, Place, Retention, Saved, Store, StoreError};

type Check = fn(&Place);

/// Checks for both databases, each with a separate history.
const CHECKS: [(&str, Check); 9] = [
    ("kept", kept),
    ("listed", listed),
    ("found", found),
    ("labelled", labelled),
    ("series_of", series_of),
    ("trend_of", trend_of),
    ("pruned", pruned),
    ("carried_over", carried_over),
    ("written_at_once", written_at_once),
];

#[test]
fn sqlite_keeps_documents() {
    for (name, check) in CHECKS {
        println!("{name}");
        let folder = tempfile::tempdir().unwrap();
        check(&file(folder.path()));
    }
}

#[test]
fn postgresql_keeps_documents() {
    let server = Server::start();
    for (name, check) in CHECKS {
        println!("{name}");
        check(&server.database(name));
    }
    a_newer_server_is_refused(&server);
}

fn of(path: &str) -> Filter {
    Filter {
        path: Some(path.to_owned()),
        ..Filter::default()
    }
}

fn ids(store: &mut Store, filter: &Filter) -> Vec<u64> {
    let entries = store.list(filter).unwrap();
    entries
        .iter()
        .map(|e| u64::from_str_radix(&e.id, 16).unwrap())
        .collect()
}

fn goodput() -> SeriesName {
    SeriesName {
        path: "192.0.2.2".to_owned(),
        step: "underlay/v4 tcp down x1".into(),
        figure: "goodput_bps".into(),
    }
}

/// A document is returned byte for byte, also after the history was closed.
fn kept(place: &Place) {
    let mut store = Store::open(place).unwrap();
    let document = run(1, 94e6, "6.12");
    assert_eq!(store.save(&document).unwrap(), Saved::Added);
    assert_eq!(store.save(&document).unwrap(), Saved::Known);
    let large = noise(2, 3_000_000);
    store.save(&large).unwrap();
    drop(store);
    let mut store = Store::open(place).unwrap();
    assert_eq!(store.body(Kind::Run, &document.id).unwrap(), document.body);
    assert_eq!(store.body(Kind::Advice, &large.id).unwrap(), large.body);
    // Another document with the same id is not mistaken for it.
    let other = store.save(&run(1, 95e6, "6.12"));
    assert!(matches!(other, Err(StoreError::Format { .. })), "{other:?}");
    assert_eq!(store.body(Kind::Run, &document.id).unwrap(), document.body);
    // Several are saved together or not at all.
    let mut wrong = run(4, 94e6, "6.12");
    wrong.id = "no/good".to_owned();
    assert!(store.save_all(&[run(3, 94e6, "6.12"), wrong]).is_err());
    let twice = store.save_all(&[run(3, 94e6, "6.12"), run(1, 95e6, "6.12")]);
    assert!(matches!(twice, Err(StoreError::Format { .. })), "{twice:?}");
    let twice = store.save_all(&[run(3, 94e6, "6.12"), run(3, 95e6, "6.12")]);
    assert!(matches!(twice, Err(StoreError::Format { .. })), "{twice:?}");
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 2);
    // One whose id is the beginning of another's is not that one.
    let mut short = run(5, 94e6, "6.12");
    short.id = document.id[..8].to_owned();
    store.save_all(&[document, short.clone()]).unwrap();
    store.delete(Kind::Run, &short.id).unwrap();
}

fn listed(place: &Place) {
    let mut store = Store::open(place).unwrap();
    for number in [3, 1, 2, 5, 4] {
        let mut document = run(number, 94e6, if number < 4 { "6.1" } else { "6.12" });
        if number == 5 {
            document.label("path", "office");
            document.label("change", "bbr");
        }
        store.save(&document).unwrap();
    }
    assert_eq!(ids(&mut store, &Filter::default()), [5, 4, 3, 2, 1]);
    assert_eq!(ids(&mut store, &of("office")), [5]);
    let two = Filter {
        limit: Some(2),
        ..of("192.0.2.2")
    };
    assert_eq!(ids(&mut store, &two), [4, 3]);
    let labelled = Filter {
        labels: vec![("kernel".to_owned(), "6.1".to_owned())],
        until_us: Some(1_700_000_000_000_000 + 3 * 3_600_000_000),
        ..Filter::default()
    };
    assert_eq!(ids(&mut store, &labelled), [2, 1]);
    let entry = &store.list(&of("office")).unwrap()[0];
    let labels: Vec<_> = entry.labels.iter().collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert_eq!(entry.size_bytes, run_text(5, 94e6, "6.12").len() as u64);
    assert_eq!(
        store.paths().unwrap(),
        [("192.0.2.2".to_owned(), 4), ("office".to_owned(), 1)]
    );
}

fn found(place: &Place) {
    let mut store = Store::open(place).unwrap();
    store.save(&run(0x11, 94e6, "6.1")).unwrap();
    store.save(&run(0x12, 94e6, "6.1")).unwrap();
    let full = "0000000000000012";
    assert!(store.body(Kind::Run, full).is_ok());
    let several = store.body(Kind::Run, "00000000000000");
    assert!(matches!(
        several,
        Err(StoreError::Ambiguous { count: 2, .. })
    ));
    // Not wild cards; and nothing, as of an unset variable, is not all.
    for prefix in ["", "%", "_", "00000000000000_2", "\\"] {
        assert!(matches!(
            store.body(Kind::Run, prefix),
            Err(StoreError::Missing(_))
        ));
    }
    assert_eq!(store.delete(Kind::Run, "0000000000000012").unwrap(), full);
    assert!(store.body(Kind::Run, "0").is_ok());
    assert!(matches!(
        store.delete(Kind::Run, full),
        Err(StoreError::Missing(_))
    ));
    assert_eq!(
        store.series(&goodput(), &Filter::default()).unwrap().len(),
        1
    );
}

fn labelled(place: &Place) {
    let mut store = Store::open(place).unwrap();
    store.save(&run(1, 94e6, "6.1")).unwrap();
    store
        .label(Kind::Run, "0", "change", Some("it's \"bbr\" ✓"))
        .unwrap();
    store
        .label(Kind::Run, "0", "change", Some("cubic"))
        .unwrap();
    store.label(Kind::Run, "0", "kernel", None).unwrap();
    store.label(Kind::Run, "0", "path", Some("office")).unwrap();
    let entry = &store.list(&Filter::default()).unwrap()[0];
    assert_eq!(entry.path, "office");
    assert_eq!(entry.labels.iter().collect::<Vec<_>>().len(), 1);
    assert_eq!(entry.labels["change"], "cubic");
    // Its figures go with it.
    assert!(
        store
            .series(&goodput(), &Filter::default())
            .unwrap()
            .is_empty()
    );
    let moved = SeriesName {
        path: "office".to_owned(),
        ..goodput()
    };
    assert_eq!(store.series(&moved, &Filter::default()).unwrap().len(), 1);
    store.delete(Kind::Run, "0").unwrap();
    assert!(store.series(&moved, &Filter::default()).unwrap().is_empty());
}

fn series_of(place: &Place) {
    let mut store = Store::open(place).unwrap();
    for number in [2, 1, 3] {
        store
            .save(&run(number, 1e6 * number as f64, "6.1"))
            .unwrap();
    }
    let names = store.series_names(Some("192.0.2.2")).unwrap();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&goodput()));
    let points = store.series(&goodput(), &Filter::default()).unwrap();
    let medians: Vec<f64> = points.iter().map(|p| p.median).collect();
    assert_eq!(medians, [1e6, 2e6, 3e6]);
    assert_eq!((points[0].n, points[0].low), (5, Some(0.99e6)));
    let idle = names.iter().find(|n| **n != goodput()).unwrap();
    let last = Filter {
        limit: Some(1),
        ..Filter::default()
    };
    let points = store.series(idle, &last).unwrap();
    assert_eq!((points.len(), points[0].low), (1, None));
    assert_eq!(points[0].run, "0000000000000003");
}

fn trend_of(place: &Place) {
    let mut store = Store::open(place).unwrap();
    let documents: Vec<_> = (0..40)
        .map(|number: u64| {
            let (level, kernel) = if number < 25 {
                (94e6, "6.1")
            } else {
                (89e6, "6.12")
            };
            run(
                number,
                level * (1.0 + (number * 7 % 5) as f64 / 500.0),
                kernel,
            )
        })
        .collect();
    store.save_all(&documents).unwrap();
    let trends = store.trend(&goodput(), &Filter::default()).unwrap();
    assert_eq!(trends.len(), 1);
    let trend = &trends[0];
    assert_eq!(trend.run, format!("{:016x}", 25));
    assert!((trend.change.unwrap() + 0.053).abs() < 0.005, "{trend:?}");
    let kernel = trend
        .facts
        .iter()
        .find(|f| f.fact == "near.kernel")
        .unwrap();
    assert_eq!(kernel.before.as_deref(), Some("6.1"));
    assert_eq!(kernel.after.as_deref(), Some("6.12"));
    assert_eq!(kernel.run, trend.run);
    // The label that matches it is the only other change.
    assert_eq!(trend.facts.len(), 2, "{trend:?}");
}

fn pruned(place: &Place) {
    let mut store = Store::open(place).unwrap();
    for number in 1..=6 {
        store.save(&noise(number, 10_000)).unwrap();
    }
    store.save(&run(7, 94e6, "6.1")).unwrap();
    store
        .label(Kind::Advice, "0000000000000001", "keep", Some("yes"))
        .unwrap();
    let old = Retention {
        before_us: Some(4),
        ..Retention::default()
    };
    assert_eq!(store.prune(&old, true).unwrap().documents.len(), 2);
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 7);
    assert_eq!(store.prune(&old, false).unwrap().documents.len(), 2);
    let much = Retention {
        most_bytes: Some(25_000),
        ..Retention::default()
    };
    let pruned = store.prune(&much, false).unwrap();
    assert_eq!(pruned.documents.len(), 2);
    assert!((20_000..21_000).contains(&pruned.bytes), "{pruned:?}");
    assert_eq!(ids(&mut store, &Filter::default()), [7, 6, 1]);
    assert_eq!(store.prune(&much, false).unwrap().documents, []);
    let all = Retention {
        before_us: Some(u64::MAX >> 1),
        ..Retention::default()
    };
    store.prune(&all, false).unwrap();
    assert_eq!(ids(&mut store, &Filter::default()), [1]);
    assert!(store.series_names(None).unwrap().is_empty());
}

fn carried_over(place: &Place) {
    let mut store = Store::open(place).unwrap();
    for number in 1..=150 {
        let mut document = run(number, 94e6, "6.1");
        document.label("change", "none");
        store.save(&document).unwrap();
    }
    let mut archive = Vec::new();
    assert_eq!(store.export(&Filter::default(), &mut archive).unwrap(), 150);
    assert_eq!(archive.iter().filter(|b| **b == b'\n').count(), 150);
    let folder = tempfile::tempdir().unwrap();
    let mut other = Store::open(&file(folder.path())).unwrap();
    let imported = other.import(&mut archive.as_slice(), "a", &[]).unwrap();
    assert_eq!((imported.added, imported.known), (150, 0));
    let imported = other.import(&mut archive.as_slice(), "a", &[]).unwrap();
    assert_eq!((imported.added, imported.known), (0, 150));
    assert_eq!(
        other
            .list(&Filter::default())
            .unwrap()
            .iter()
            .map(|e| (&e.id, &e.labels))
            .collect::<Vec<_>>(),
        store
            .list(&Filter::default())
            .unwrap()
            .iter()
            .map(|e| (&e.id, &e.labels))
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        other.series(&goodput(), &Filter::default()).unwrap().len(),
        150
    );
    // A Run in the form written by `measure`, on several lines, with a label.
    let text = run_text(200, 94e6, "6.1");
    let labels = [("path".to_owned(), "home".to_owned())];
    let imported = store
        .import(&mut text.as_bytes(), "run.json", &labels)
        .unwrap();
    assert_eq!(imported.added, 1);
    assert_eq!(ids(&mut store, &of("home")), [200]);
    // A file that is neither.
    let error = store
        .import(&mut &b"{\"a\": 1}"[..], "x.json", &[])
        .unwrap_err();
    assert!(
        error.to_string().starts_with("x.json: not a run"),
        "{error}"
    );
}

fn written_at_once(place: &Place) {
    // Opened by all at once, too: the tables are made once.
    let writers: Vec<_> = (0..6_u64)
        .map(|writer| {
            let place = place.clone();
            std::thread::spawn(move || {
                let mut store = Store::open(&place).unwrap();
                for number in 0..25 {
                    store
                        .save(&run(writer * 100 + number, 94e6, "6.1"))
                        .unwrap();
                    store.list(&Filter::default()).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let mut store = Store::open(place).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 150);
    assert_eq!(
        store.series(&goodput(), &Filter::default()).unwrap().len(),
        150
    );
}

fn a_newer_server_is_refused(server: &Server) {
    let place = server.database("newer");
    drop(Store::open(&place).unwrap());
    let mut client = server.client("newer").unwrap();
    client
        .batch_execute("UPDATE pathtwin_schema SET version = 99")
        .unwrap();
    let error = Store::open(&place).err().unwrap();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
    let gone = Place::parse("postgres://pathtwin@127.0.0.1:1/none").unwrap();
    let error = Store::open(&gone).err().unwrap().to_string();
    assert!(error.starts_with("cannot open the history postgres://pathtwin@127.0.0.1:1/none"));
}
