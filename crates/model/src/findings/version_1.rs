//! Upgrade of Findings of schema 1, in which texts are strings and the templates and values of
//! those with values are in separate `messages` maps, keyed by field name.

use serde_json::Value;

/// Parses Findings of schema 1 as a document of the present schema.
pub(super) fn upgraded(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut document = serde_json::from_slice(text)?;
    upgrade(&mut document);
    remedies(&mut document);
    Ok(document)
}

/// Replaces each text by its message, recursively.
fn upgrade(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(upgrade),
        Value::Object(members) => {
            let messages = members.remove("messages");
            members.values_mut().for_each(upgrade);
            let Some(Value::Object(messages)) = messages else {
                return;
            };
            for (field, message) in messages {
                match members.get_mut(&field) {
                    // The value of a text is next to its unit.
                    Some(Value::Object(value)) => {
                        value.insert("value".to_owned(), message);
                    }
                    Some(text) => *text = message,
                    None => {}
                }
            }
        }
        _ => {}
    }
}

/// Findings of schema 1 had one remedy each.
fn remedies(document: &mut Value) {
    let findings = document.get_mut("findings").and_then(Value::as_array_mut);
    for finding in findings.into_iter().flatten() {
        let Some(members) = finding.as_object_mut() else {
            continue;
        };
        if let Some(remedy) = members.remove("remedy") {
            members.insert("remedies".to_owned(), Value::Array(vec![remedy]));
        }
    }
}
