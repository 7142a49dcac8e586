//! Tries of offers on the hosts, until one is kept.

use model::{
    advice::{Advice, Effect, Tried},
    change::ChangeId,
    history::is_kept,
    job::ProveOutput,
    proof::Decision,
    text::Text,
};

/// Results of the offers that were tried.
#[derive(Debug, Default)]
pub struct Tries {
    /// Of each that was tried, in order.
    pub done: Vec<ProveOutput>,
}

impl Tries {
    /// Returns true if something was tried, and nothing was kept.
    pub fn is_in_vain(&self) -> bool {
        self.done.last().is_some_and(|last| !last.is_kept())
    }

    /// Settings that differ from their old values although their change was undone.
    pub fn left_changed(&self) -> &[Text] {
        self.done.last().map_or(&[], |last| &last.left_changed)
    }
}

/// Tries offers until one is kept. Of predicted remedies one of each kind (harmless, or at a cost)
/// is measured. The next one follows if the hosts cannot have it, or, once, if it helped and was
/// undone for what it costs. It also ends if `attempt` returns `None`, because the user stops, or
/// if a change was not undone correctly.
///
/// # Errors
/// The error of `attempt`.
pub fn until_kept<E>(
    offers: &[Advice],
    mut attempt: impl FnMut(&Advice, &Tried) -> Result<Option<ProveOutput>, E>,
) -> Result<Tries, E> {
    let mut tries = Tries::default();
    let mut measured: Vec<(Effect, bool)> = Vec::new();
    for offer in offers {
        let is_due = |best: &&Tried| {
            let mut before = measured.iter().filter(|(effect, _)| *effect == best.effect);
            before.clone().count() < 2 && before.all(|(_, is_costly)| *is_costly)
        };
        let Some(best) = offer.advised().filter(is_due) else {
            continue;
        };
        let Some(done) = attempt(offer, best)? else {
            break;
        };
        let is_last = done.is_kept() || !done.left_changed.is_empty();
        if !done.changes.is_empty() && best.effect != Effect::Unsure {
            let proof = done.proof.as_ref();
            let is_costly = proof.is_some_and(|p| p.decision == Decision::Worse);
            measured.push((best.effect, is_costly));
        }
        tries.done.push(done);
        if is_last {
            break;
        }
    }
    Ok(tries)
}

/// The change under whose id a proof belongs in the history: `None` if nothing was changed, and for
/// a lab path unless the user names the history.
pub fn stored_as(done: &ProveOutput, is_lab: bool, is_named: bool) -> Option<&ChangeId> {
    let first = done.changes.first()?;
    is_kept(is_lab, is_named).then_some(&first.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One offer for each effect.
    fn offers(effects: &[&str]) -> Vec<Advice> {
        let tried = effects.iter().map(|effect| {
            format!(
                r#"{{"name": "bbr", "origin": "recipe", "remedies": [], "effect": "{effect}",
                "outcomes": [], "changes": [], "worth": 0.0, "regret": 0.0, "pairs": 1,
                "runs": []}}"#
            )
        });
        let json = format!(
            r#"{{"schema": 1, "program": "t", "run": "r", "twin": "fit_for_advising",
            "goal": "balanced", "says": "t", "unchanged": {{"outcomes": [], "runs": []}},
            "tried": [{}], "runs": 1, "failed": 0}}"#,
            tried.collect::<Vec<_>>().join(",")
        );
        let advice = Advice::parse(json.as_bytes()).unwrap();
        let of = |place| Advice {
            advised: Some(place),
            ..advice.clone()
        };
        (0..effects.len()).map(of).collect()
    }

    /// The places of the offers that are tried, if each try ends like this.
    fn places(offers: &[Advice], done: &ProveOutput) -> Vec<usize> {
        let mut places = Vec::new();
        let tries = until_kept(offers, |offer, _| {
            places.extend(offer.advised);
            Ok::<_, ()>(Some(done.clone()))
        });
        assert_eq!(tries.unwrap().done.len(), places.len());
        places
    }

    /// A change that was measured and undone.
    fn undone(decision: &str) -> ProveOutput {
        let json = format!(
            r#"{{"changes": [{{"schema": 1, "program": "0",
            "id": "00000000000000000000000000000000", "state": {{"is": "rolled_back"}},
            "scope": {{"boot": "", "netns": 1, "host": "h"}}, "steps": []}}],
            "proof": {{"schema": 1, "program": "0", "changes": [], "goal": "balanced",
            "decision": "{decision}", "says": "s", "figures": [], "turns": [], "acted": [],
            "comparison": {{"schema": 1, "before": {{"name": "", "runs": []}},
                "after": {{"name": "", "runs": []}}, "threshold": 0.02,
                "share_threshold": 0.001, "lines": []}}}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    /// A recipe with a queue that older kernels lack was the best on some lab paths, and the only
    /// one tried.
    #[test]
    fn the_next_best_follows_if_the_hosts_cannot_have_the_best_and_not_if_it_was_measured() {
        let all = offers(&["helps", "helps"]);
        let refused = ProveOutput {
            not_applied: vec![Text::fixed("no such queue")],
            ..ProveOutput::default()
        };
        assert_eq!(places(&all, &refused), [0, 1]);
        assert_eq!(places(&all, &undone("no_gain")), [0]);
    }

    /// A recipe of very large buffers made a window-limited path twice as fast, filled its queue,
    /// and was undone; a buffer of the right size was never tried.
    #[test]
    fn one_more_follows_a_remedy_that_was_undone_for_what_it_costs() {
        let all = offers(&["helps", "helps", "helps", "unsure"]);
        assert_eq!(places(&all, &undone("worse")), [0, 1, 3]);
        let all = offers(&["helps_at_a_cost", "helps"]);
        assert_eq!(places(&all, &undone("worse")), [0, 1]);
    }

    /// Returns the outcome of a try of one change.
    fn tried(left_changed: &[Text]) -> ProveOutput {
        ProveOutput {
            left_changed: left_changed.to_vec(),
            ..ProveOutput::default()
        }
    }

    #[test]
    fn offers_are_tried_until_the_user_stops_or_a_rollback_is_incomplete() {
        let all = offers(&["unsure"; 3]);
        let mut wanted = 2;
        let tries = until_kept(&all, |_, _| {
            wanted -= 1;
            Ok::<_, ()>((wanted >= 0).then(|| tried(&[])))
        });
        let tries = tries.unwrap();
        assert_eq!((tries.done.len(), tries.is_in_vain()), (2, true));
        let left = [Text::name("net.a")];
        let tries = until_kept(&all, |_, _| Ok::<_, ()>(Some(tried(&left))));
        let tries = tries.unwrap();
        assert_eq!((tries.done.len(), tries.left_changed()), (1, &left[..]));
        assert!(!Tries::default().is_in_vain(), "nothing was tried");
    }
}
