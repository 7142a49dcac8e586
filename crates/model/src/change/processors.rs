//! Masks of processors as the kernel writes them.

/// The mask of the first `count` processors.
pub fn processors(count: u32) -> String {
    mask(count, |_| true)
}

/// The mask of the processors among the first `count` that send over a transmit queue: each sends
/// over the queue of its own number modulo the number of queues.
pub fn sending(queue: u32, queues: u32, count: u32) -> String {
    mask(count, |cpu| cpu.checked_rem(queues) == Some(queue))
}

/// Words of 32 processors, hexadecimal with commas between them, the highest first
/// (lib/bitmap-str.c, Linux 6.18).
fn mask(count: u32, has: impl Fn(u32) -> bool) -> String {
    let words = count.div_ceil(32).max(1);
    let word = |n: u32| {
        let bit = |b: &u32| 32 * n + b < count && has(32 * n + b);
        (0..32).filter(bit).fold(0_u32, |all, b| all | 1 << b)
    };
    let mut all = (0..words).rev().map(word);
    let first = format!("{:x}", all.next().unwrap_or(0));
    all.fold(first, |text, word| format!("{text},{word:08x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every processor sends over exactly one queue.
    #[test]
    fn transmit_queues_share_the_processors_without_overlap() {
        let number = |mask: &str| u128::from_str_radix(&mask.replace(',', ""), 16).unwrap();
        for (queues, cpus) in [(1, 1), (4, 2), (3, 8), (8, 64), (5, 97), (2, 0)] {
            let masks: Vec<u128> = (0..queues)
                .map(|q| number(&sending(q, queues, cpus)))
                .collect();
            let all = masks.iter().fold(0, |all, mask| all | mask);
            let bits: u32 = masks.iter().map(|mask| mask.count_ones()).sum();
            assert_eq!(all, number(&processors(cpus)), "{queues} {cpus}");
            assert_eq!(bits, cpus, "two queues have the same processor");
        }
    }
}
