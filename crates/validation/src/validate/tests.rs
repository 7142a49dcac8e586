use super::*;

#[test]
fn every_spec_is_one() {
    for check in checks() {
        cells(&check).unwrap_or_else(|e| panic!("{}: {e}", check.name));
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = checks().iter().map(|c| c.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn formulas_give_the_tables_of_the_standard() {
    // RFC 9438 section 5.1, table 1: average windows at an RTT of 0.1 s.
    for (p, window) in [(1e-4, 187.0), (1e-5, 1054.0), (1e-6, 5926.0)] {
        let got = theory::cubic_window(p, 0.1);
        assert!((got - window).abs() < 1.0, "p {p}: {got}");
    }
    for (p, window) in [(1e-2, 12.0), (1e-4, 120.0), (1e-6, 1200.0)] {
        let got = theory::reno_window(p);
        assert!((got / window - 1.0).abs() < 0.03, "p {p}: {got}");
    }
    assert!((theory::cubic_k(100.0) - 4.217).abs() < 0.001);
}

#[test]
fn expectations_hold_at_their_bounds() {
    assert!(Expect::within(100.0, 0.003).holds(99.7));
    assert!(!Expect::within(100.0, 0.003).holds(99.69));
    assert!(Expect::at_least(0.93).holds(0.93));
    assert!(!Expect::at_most(0.05).holds(f64::NAN));
    assert_eq!(Expect::within(95.64, 0.003).to_string(), "95.64 ± 0.28692");
}

#[test]
fn a_line_without_a_value_fails() {
    let line = Line::new("x", Expect::default(), None, "ms");
    assert_eq!(line.verdict, Verdict::Fail);
    assert!(line.reason.is_some());
}
