//! Tests of advice on twins of computed Runs, with a computed lab.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{collections::BTreeSet, time::Duration};

use corpus::compose::{self, Line, Scene};
use model::{
    advice::{Advice, AdviceFigure, Change, Effect, Goal, Origin, Tried},
    cell::{self, Cell, Queue},
    job,
    net::{Direction, Side},
    plan::Measurement,
    remedy::Action,
    run::{Run, StepKind},
    twin::{Twin, TwinFigure, TwinVerdict},
};
use twin::{Bench, Budget, Fit, Objective, Outcome, Stopped, Trials, TwinError};

/// Bytes of a full packet on the wire over those of the IP packet.
const WIRE: f64 = 1514.0 / 1500.0;

fn scene(buffer_ms: f64, loss: f64) -> Scene {
    let line = Line {
        rate_mbps: 50.0,
        rtt_ms: 40.0,
        buffer_ms,
        loss,
        ..Line::default()
    };
    Scene {
        down: line.clone(),
        up: line,
        ..Scene::default()
    }
}

/// A computed lab. A shaper of the sender replaces the queue; with a bbr competitor a cubic flow
/// gets `beside_bbr` of half of the line.
struct Lab {
    beside_bbr: f64,
    backwards: bool,
    jobs: usize,
}

impl Lab {
    fn new() -> Self {
        Self {
            beside_bbr: 1.0,
            backwards: false,
            jobs: 0,
        }
    }

    fn line(&self, cell: &Cell, direction: Direction) -> Line {
        let line = cell.path.line(direction);
        let sender = cell.ends.end(Side::sends(direction));
        let rate_bps = line.rate.unwrap().bps() as f64;
        let shaped = sender.shape.map(|rate| rate.bps() as f64);
        let buffer = line.buffer.bytes(cell.path.mtu).0 as f64;
        Line {
            rate_mbps: shaped.unwrap_or(rate_bps) / WIRE / 1e6,
            rtt_ms: cell.path.rtt().as_secs_f64() * 1e3,
            buffer_ms: match (line.queue, shaped) {
                (Queue::Fifo, None) => buffer * 8.0 / rate_bps * 1e3,
                _ => 5.0,
            },
            loss: match line.loss {
                cell::Loss::Random(share) => share.get(),
                _ => 0.0,
            },
            ..Line::default()
        }
    }

    fn run(&self, job: &job::Measure) -> Run {
        let scene = Scene {
            down: self.line(&job.cell, Direction::Down),
            up: self.line(&job.cell, Direction::Up),
            ..Scene::default()
        };
        let mut run = compose::run(&scene, 1000 + job.cell.seed.0);
        if job.plan.name == "advise" {
            // One flow of the congestion control that the plan names, in its directions.
            let planned = |direction: Direction, cc: &str| {
                job.plan.steps.iter().any(|s| match &s.measurement {
                    Measurement::Tcp {
                        direction: d,
                        cc: all,
                        ..
                    } => d.directions().contains(&direction) && all.iter().any(|c| c == cc),
                    _ => false,
                })
            };
            run.samples.retain(|s| match (s.key.direction, &s.key.cc) {
                (Some(direction), Some(cc)) => s.key.flows == Some(1) && planned(direction, cc),
                _ => s.key.step == StepKind::Idle,
            });
            for cross in &job.cell.cross {
                let kept = match cross.cc.as_deref() {
                    Some("bbr") => 0.5 * self.beside_bbr,
                    _ => 0.5,
                };
                for tcp in run.samples.iter_mut().filter_map(|s| s.tcp.as_mut()) {
                    tcp.goodput_bps *= kept;
                }
            }
        }
        run
    }
}

impl Bench for Lab {
    fn measure(
        &mut self,
        jobs: &[job::Measure],
        seen: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped> {
        self.jobs += jobs.len();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        if self.backwards {
            order.reverse();
        }
        for place in order {
            let run = self.run(&jobs[place]);
            seen(place, Outcome::Run(Box::new(run), format!("run-{place}")));
        }
        Ok(())
    }
}

fn fitted(scene: &Scene) -> Twin {
    let run = compose::run(scene, 7);
    let fit = Fit::prepare(&run, Budget::Of(Duration::from_secs(600)), "test").unwrap();
    let mut twin = fit.search(&mut Lab::new()).unwrap();
    // The subject of these tests is the advice.
    twin.verdict = TwinVerdict::FitForAdvising;
    twin
}

fn objective(goal: Goal, keep: &[&str]) -> Objective {
    Objective {
        goal,
        keep: keep.iter().map(|k| k.parse().unwrap()).collect(),
        budget: Budget::Of(Duration::from_secs(600)),
    }
}

fn advise(twin: &Twin, objective: Objective, lab: &mut Lab) -> Advice {
    let trials = Trials::prepare(twin, objective, "test").unwrap();
    let advice = trials.search(lab).unwrap();
    assert!(
        lab.jobs <= trials.runs(),
        "{} > {}",
        lab.jobs,
        trials.runs()
    );
    advice
}

/// Queue disciplines that an advised shaper has.
fn shapers(advice: &Advice) -> usize {
    let best = advice.advised().expect("something is advised");
    let is = |a: &Action| matches!(a, Action::Shaper { .. });
    best.remedies.iter().filter(|r| is(&r.action)).count()
}

#[test]
fn a_large_buffer_is_answered_with_a_shaper() {
    let twin = fitted(&scene(400.0, 0.0));
    let advice = advise(&twin, objective(Goal::Latency, &[]), &mut Lab::new());
    assert!(shapers(&advice) > 0, "{}", advice.text);
    let best = advice.advised().unwrap();
    let delays = best
        .changes
        .iter()
        .filter(|c| c.figure == AdviceFigure::LoadedP50);
    assert!(delays.map(|c| c.ratio).fold(f64::INFINITY, f64::min) < 0.3);
    assert!(!best.runs.is_empty() && best.pairs > 0);
}

#[test]
fn queues_of_both_directions_are_answered_with_remedies_for_both() {
    let mut scene = scene(150.0, 0.0);
    scene.up.buffer_ms = 400.0;
    let twin = fitted(&scene);
    let advice = advise(&twin, objective(Goal::Latency, &[]), &mut Lab::new());
    let best = advice.advised().unwrap();
    for direction in [Direction::Down, Direction::Up] {
        let delay = best.change(direction, AdviceFigure::LoadedP50).unwrap();
        assert!(delay.ratio < 0.5, "{direction} in {}", advice.text);
    }
}

#[test]
fn on_a_good_path_nothing_is_changed_and_each_recipe_has_a_reason() {
    let twin = fitted(&scene(8.0, 0.0));
    let advice = advise(&twin, objective(Goal::Throughput, &[]), &mut Lab::new());
    assert_eq!(advice.advised, None, "{}", advice.text);
    assert!(advice.text.to_string().starts_with("change nothing"));
    let silent: Vec<String> = advice
        .tried
        .iter()
        .filter(|t| t.effect == Effect::Nothing && t.texts.is_empty())
        .filter(|t| t.remedies.len() == 1)
        .map(|t| t.name.to_string())
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn random_loss_is_answered_with_bbr_where_it_harms_no_other_flow() {
    let twin = fitted(&scene(20.0, 0.01));
    let advice = advise(&twin, objective(Goal::Throughput, &[]), &mut Lab::new());
    let best = advice.advised().expect("bbr");
    let bbr = |a: &Action| matches!(a, Action::CongestionControl { cc, .. } if cc == "bbr");
    assert!(
        best.remedies.iter().any(|r| bbr(&r.action)),
        "{}",
        advice.text
    );
    // In case 4, the effect of the recipe was said to come from dualpi2: the bbr of the finding is
    // for one route, that of the recipe for the host.
    let recipes = advice.tried.iter();
    let recipes = recipes.filter(|t| t.name.to_string().contains("recipe for a full VPS"));
    let said: Vec<String> = recipes
        .flat_map(|t| t.texts.iter().map(ToString::to_string))
        .filter(|text| text.contains("effect comes from"))
        .collect();
    assert!(!said.is_empty(), "{}", advice.text);
    assert!(
        said.iter().all(|text| text.contains("from bbr")),
        "{said:?}"
    );
}

/// In case 1, a gain of 6.3 was predicted from one pair as if it had no spread, and 2.5 came true.
#[test]
fn the_interval_of_a_prediction_has_the_spread_that_the_fit_saw_between_repeats() {
    let mut twin = fitted(&scene(20.0, 0.01));
    let mut width = |noise: f64| {
        for held in &mut twin.held_out {
            held.noise = Some(noise);
        }
        let advice = advise(&twin, objective(Goal::Throughput, &[]), &mut Lab::new());
        let goodput = |t: &Tried| Some(*t.change(Direction::Down, AdviceFigure::Goodput)?);
        let changes: Vec<(usize, Change)> = advice
            .tried
            .iter()
            .filter_map(|t| Some((t.pairs, goodput(t)?)))
            .collect();
        let few = changes.iter().min_by_key(|(pairs, _)| *pairs).unwrap();
        (few.1.high / few.1.low).ln()
    };
    let (quiet, noisy) = (width(0.01), width(0.3));
    assert!(noisy > quiet + 0.3, "{quiet} {noisy}");
}

/// On a geostationary path all goodputs with a remedy were right, and their ratios were not: the
/// twin had 8 % more without one than was measured.
#[test]
fn the_error_of_the_twin_without_a_remedy_is_in_the_interval_of_each() {
    let twin = fitted(&scene(20.0, 0.0));
    let narrowest = |twin: &Twin| {
        let advice = advise(twin, objective(Goal::Throughput, &[]), &mut Lab::new());
        let changes = advice.tried.iter().filter_map(|t| {
            t.change(Direction::Down, AdviceFigure::Goodput)
                .map(|c| (c.high / c.ratio).ln())
        });
        changes.reduce(f64::min).unwrap()
    };
    let mut wrong = twin.clone();
    for fitted in &mut wrong.fitted {
        if fitted.figure == TwinFigure::Goodput {
            fitted.measured = fitted.twin / 1.08;
        }
    }
    let (before, after) = (narrowest(&twin), narrowest(&wrong));
    assert!(before < 0.07 && after > 1.08_f64.ln(), "{before} {after}");
}

#[test]
fn a_remedy_that_starves_a_competing_flow_is_not_advised() {
    let twin = fitted(&scene(20.0, 0.01));
    let mut lab = Lab {
        beside_bbr: 0.1,
        ..Lab::new()
    };
    let advice = advise(&twin, objective(Goal::Throughput, &[]), &mut lab);
    let harmful = advice
        .tried
        .iter()
        .find(|t| t.competitor.iter().any(|c| c.ratio < 0.5))
        .expect("harm is measured");
    assert_eq!(harmful.effect, Effect::HelpsAtACost);
    let text: Vec<String> = harmful.texts.iter().map(ToString::to_string).collect();
    assert!(
        text.iter().any(|s| s.contains("competing cubic flow")),
        "{text:?}"
    );
    let bbr = |a: &Action| matches!(a, Action::CongestionControl { cc, .. } if cc == "bbr");
    if let Some(best) = advice.advised() {
        assert!(
            !best.remedies.iter().any(|r| bbr(&r.action)),
            "{}",
            advice.text
        );
    }
}

#[test]
fn a_bound_that_a_remedy_breaks_keeps_it_from_being_advised() {
    let twin = fitted(&scene(400.0, 0.0));
    let keep = ["goodput>=99%"];
    let advice = advise(&twin, objective(Goal::Latency, &keep), &mut Lab::new());
    if let Some(best) = advice.advised() {
        for change in best
            .changes
            .iter()
            .filter(|c| c.figure == AdviceFigure::Goodput)
        {
            assert!(change.ratio >= 0.98, "{}: {change:?}", best.name);
        }
    }
    let broken = advice.tried.iter().flat_map(|t| &t.texts);
    assert!(
        broken
            .map(ToString::to_string)
            .any(|s| s.contains("goodput >= 99 % of the value without a change")),
        "{advice:?}"
    );
}

#[test]
fn the_same_twin_gives_the_same_advice_in_whatever_order_the_lab_ends() {
    let twin = fitted(&scene(100.0, 0.001));
    let bytes = |backwards| {
        let mut lab = Lab {
            backwards,
            ..Lab::new()
        };
        let mut advice = advise(&twin, objective(Goal::Balanced, &[]), &mut lab);
        // The names given by this lab are indices.
        advice.tried.iter_mut().for_each(|t| t.runs.clear());
        serde_json::to_vec(&advice).unwrap()
    };
    assert_eq!(bytes(false), bytes(true));
}

#[test]
fn an_advice_round_trips() {
    let twin = fitted(&scene(100.0, 0.001));
    let advice = advise(
        &twin,
        objective(Goal::Balanced, &["rtt<=200ms"]),
        &mut Lab::new(),
    );
    let text = serde_json::to_vec(&advice).unwrap();
    assert_eq!(Advice::parse(&text).unwrap(), advice);
}

#[test]
fn untriable_remedies_are_listed_separately_with_a_reason() {
    let twin = fitted(&scene(100.0, 0.0));
    let advice = advise(&twin, objective(Goal::Balanced, &[]), &mut Lab::new());
    let tried: BTreeSet<String> = advice.tried.iter().map(|t| t.name.to_string()).collect();
    assert!(!advice.not_tried.is_empty());
    for not_tried in &advice.not_tried {
        assert!(!not_tried.why.is_empty());
        assert!(
            !tried.contains(&not_tried.name.to_string()),
            "{not_tried:?}"
        );
    }
}

#[test]
fn nothing_is_advised_on_a_twin_that_does_not_fit() {
    let mut twin = fitted(&scene(400.0, 0.0));
    twin.verdict = TwinVerdict::DoesNotFit;
    let advice = advise(&twin, objective(Goal::Latency, &[]), &mut Lab::new());
    assert_eq!(advice.advised, None);
    assert!(advice.text.to_string().contains("does not fit"));
}

#[test]
fn a_budget_below_one_run_of_each_states_the_required_bytes() {
    let twin = fitted(&scene(100.0, 0.0));
    let objective = Objective {
        budget: Budget::Of(Duration::from_secs(1)),
        ..Objective::default()
    };
    let error = Trials::prepare(&twin, objective, "test").unwrap_err();
    let TwinError::NoBudget { needs_s } = error else {
        panic!("{error}");
    };
    let enough = Objective {
        budget: Budget::Of(Duration::from_secs(needs_s)),
        ..Objective::default()
    };
    assert!(Trials::prepare(&twin, enough, "test").is_ok());
}

/// Half of the value of a list of recipes is in those that do nothing.
#[test]
fn each_recipe_that_does_nothing_says_why_and_where_it_would_do_something() {
    for (buffer_ms, loss) in [(20.0, 0.0), (100.0, 0.0), (20.0, 0.001)] {
        let twin = fitted(&scene(buffer_ms, loss));
        let advice = advise(&twin, objective(Goal::Balanced, &[]), &mut Lab::new());
        let nothing = |t: &&Tried| t.effect == Effect::Nothing && t.origin != Origin::Finding;
        let idle: Vec<&Tried> = advice.tried.iter().filter(nothing).collect();
        assert!(!idle.is_empty());
        for tried in idle {
            let texts: Vec<String> = tried.texts.iter().map(ToString::to_string).collect();
            let where_ = |t: &String| t.contains("help") || t.contains("already");
            let [first, parts @ ..] = texts.as_slice() else {
                panic!("no text: {}", tried.name);
            };
            let each = parts.iter().all(where_) && (where_(first) || !parts.is_empty());
            assert!(each, "{}: {texts:?}", tried.name);
        }
    }
}

/// TCP only, without probes, counts of segments and round trips under load.
#[test]
fn a_run_through_iperf3_gets_advice_that_says_what_the_run_lacks() {
    let mut run = compose::run(&scene(100.0, 0.0), 7);
    run.samples.retain(|s| s.key.step == StepKind::Tcp);
    for sample in &mut run.samples {
        sample.probes = None;
        for flow in sample.tcp.iter_mut().flat_map(|t| &mut t.flows) {
            (flow.segments, flow.rtt_p50_us, flow.rtt_p95_us) = (None, None, None);
        }
    }
    let fit = Fit::prepare(&run, Budget::Of(Duration::from_secs(600)), "test").unwrap();
    let twin = fit.search(&mut Lab::new()).unwrap();
    assert!(twin.effort.runs > 0);
    let advice = advise(&twin, objective(Goal::Balanced, &[]), &mut Lab::new());
    let notes: Vec<String> = advice.notes.iter().map(ToString::to_string).collect();
    for part in [
        "no latency probes without load",
        "no UDP load above the path's capacity",
        "loss outside of the queue is unknown",
        "no load shows the size of the queue",
    ] {
        assert!(notes.iter().any(|n| n.contains(part)), "{part}: {notes:?}");
    }
}
