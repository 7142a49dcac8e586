//! What findings say, and how it was worded: the second gives the first.

#![allow(clippy::unwrap_used)]

use explain::{
    compose,
    corpus::{File, Part, What},
    judge,
};
use serde_json::Value;

/// Compares each text of an item that has a message with what that message says; gives how many.
fn check(item: &Value) -> usize {
    let members = match item {
        Value::Array(items) => return items.iter().map(check).sum(),
        Value::Object(members) => members,
        _ => return 0,
    };
    let mut checked = 0;
    if let Some(messages) = members.get("messages") {
        for (field, message) in messages.as_object().unwrap() {
            let message: model::message::Message = serde_json::from_value(message.clone()).unwrap();
            let text = &members[field];
            // A value of words stands beside its unit.
            let text = text.as_str().or(text["value"].as_str()).unwrap();
            assert_eq!(message.filled(&Some).as_deref(), Some(text), "{field}");
            assert!(!message.values.is_empty(), "{text}: its own template");
            checked += 1;
        }
    }
    checked + members.values().map(check).sum::<usize>()
}

#[test]
fn a_message_says_the_text_of_its_field() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") || path.ends_with("plan.toml") {
            continue;
        }
        let file = File::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        for scenario in file.scenarios().unwrap() {
            if let What::Composed(scene) = &scenario.what {
                let run = compose::run(scene, scenario.seed(Part::Evaluation).0);
                checked += check(&serde_json::to_value(judge(&run)).unwrap());
            }
        }
    }
    assert!(checked > 5000, "{checked}");
}
