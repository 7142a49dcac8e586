//! The draw is that of the published table: once it printed specs and read them again. The specs
//! here are what it printed then.

#![allow(clippy::unwrap_used)]

use model::spec::Spec;

use super::*;

/// What path `number` of the draw of `seed` was, as a spec: the words of the first version.
fn printed(count: usize, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    (0..count).map(|number| text(number, &mut random)).collect()
}

/// The first version, word for word.
fn text(number: usize, random: &mut Random) -> String {
    let rate_kbit = between(random, 1e3, 1e6).round();
    let rtt_ms = between(random, 1.0, 300.0);
    let bdp = rate_kbit * rtt_ms / 8.0;
    let buffer = (bdp * between(random, 0.1, 20.0)).clamp(15_140.0, 64e6);
    let one_of = |random: &mut Random, n: usize| random.below(n) == 0;
    let loss = if one_of(random, 3) {
        0.0
    } else {
        between(random, 0.01, 5.0)
    };
    let jitter_ms = if one_of(random, 4) {
        rtt_ms * between(random, 0.005, 0.1)
    } else {
        0.0
    };
    let reorder = if one_of(random, 6) {
        between(random, 0.05, 1.0)
    } else {
        0.0
    };
    let mtu = [1500, 1500, 1400, 1280][random.below(4)];
    let mut text = format!(
        "name = \"path-{number:03}\"\nseed = {}\n[path]\nrate = \"{rate_kbit}kbit\"\nrtt = \"{rtt_ms:.3}ms\"\n\
         buffer = \"{buffer:.0}B\"\nloss = \"{loss:.4}%\"\njitter = \"{jitter_ms:.3}ms\"\n\
         reorder = \"{reorder:.4}%\"\nmtu = {mtu}\n",
        1000 + number
    );
    if number % 2 == 1 {
        text.push_str(&format!(
            "[tunnel]\nkind = \"wireguard\"\nmtu = {}\n",
            mtu - 80
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
