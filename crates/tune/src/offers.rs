//! Candidates tried on a path in order, until one helps.

use model::{
    advice::{
        Advice, Effect, Origin, Tried,
        guards::{beyond, is_for_others},
    },
    findings::{Finding, Findings, Severity},
    remedy::{Location, Remedy},
    twin::TwinVerdict,
};

use crate::remedies::is_a_setting;

/// Maximum number of findings whose remedies are tried.
const OFFERS: usize = 3;

/// What may be offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Remedies that help at a cost to others as well.
    pub at_a_cost: bool,
    /// Remedies of a router of the path as well, because it can be changed.
    pub router: bool,
}

impl Allowed {
    /// Returns true if the settings of a host can be changed.
    fn can_change(self, on: Location) -> bool {
        on.side().is_some() || self.router && on == Location::Router
    }
}

/// Returns the candidates in the order in which they are tried: predicted ones, and remedies that
/// the findings propose for a host and whose effect is not predicted. For those the measurement
/// alone decides; they come last, except those of the first finding, which is what limits the path.
/// If no twin fits, nothing can be predicted.
pub fn offers(advice: &Advice, findings: &Findings, allowed: Allowed) -> Vec<Advice> {
    let predicted = |place| Advice {
        advised: Some(place),
        ..advice.clone()
    };
    let fits = advice.twin != TwinVerdict::DoesNotFit;
    let predicted: Vec<Advice> = match fits {
        true => best(advice, allowed).into_iter().map(predicted).collect(),
        false => Vec::new(),
    };
    let mut proposed = proposed(findings, allowed);
    if fits {
        proposed.retain(|proposed| is_not_tried(advice, proposed.remedy));
    }
    proposed.truncate(OFFERS);
    let (first, last): (Vec<_>, Vec<_>) = proposed.into_iter().partition(|p| p.finding == 0);
    let unpredicted = |p: Proposed<'_>| offer(advice, p.remedy);
    let first = first.into_iter().map(unpredicted);
    let last = last.into_iter().map(unpredicted);
    first.chain(predicted).chain(last).collect()
}

/// A remedy of a finding.
struct Proposed<'a> {
    finding: usize,
    /// Its place among those of the finding.
    rank: usize,
    remedy: &'a Remedy,
}

/// The remedies that findings propose for hosts that can be changed. Of each finding its best
/// first: another one is for a host that cannot have that.
fn proposed(findings: &Findings, allowed: Allowed) -> Vec<Proposed<'_>> {
    let mut remedies = Vec::new();
    for (finding, of) in findings.findings.iter().enumerate() {
        if of.severity >= Severity::Medium {
            let all = settings_of_hosts(of, allowed).enumerate();
            remedies.extend(all.map(|(rank, remedy)| Proposed {
                finding,
                rank,
                remedy,
            }));
        }
    }
    remedies.sort_by_key(|proposed| proposed.rank);
    remedies
}

/// Returns true if the lab cannot try the remedy.
fn is_not_tried(advice: &Advice, remedy: &Remedy) -> bool {
    let mut not_tried = advice.not_tried.iter().filter_map(|n| n.remedy.as_ref());
    not_tried.any(|other| other.action == remedy.action && other.on == remedy.on)
}

/// The indices of candidates, best first: with `at_a_cost` those that help at a cost and are worth
/// more than the best harmless one (first those whose cost is to others only, since a proof undoes
/// the rest as predicted), then the harmless ones, in case the proof finds the cost too high or a
/// host cannot have the others. Only remedies for hosts that can be changed; if there are none, the
/// advised one, whose refusal names its host.
fn best(advice: &Advice, allowed: Allowed) -> Vec<usize> {
    let possible = |effect| -> Vec<(usize, &Tried)> {
        let all = advice.tried.iter().enumerate();
        all.filter(|(_, tried)| tried.effect == effect && is_possible(tried, allowed))
            .collect()
    };
    let mut harmless = match advice.advised {
        Some(_) => possible(Effect::Helps),
        None => Vec::new(),
    };
    harmless.sort_by_key(|(place, _)| Some(*place) != advice.advised);
    let mut costly = match allowed.at_a_cost {
        true => possible(Effect::HelpsAtACost),
        false => Vec::new(),
    };
    if let Some((_, harmless)) = harmless.first() {
        costly.retain(|(_, costly)| costly.worth > harmless.worth);
    }
    costly.sort_by_key(|(_, costly)| !is_bearable(advice, costly));
    let found = costly.iter().chain(&harmless);
    let places: Vec<usize> = found.map(|(place, _)| *place).collect();
    match places.is_empty() {
        true => advice.advised.into_iter().collect(),
        false => places,
    }
}

/// Returns true if all of it is settings of hosts that can be changed.
fn is_possible(tried: &Tried, allowed: Allowed) -> bool {
    let is = |remedy: &Remedy| allowed.can_change(remedy.on) && is_a_setting(&remedy.action);
    tried.remedies.iter().all(is)
}

/// Returns true if all bounds that are not for the sake of others hold as predicted.
fn is_bearable(advice: &Advice, tried: &Tried) -> bool {
    tried.outcomes.iter().all(|after| {
        let mut all = advice.unchanged.outcomes.iter();
        let before = all.find(|before| before.direction == after.direction);
        before.is_none_or(|before| beyond(before, after).all(is_for_others))
    })
}

/// The remedies of a finding that are settings of hosts that can be changed.
fn settings_of_hosts(finding: &Finding, allowed: Allowed) -> impl Iterator<Item = &Remedy> {
    let of_hosts = finding.remedies.iter();
    let of_hosts = of_hosts.filter(move |r| allowed.can_change(r.on));
    of_hosts.filter(|r| is_a_setting(&r.action))
}

/// An Advice with a remedy without predictions.
fn offer(advice: &Advice, remedy: &Remedy) -> Advice {
    let mut offer = advice.clone();
    offer.advised = Some(offer.tried.len());
    offer.tried.push(Tried {
        name: remedy.sentence(),
        origin: Origin::Finding,
        remedies: vec![remedy.clone()],
        effect: Effect::Unsure,
        texts: Vec::new(),
        outcomes: Vec::new(),
        changes: Vec::new(),
        worth: 0.0,
        regret: 0.0,
        competitor: Vec::new(),
        pairs: 0,
        runs: Vec::new(),
    });
    offer
}

#[cfg(test)]
mod tests {
    use model::{
        advice::NotTried,
        cause::CauseCode,
        findings::Place,
        net::Direction,
        remedy::{Action, Bottleneck, CcScope, Discipline, Flow},
        text::Text,
    };

    use super::*;

    const NO_COST: Allowed = Allowed {
        at_a_cost: false,
        router: false,
    };
    const AT_A_COST: Allowed = Allowed {
        at_a_cost: true,
        router: false,
    };

    fn advice(verdict: &str, effect: &str, advised: &str) -> Advice {
        let json = format!(
            r#"{{"schema": 1, "program": "t", "run": "r", "twin": "{verdict}", "goal": "balanced",
            "says": "t", {advised} "unchanged": {{"outcomes": [], "runs": []}}, "tried": [{{
            "name": "bbr", "origin": "recipe", "remedies": [], "effect": "{effect}",
            "outcomes": [], "changes": [], "worth": 0.0, "regret": 0.0, "pairs": 1,
            "runs": []}}], "runs": 1, "failed": 0}}"#
        );
        Advice::parse(json.as_bytes()).unwrap()
    }

    fn findings(severity: Severity, actions: Vec<Action>) -> Findings {
        let remedy = |action| Remedy {
            action,
            on: Location::Near,
            why_there: Text::fixed("it sends"),
        };
        let json = r#"{"schema": 2, "program": "t", "run": "r", "summary": "s", "says": "s",
            "findings": [], "ruled_out": [], "cannot_tell": []}"#;
        let mut findings: Findings = serde_json::from_str(json).unwrap();
        findings.findings = (0..5)
            .map(|_| Finding {
                code: CauseCode::RANDOM_LOSS,
                title: Text::fixed("loss"),
                severity,
                confidence: 0.9,
                place: Place::default(),
                text: Text::fixed("loss"),
                evidence: Vec::new(),
                remedies: actions.iter().cloned().map(remedy).collect(),
                after: Vec::new(),
                settle: None,
            })
            .collect();
        findings
    }

    fn bbr() -> Action {
        Action::CongestionControl {
            cc: "bbr".to_owned(),
            scope: CcScope::Host,
        }
    }

    #[test]
    fn without_a_twin_the_findings_are_tried_each_by_itself() {
        let advice = advice("does_not_fit", "nothing", "");
        let offered = offers(
            &advice,
            &findings(Severity::High, vec![Action::Radio, bbr()]),
            NO_COST,
        );
        assert_eq!(offered.len(), OFFERS);
        for offer in offered {
            let best = offer.advised().unwrap();
            assert_eq!(best.remedies.len(), 1, "and no predicted change");
            assert_eq!(
                best.remedies[0].action,
                bbr(),
                "what is no setting is left out"
            );
            assert!(best.changes.is_empty());
        }
        assert!(offers(&advice, &findings(Severity::Low, vec![bbr()]), NO_COST).is_empty());
    }

    #[test]
    fn where_a_twin_fits_only_advised_remedies_are_tried_and_costly_ones_on_request() {
        let all = findings(Severity::High, vec![bbr()]);
        let one = advice("fit_for_advising", "helps", r#""advised": 0,"#);
        assert_eq!(offers(&one, &all, NO_COST).len(), 1);
        let costly = advice("fit_for_advising", "helps_at_a_cost", "");
        assert!(offers(&costly, &all, NO_COST).is_empty());
        assert_eq!(offers(&costly, &all, AT_A_COST).len(), 1);
    }

    /// A shaper left over on a host's own device, of 10 Mbit/s before a line of 100, stayed: the
    /// rate behind it is in no measurement, so that no twin predicts what its removal does.
    #[test]
    fn what_the_lab_cannot_try_follows_what_it_predicts_unless_it_is_of_the_first_finding() {
        let remove = Action::RemoveShaper {
            device: Some("eth0".to_owned()),
            queue: Some("tbf".to_owned()),
            rate_bps: Some(10_000_000),
        };
        let mut all = findings(Severity::Medium, vec![remove, bbr()]);
        all.findings.truncate(2);
        let mut fits = advice("fit_for_advising", "helps", r#""advised": 0,"#);
        fits.not_tried = vec![NotTried {
            name: Text::fixed("a shaper"),
            why: Text::fixed("not known"),
            remedy: Some(all.findings[0].remedies[0].clone()),
        }];
        let effects = |all: &Findings| -> Vec<Effect> {
            let offered = offers(&fits, all, NO_COST);
            let best = offered.iter().filter_map(Advice::advised);
            best.map(|tried| tried.effect).collect()
        };
        // bbr is predicted; the shaper is proposed by both findings.
        assert_eq!(
            effects(&all),
            [Effect::Unsure, Effect::Helps, Effect::Unsure]
        );
        all.findings[0].remedies.remove(0);
        assert_eq!(effects(&all), [Effect::Helps, Effect::Unsure]);
    }

    /// A shaper for the other direction was kept on a path where bbr would have made the lossy one
    /// ten times as fast.
    #[test]
    fn a_costly_remedy_is_taken_on_request_if_it_is_worth_more_than_a_harmless_one() {
        let none = findings(Severity::High, Vec::new());
        let mut both = advice("fit_for_advising", "helps", r#""advised": 0,"#);
        both.tried[0].worth = 0.1;
        let mut costly = both.tried[0].clone();
        costly.effect = Effect::HelpsAtACost;
        costly.worth = 2.3;
        both.tried.push(costly);
        let taken = |advice: &Advice, allowed| -> Vec<Option<usize>> {
            let all = offers(advice, &none, allowed);
            all.iter().map(|offer| offer.advised).collect()
        };
        assert_eq!(taken(&both, NO_COST), [Some(0)]);
        // The proof may find the cost too high.
        assert_eq!(taken(&both, AT_A_COST), [Some(1), Some(0)]);
        both.tried[0].worth = 3.0;
        assert_eq!(taken(&both, AT_A_COST), [Some(0)]);
    }

    /// bbr on both ends was undone on a path where it was needed on one: there it gained a fifth,
    /// for a tenth of the delay.
    #[test]
    fn of_costly_remedies_those_that_a_proof_would_keep_come_first() {
        let none = findings(Severity::High, Vec::new());
        let mut costly = advice("fit_for_advising", "helps_at_a_cost", "");
        let outcome = |goodput_bps, rtt_us, retransmitted| {
            let text = format!(
                r#"{{"direction": "up", "goodput_bps": {goodput_bps}, "rtt_p50_us": {rtt_us},
                "rtt_p99_us": {rtt_us}, "retransmitted": {retransmitted}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        costly.unchanged.outcomes = vec![outcome(40e6, 150_000, 0.0)];
        costly.tried.push(costly.tried[0].clone());
        costly.tried[0].outcomes = vec![outcome(48e6, 170_000, 0.0)];
        costly.tried[1].outcomes = vec![outcome(40e6, 150_000, 0.2)];
        let all = offers(&costly, &none, AT_A_COST);
        let places: Vec<_> = all.iter().map(|offer| offer.advised).collect();
        assert_eq!(places, [Some(1), Some(0)]);
    }

    #[test]
    fn remedies_for_the_ends_are_tried_before_those_for_a_router() {
        let mut advice = advice("fit_for_advising", "helps", r#""advised": 0,"#);
        let remedy = |on| Remedy {
            action: bbr(),
            on,
            why_there: Text::fixed("it sends"),
        };
        advice.tried[0].remedies = vec![remedy(Location::Router)];
        let none = findings(Severity::High, Vec::new());
        let advised = |advice: &Advice| offers(advice, &none, NO_COST)[0].advised;
        assert_eq!(advised(&advice), Some(0), "its refusal names the router");
        let mut of_ends = advice.tried[0].clone();
        of_ends.remedies = vec![remedy(Location::Far)];
        advice.tried.push(of_ends);
        assert_eq!(advised(&advice), Some(1));
    }

    /// The remedy for a line that neighbours share belongs to the router that all of them use.
    #[test]
    fn a_router_that_can_be_changed_is_offered_what_belongs_to_it() {
        let shaper = Action::Shaper {
            rate_bps: Some(47_000_000),
            queue: Discipline::Cake,
            device: None,
            flow: Flow::Egress,
            direction: Direction::Up,
            below: Bottleneck::Queue,
        };
        let mut shared = findings(Severity::High, vec![shaper]);
        shared.findings.truncate(1);
        shared.findings[0].remedies[0].on = Location::Router;
        let unknown = advice("does_not_fit", "nothing", "");
        let with = |router| Allowed { router, ..NO_COST };
        assert!(offers(&unknown, &shared, with(false)).is_empty());
        let offered = offers(&unknown, &shared, with(true));
        let best = offered[0].advised().unwrap();
        assert_eq!(best.remedies, shared.findings[0].remedies);

        let mut fits = advice("fit_for_advising", "helps", r#""advised": 0,"#);
        let mut of_ends = fits.tried[0].clone();
        of_ends.remedies = Vec::new();
        fits.tried[0].remedies = best.remedies.clone();
        fits.tried.push(of_ends);
        let first = |router| offers(&fits, &shared, with(router))[0].advised;
        assert_eq!((first(false), first(true)), (Some(1), Some(0)));
    }
}
