//! Places in a box that fill it evenly: a Latin hypercube.

use stats::Random;

/// `count` points in the unit square. Each axis is divided into `count` equal intervals, and each
/// interval contains one point (McKay, Beckman, Conover: A Comparison of Three Methods,
/// Technometrics 21, 1979).
pub(crate) fn latin(count: usize, random: &mut Random) -> Vec<[f64; 2]> {
    let mut axis = || {
        let mut pieces: Vec<usize> = (0..count).collect();
        random.shuffle(&mut pieces);
        let within: Vec<f64> = (0..count).map(|_| random.unit()).collect();
        pieces
            .into_iter()
            .zip(within)
            .map(|(piece, share)| (piece as f64 + share) / count as f64)
            .collect::<Vec<f64>>()
    };
    let (first, second) = (axis(), axis());
    first.into_iter().zip(second).map(|(a, b)| [a, b]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_of_each_axis_holds_one_place() {
        let places = latin(16, &mut Random::new(3));
        for axis in 0..2 {
            let mut pieces: Vec<usize> = places.iter().map(|p| (p[axis] * 16.0) as usize).collect();
            pieces.sort_unstable();
            assert_eq!(pieces, (0..16).collect::<Vec<_>>());
        }
    }
}
