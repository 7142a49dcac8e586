//! Tests of the judgement, and an outcome for those of other modules.

use super::*;

/// A path with these faults as causes, each in its direction, and these findings.
pub(in crate::drawn) fn outcome(
    faults: &[Fault],
    found: &[(CauseCode, Option<Direction>, Severity)],
) -> Outcome {
    let cause = |fault: &Fault| Cause {
        fault: *fault,
        codes: fault.codes().right.to_vec(),
        directions: fault.direction().into_iter().collect(),
        weight: 1.0 / faults.len() as f64,
        masked: false,
    };
    let answers =
        |(code, direction, severity): &(CauseCode, Option<Direction>, Severity)| FoundCause {
            code: code.clone(),
            place: Place {
                direction: *direction,
                end: None,
            },
            severity: *severity,
            confidence: 0.9,
            strength: Strength::Fair,
            congestion_control: None,
        };
    let outcome = Outcome {
        draw: 1,
        index: 0,
        plan: "quick".to_owned(),
        rate_mbps: [50.0, 50.0],
        rtt_ms: 20.0,
        tunnel: false,
        causes: faults.iter().map(cause).collect(),
        also: [CauseCode::HOST_SETTINGS].into(),
        allowed: Vec::new(),
        recovers: if faults.is_empty() { 0.0 } else { 0.5 },
        found: found.iter().map(answers).collect(),
        judged: Judged::Right,
        bbr: Vec::new(),
    };
    Outcome {
        judged: outcome.judge(),
        ..outcome
    }
}

pub(super) const DOWN: Option<Direction> = Some(Direction::Down);
const UP: Option<Direction> = Some(Direction::Up);
pub(super) const LOSS: Fault = Fault::Loss(Direction::Down);

fn judged(faults: &[Fault], found: &[(CauseCode, Option<Direction>, Severity)]) -> Judged {
    outcome(faults, found).judged
}

#[test]
fn the_first_finding_decides() {
    let high = Severity::High;
    assert_eq!(
        judged(&[LOSS], &[(CauseCode::RANDOM_LOSS, DOWN, high)]),
        Judged::Right
    );
    assert_eq!(
        judged(&[LOSS], &[(CauseCode::RANDOM_LOSS, UP, high)]),
        Judged::WrongDirection
    );
    assert_eq!(
        judged(&[LOSS], &[(CauseCode::POLICER, DOWN, high)]),
        Judged::WrongCause
    );
    assert_eq!(
        judged(&[LOSS], &[(CauseCode::HEALTHY, None, Severity::Info)]),
        Judged::CalledHealthy
    );
    assert_eq!(judged(&[LOSS], &[]), Judged::Silent);
    assert_eq!(
        judged(&[LOSS], &[(CauseCode::AQM_IDLE, DOWN, Severity::Info)]),
        Judged::Silent
    );
}

#[test]
fn a_healthy_path_is_right_with_silence_and_with_healthy_only() {
    assert_eq!(judged(&[], &[]), Judged::Right);
    assert_eq!(
        judged(&[], &[(CauseCode::HEALTHY, None, Severity::Info)]),
        Judged::Right
    );
    assert_eq!(
        judged(&[], &[(CauseCode::POLICER, DOWN, Severity::Low)]),
        Judged::FalseAlarm
    );
    assert_eq!(
        judged(&[], &[(CauseCode::HOST_SETTINGS, None, Severity::Low)]),
        Judged::Right
    );
}

/// Up to 15 % "healthy" was right, and saying less, nothing, was "silent".
#[test]
fn where_healthy_is_not_wrong_nor_is_saying_nothing() {
    let small = |fault: Fault, recovers: f64| Outcome {
        recovers,
        ..outcome(&[fault], &[])
    };
    assert_eq!(small(LOSS, 0.14).judge(), Judged::Right);
    assert_eq!(small(LOSS, 0.16).judge(), Judged::Silent);
    let deep = Fault::DeepQueue(Direction::Down);
    assert_eq!(small(deep, 0.02).judge(), Judged::Silent);
}

#[test]
fn causes_without_a_rule_need_no_finding() {
    let twice = Fault::Duplicates(Direction::Up);
    assert_eq!(judged(&[twice], &[]), Judged::Right);
    assert_eq!(
        judged(&[twice], &[(CauseCode::HEALTHY, None, Severity::Info)]),
        Judged::CalledHealthy
    );
    assert_eq!(
        judged(&[twice], &[(CauseCode::RANDOM_LOSS, UP, Severity::High)]),
        Judged::WrongCause
    );
}
