//! Cells of the published table, once printed as specs and parsed again.

#![allow(clippy::unwrap_used)]

use model::spec::Spec;

use super::*;

/// The specs of the paths of a seed, as the first version printed them.
fn printed(count: usize, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|number| text(number, &Draw::new(&mut random)))
        .collect()
}

fn text(number: usize, draw: &Draw) -> String {
    let Draw {
        rate_kbit,
        rtt_ms,
        buffer_bytes,
        loss_percent,
        jitter_ms,
        reorder_percent,
        mtu_bytes,
    } = draw;
    let mut text = format!(
        "name = \"path-{number:03}\"\nseed = {}\n[path]\nrate = \"{rate_kbit}kbit\"\nrtt = \"{rtt_ms:.3}ms\"\n\
         buffer = \"{buffer_bytes:.0}B\"\nloss = \"{loss_percent:.4}%\"\njitter = \"{jitter_ms:.3}ms\"\n\
         reorder = \"{reorder_percent:.4}%\"\nmtu = {mtu_bytes}\n",
        1000 + number
    );
    if number % 2 == 1 {
        text.push_str(&format!(
            "[tunnel]\nkind = \"wireguard\"\nmtu = {}\n",
            mtu_bytes - 80
        ));
    }
    text
}

#[test]
fn the_cells_are_those_of_the_specs_it_once_printed() {
    for seed in 1..=20 {
        let drawn = cells(100, Seed(seed)).unwrap();
        for (cell, text) in drawn.iter().zip(printed(100, seed)) {
            let read = Spec::parse("x.toml", &text).unwrap().cells().unwrap();
            assert_eq!(read, std::slice::from_ref(cell), "seed {seed}\n{text}");
        }
    }
}

/// The first two of the published draw, from a file that the first version wrote.
#[test]
fn the_first_paths_of_the_published_draw() {
    let drawn = cells(2, Seed(1)).unwrap();
    assert_eq!(
        (drawn[0].name.as_str(), drawn[0].seed),
        ("path-000", Seed(1000))
    );
    assert_eq!(drawn[0].tunnel, None);
    assert_eq!(
        drawn[1].tunnel.as_ref().map(|t| t.mtu + 80),
        Some(drawn[1].path.mtu)
    );
}
