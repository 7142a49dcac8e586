//! Errors of a load in its outcome.
//!
//! The first servers of this version of the protocol sent and read them as plain sentences, so they
//! are sent twice: in English (`errors`), and as templates with values (`error_texts`).

use model::text::Text;
use serde::{Deserialize, Serialize};

/// Errors of a load's connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Fields", into = "Fields")]
pub struct Errors(pub Vec<Text>);

/// The fields that they have in an outcome.
#[derive(Serialize, Deserialize)]
struct Fields {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    error_texts: Vec<Text>,
}

impl From<Errors> for Fields {
    fn from(Errors(error_texts): Errors) -> Self {
        Self {
            errors: error_texts.iter().map(Text::to_string).collect(),
            error_texts,
        }
    }
}

impl From<Fields> for Errors {
    fn from(fields: Fields) -> Self {
        if fields.error_texts.is_empty() {
            return Self(fields.errors.into_iter().map(Text::plain).collect());
        }
        Self(fields.error_texts)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::text;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::wire::message::{QuicOutcome, TcpOutcome};

    /// The outcome of bulk TCP as readers knew it that have only plain sentences.
    #[derive(Deserialize)]
    struct Plain {
        cc_used: Vec<String>,
        #[serde(default)]
        errors: Vec<String>,
    }

    fn failed(errors: Vec<Text>) -> TcpOutcome {
        TcpOutcome {
            cc_used: vec!["reno".to_owned()],
            errors: Errors(errors),
            ..TcpOutcome::default()
        }
    }

    #[test]
    fn plain_sentences_of_an_earlier_server_are_read() {
        let sentence = "Connection reset by peer (os error 104) {x}";
        let read: TcpOutcome = serde_json::from_value(json!({
            "flows": [], "cc_used": ["reno"], "errors": [sentence],
        }))
        .unwrap();
        assert_eq!(read, failed(vec![Text::plain(sentence)]));
        assert_eq!(read.errors.0[0].to_string(), sentence);
        let read: QuicOutcome = serde_json::from_value(json!({
            "series": {"at_us": [], "columns": {}}, "cc_used": "", "errors": ["QUIC: timed out"],
        }))
        .unwrap();
        assert_eq!(read.errors.0, [Text::plain("QUIC: timed out")]);
    }

    #[test]
    fn an_earlier_client_reads_plain_sentences() {
        let sent = failed(vec![
            text!("timed out"),
            text!("an answer of {length} bytes", length = 7_u64),
        ]);
        let read: Plain = serde_json::from_slice(&serde_json::to_vec(&sent).unwrap()).unwrap();
        assert_eq!(read.errors, ["timed out", "an answer of 7 bytes"]);
        assert_eq!(read.cc_used, ["reno"]);
    }

    #[test]
    fn a_load_without_errors_has_no_field_for_them() {
        let sent = serde_json::to_value(failed(Vec::new())).unwrap();
        assert_eq!(sent, json!({"flows": [], "cc_used": ["reno"]}));
    }

    proptest! {
        #[test]
        fn what_is_sent_is_read_back(
            errors in prop::collection::vec((".{0,20}", any::<Option<u32>>()), 0..4),
        ) {
            let errors = errors.into_iter().map(|(words, number)| match number {
                Some(n) => text!("{words}: {n} bytes", words = words, n = n),
                None => Text::plain(words),
            });
            let sent = failed(errors.collect());
            let bytes = serde_json::to_vec(&sent).unwrap();
            prop_assert_eq!(serde_json::from_slice::<TcpOutcome>(&bytes).unwrap(), sent);
        }
    }
}
