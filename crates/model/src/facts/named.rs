//! Facts about the ends of a run, flat, to find changes from one run to another.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::run::Run;

/// Facts that vary on their own and explain nothing.
const RESTLESS: [&str; 13] = [
    "handle",
    "handshake_age_s",
    "index",
    "irqs",
    "notes",
    "parent",
    "pid",
    "rx_bitrate_bps",
    "schema",
    "signal_dbm",
    "tx_bitrate_bps",
    "tx_failed",
    "tx_retries",
];

/// The facts of a run by dotted name, such as `near.congestion.default`, as text.
pub fn named(run: &Run) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for (name, end) in [("near", &run.near), ("far", &run.far)] {
        facts.insert(format!("{name}.program"), end.program.clone());
        if let Ok(value) = serde_json::to_value(&end.facts) {
            flatten(name, &value, &mut facts);
        }
    }
    facts
}

/// Adds the contents of a value. Lists of plain values are one fact; elements of other lists are
/// named by their name or kind if they have one, so that a new element does not rename the others.
fn flatten(name: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                if !RESTLESS.contains(&field.as_str()) {
                    flatten(&format!("{name}.{field}"), value, facts);
                }
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (at, item) in items.iter().enumerate() {
                let own = item.get("name").and_then(Value::as_str);
                let own = own.map_or_else(|| at.to_string(), str::to_owned);
                flatten(&format!("{name}.{own}"), item, facts);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            facts.insert(name.to_owned(), items.join(" "));
        }
        Value::Null => {}
        other => {
            facts.insert(name.to_owned(), plain(other));
        }
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Facts that are not the same in both, with their values.
pub fn differences(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<(String, Option<String>, Option<String>)> {
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| {
            (
                name.clone(),
                before.get(name).cloned(),
                after.get(name).cloned(),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_flat_and_named() {
        let value = serde_json::json!({
            "kernel": "6.12",
            "index": 3,
            "congestion": {"default": "bbr", "allowed": ["bbr", "cubic"]},
            "devices": [{"name": "eth0", "mtu": 1500, "qdiscs": [{"kind": "fq", "handle": "8001:"}]}],
        });
        let mut facts = BTreeMap::new();
        flatten("near", &value, &mut facts);
        let text: Vec<String> = facts.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(
            text,
            [
                "near.congestion.allowed=bbr cubic",
                "near.congestion.default=bbr",
                "near.devices.eth0.mtu=1500",
                "near.devices.eth0.name=eth0",
                "near.devices.eth0.qdiscs.0.kind=fq",
                "near.kernel=6.12",
            ]
        );
    }

    #[test]
    fn added_removed_and_changed_facts_differ() {
        let map = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect::<BTreeMap<_, _>>()
        };
        let changed = differences(
            &map(&[("a", "1"), ("b", "1")]),
            &map(&[("b", "2"), ("c", "3")]),
        );
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            changed,
            [
                ("a".to_owned(), some("1"), None),
                ("b".to_owned(), some("1"), some("2")),
                ("c".to_owned(), None, some("3")),
            ]
        );
    }
}
