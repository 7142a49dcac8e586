//! Advice of another congestion control, by its causes and by its effect.

use super::{super::advised::Bbr, FoundCause, Outcome, calls::calls_for_congestion_control};

impl Outcome {
    /// The first finding, if its remedy is another congestion control.
    pub fn advises_congestion_control(&self) -> Option<&FoundCause> {
        self.first().filter(|found| {
            let usual = || calls_for_congestion_control(&found.code);
            found.congestion_control.unwrap_or_else(usual)
        })
    }

    /// Returns true if the first remedy is another congestion control although no true or allowed
    /// cause calls for it.
    pub fn advises_wrong_congestion_control(&self) -> bool {
        let mut true_codes = self.causes.iter().flat_map(|c| &c.codes).chain(&self.also);
        self.advises_congestion_control().is_some() && !true_codes.any(calls_for_congestion_control)
    }

    /// Whether BBR carries relevantly more where it is advised; `None` if it is not advised first,
    /// or was not measured.
    pub fn advice_helps(&self) -> Option<bool> {
        let direction = self.advises_congestion_control()?.direction();
        let there = |bbr: &&Bbr| direction.is_none_or(|d| d == bbr.direction);
        let mut measured = self.bbr.iter().filter(there).peekable();
        measured.peek()?;
        Some(measured.any(Bbr::helps))
    }
}

#[cfg(test)]
mod tests {
    use model::{
        cause::CauseCode,
        findings::Severity,
        net::{Direction, Side},
    };

    use super::{
        super::{
            super::fault::Fault,
            tests::{DOWN, LOSS, outcome},
        },
        *,
    };

    #[test]
    fn bbr_against_a_short_window_is_wrong_advice() {
        let window = Fault::ReceiveBuffer(Side::Near);
        let found = [(CauseCode::RANDOM_LOSS, DOWN, Severity::High)];
        assert!(outcome(&[window], &found).advises_wrong_congestion_control());
        assert!(!outcome(&[LOSS], &found).advises_wrong_congestion_control());
    }

    /// A queue of a few packets, which the bursts of bbr overflow as well.
    #[test]
    fn a_finding_whose_remedy_is_another_one_here_advises_no_bbr() {
        let found = [(CauseCode::SHALLOW_QUEUE, DOWN, Severity::High)];
        let mut outcome = outcome(&[Fault::ReceiveBuffer(Side::Near)], &found);
        assert!(outcome.advises_wrong_congestion_control());
        outcome.found[0].congestion_control = Some(false);
        assert!(!outcome.advises_wrong_congestion_control());
    }

    #[test]
    fn advice_is_judged_by_its_effect_in_its_direction() {
        let bbr = |direction, share: f64| Bbr {
            direction,
            against: "cubic".to_owned(),
            share: vec![share, share],
        };
        let short = Fault::ShortBuffer(Direction::Down);
        let mut outcome = outcome(&[short], &[(CauseCode::RANDOM_LOSS, DOWN, Severity::High)]);
        assert_eq!(outcome.advice_helps(), None, "not measured");
        outcome.bbr = vec![bbr(Direction::Down, 0.0), bbr(Direction::Up, 0.5)];
        assert_eq!(outcome.advice_helps(), Some(false));
        outcome.bbr[0] = bbr(Direction::Down, 0.5);
        assert_eq!(outcome.advice_helps(), Some(true));
        outcome.found.clear();
        assert_eq!(outcome.advice_helps(), None, "not advised");
    }
}
