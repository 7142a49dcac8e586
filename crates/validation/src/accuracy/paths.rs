//! Paths drawn at random over what `measure` is to cope with.

use model::{
    cell::Cell,
    plan::Plan,
    spec::{Spec, SpecError},
    units::Seed,
};
use stats::Random;

/// What is measured on each path.
pub const PLAN: &str = r#"
name = "accuracy"
repeats = { min = 1, max = 1 }
[[step]]
kind = "pmtu"
duration_s = 5
[[step]]
kind = "idle"
duration_s = 3
[[step]]
kind = "udp_sweep"
direction = "down"
from_bps = 500_000
to_bps = 2_000_000_000
duration_s = 4
[[step]]
kind = "udp_sweep"
direction = "up"
from_bps = 500_000
to_bps = 2_000_000_000
duration_s = 4
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["cubic"]
warmup_s = 2
duration_s = 6
repeat = true
"#;

/// The plan.
pub fn plan() -> Result<Plan, ::measure::plans::PlanError> {
    ::measure::plans::parse(PLAN)
}

/// A value between two, evenly on the scale of logarithms.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    let share = random.below(1 << 30) as f64 / f64::from(1 << 30);
    (low.ln() + share * (high / low).ln()).exp()
}

/// The specs of `count` paths: rate 1 Mbit/s to 1 Gbit/s, RTT 1 to 300 ms, loss 0 to 5 %, jitter,
/// reordering, buffers of 0.1 to 20 BDP (but at least 10 packets), MTU, with and without WireGuard.
pub fn specs(count: usize, seed: Seed) -> Vec<String> {
    let mut random = Random::new(seed.0);
    (0..count).map(|i| spec(i, &mut random)).collect()
}

fn spec(number: usize, random: &mut Random) -> String {
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

/// The cells of specs.
pub fn cells(specs: &[String]) -> Result<Vec<Cell>, SpecError> {
    specs
        .iter()
        .map(|text| {
            let cells = Spec::parse("a drawn path", text)?.cells()?;
            Ok(cells.into_iter().next())
        })
        .filter_map(Result::transpose)
        .collect()
}
