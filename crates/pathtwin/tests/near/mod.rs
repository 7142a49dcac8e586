//! Comparison of printed figures with those of another kernel image. An image of another compiler
//! moves what BBR draws at random, and so some lines of a table by a little.

/// Returns true if two texts have the same words, and numbers that differ by at most this share. A
/// constant is printed without its range, so that what is in brackets is left out.
pub(crate) fn is_near(one: &str, other: &str, share: f64) -> bool {
    let (one, other) = (words(one), words(other));
    let near = |(one, other): (&String, &String)| match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= share * a.abs(),
        _ => one == other,
    };
    one.len() == other.len() && one.iter().zip(&other).all(near)
}

fn words(text: &str) -> Vec<String> {
    let mut inside = false;
    let outside = |c: &char| {
        inside = (inside || *c == '(') && *c != ')';
        !inside && *c != ')'
    };
    let text: String = text.chars().filter(outside).collect();
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn near_numbers_are_accepted_and_other_words_are_not() {
    let line = "bbr 2%  92.8 (92.7 to 93.1)  24.7  31.0 (30.5 to 31.2)  3";
    let near = |other: &str| is_near(line, other, 0.05);
    assert!(near(
        "bbr 2%  92.8 (92.7 to 93.1)  24.7 (24.6 to 24.7)  30.8  3"
    ));
    assert!(!near("bbr 2%  80.1 (92.7 to 93.1)  24.7  31.0  3"));
    assert!(!near("cubic 2%  92.8  24.7  31.0  3"));
    assert!(!near("bbr 2%  92.8  24.7  3"));
}
