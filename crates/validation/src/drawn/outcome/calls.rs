//! Findings that call for another congestion control.

use explain::registry;
use model::{
    cause::CauseCode,
    findings::{Finding, RemedyClass},
};

/// Whether the first remedy is another congestion control, where that does not follow from the
/// cause: not where the Run shows that it carries no more.
pub(super) fn here(finding: &Finding) -> Option<bool> {
    let first = finding.remedies.first();
    let here = first.is_some_and(|r| r.class() == RemedyClass::CongestionControl);
    (here != calls_for_congestion_control(&finding.code)).then_some(here)
}

/// Returns true if the remedy of a cause is another congestion control.
pub(super) fn calls_for_congestion_control(code: &CauseCode) -> bool {
    let cause = registry().iter().find(|c| c.code == *code);
    cause.is_some_and(|c| c.remedy.class() == RemedyClass::CongestionControl)
}
