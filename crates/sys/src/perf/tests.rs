#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn record(kind: u32, misc: u16, body: &[u64]) -> Vec<u8> {
    let mut bytes = kind.to_ne_bytes().to_vec();
    bytes.extend(misc.to_ne_bytes());
    bytes.extend((8 + body.len() as u16 * 8).to_ne_bytes());
    bytes.extend(body.iter().flat_map(|w| w.to_ne_bytes()));
    bytes
}

proptest! {
    #[test]
    fn any_bytes_are_counted_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut samples = Samples::default();
        samples.add(&bytes);
        prop_assert!(samples.count() <= bytes.len() as u64 / 8);
    }

    #[test]
    fn each_sample_is_counted_once(modes in proptest::collection::vec(0u16..4, 0..40)) {
        let mut samples = Samples::default();
        let bytes: Vec<u8> = modes.iter().flat_map(|m| record(9, *m, &[0xffff_8000])).collect();
        samples.add(&bytes);
        let of = |mode| modes.iter().filter(|m| **m == mode).count() as u64;
        prop_assert_eq!(samples.count(), modes.len() as u64);
        prop_assert_eq!(samples.user, of(2));
        prop_assert_eq!(samples.kernel.get(&0xffff_8000).copied().unwrap_or(0), of(1));
    }
}

#[test]
fn lost_samples_are_reported() {
    let mut samples = Samples::default();
    samples.add(&record(2, 0, &[77, 5]));
    assert_eq!((samples.lost, samples.count()), (5, 0));
}

#[test]
fn a_busy_program_is_seen() {
    let sampler = match Sampler::start(1000) {
        Ok(sampler) => sampler,
        Err(e) => {
            println!("skipped: {e}");
            return;
        }
    };
    let begin = crate::clock::Instant::now();
    let mut x = 1u64;
    while crate::clock::Instant::now().since(begin) < 100_000_000 {
        x = std::hint::black_box(x.wrapping_mul(3));
    }
    let samples = sampler.stop();
    assert!(samples.user > 0, "{samples:?}");
    assert_eq!(samples.lost, 0);
}
