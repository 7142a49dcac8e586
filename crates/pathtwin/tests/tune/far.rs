//! The commands that `fix --far-ssh` runs on the far host.

use model::{
    advice::{ADVICE_SCHEMA, Advice, Change, Effect, Goal, Origin, Tried, Unchanged},
    remedy::{Action, Location, Remedy},
    text,
    twin::TwinVerdict,
};

use super::{ecn, namespace, tune_with};

/// An Advice to request ECN on a host, and what it predicts.
pub(super) fn advice(on: Location, predicted: Vec<Change>) -> String {
    let remedy = Remedy::new(Action::Ecn { on: true }, on, text!("a test"));
    let tried = Tried {
        name: text!("ECN"),
        origin: Origin::Recipe,
        remedies: vec![remedy],
        effect: Effect::Helps,
        texts: Vec::new(),
        outcomes: Vec::new(),
        changes: predicted,
        worth: 1.0,
        regret: 0.0,
        competitor: Vec::new(),
        pairs: 1,
        runs: Vec::new(),
    };
    let advice = Advice {
        schema: ADVICE_SCHEMA,
        program: "test".to_owned(),
        run: String::new(),
        twin: TwinVerdict::OrderOnly,
        goal: Goal::Balanced,
        keep: Vec::new(),
        text: text!("a test"),
        advised: Some(0),
        settle: None,
        capacity: model::capacity::PathCapacity::default(),
        unchanged: Unchanged {
            outcomes: Vec::new(),
            runs: Vec::new(),
        },
        tried: vec![tried],
        not_tried: Vec::new(),
        notes: Vec::new(),
        runs: 1,
        failed: 0,
    };
    serde_json::to_string(&advice).unwrap()
}

/// The words that `fix --far-ssh` runs on the far host, in their order.
#[test]
fn a_far_host_plans_applies_switches_and_undoes_its_part_of_an_advice() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let plan = [
        "plan",
        "--advice",
        "-",
        "--end",
        "far",
        "--toward",
        "127.0.0.1",
    ];
    let plan: Vec<&str> = plan.into_iter().chain(["--output", "json"]).collect();
    let (code, planned) = tune_with(&journal, &plan, &advice(Location::Far, Vec::new()));
    assert_eq!(code, Some(0), "{planned}");
    let planned = &planned[planned.find('{').unwrap()..=planned.rfind('}').unwrap()];
    let id = serde_json::from_str::<serde_json::Value>(planned).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let done = |words: &[&str], input: &str, expected: &str| {
        let (code, message) = tune_with(&journal, words, input);
        assert_eq!(code, Some(0), "{words:?}: {message}");
        assert_eq!(ecn(), expected, "{words:?}");
    };
    done(&["apply", "--plan", "-"], planned, "1\n");
    done(&["confirm", &id, "--prolong", "600s"], "", "1\n");
    done(&["aside", &id], "", &before);
    done(&["again", &id], "", "1\n");
    done(&["undo", &id], "", &before);
}
