//! Messages: one for each change. They hold texts with values, which are formatted only when a
//! message is delivered, logged or shown.

use model::{
    findings::Findings,
    safe, text,
    text::{Text, Value},
};
use serde::{Deserialize, Serialize};

use crate::figures::Figure;

/// Version of [`Message`].
pub const MESSAGE_SCHEMA: u32 = 1;

/// A message, as it is kept until it is delivered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// [`MESSAGE_SCHEMA`] of the writer.
    pub schema: u32,
    /// Number; a message that is delivered twice has it twice.
    pub id: u64,
    /// The path; of [`Event::Drifted`] this host.
    pub path: String,
    /// The event.
    pub event: Event,
    /// Estimated start, µs since 1970.
    pub at_us: u64,
    /// Time of detection, µs since 1970.
    pub found_us: u64,
    /// The figures that changed.
    pub figures: Vec<FigureChange>,
    /// The facts of the hosts that changed around that time.
    pub facts: Vec<FactChange>,
    /// Changes of `tune` around that time, by id.
    pub changes: Vec<String>,
    /// The causes that the run after it shows, the most important first.
    pub causes: Vec<Cause>,
    /// Id of that run in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// Kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Figures changed, and stayed.
    Changed,
    /// The kernel or the default congestion control of a host changed, and no figure with it.
    HostChanged,
    /// The far end does not answer.
    Unreachable,
    /// It answers again.
    Reachable,
    /// Somebody has set what a kept change of `tune` had set.
    Drifted,
    /// The short loads of the path measure nothing within their bytes.
    LoadsTooSmall,
    /// A kept change of `tune` no longer helps, and its undoing is requested.
    Useless,
}

/// A figure that changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureChange {
    /// The figure.
    #[serde(flatten)]
    pub figure: Figure,
    /// Before: s, share or bit/s.
    pub before: f64,
    /// After.
    pub after: f64,
    /// After over before, less one; absent if it was 0 before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
}

/// A fact of a host that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactChange {
    /// First sample with the new value, µs since 1970.
    pub at_us: u64,
    /// Its name, such as `near.kernel`.
    pub fact: String,
    /// Before; absent if it was not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// After.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A cause that a run shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Its code: one of [`model::cause::CauseCode`], `unreachable`, `drift`, `load_bytes`,
    /// or `useless`.
    pub code: String,
    /// Description in one sentence.
    pub text: Text,
}

/// The causes among findings.
pub fn causes(findings: &Findings) -> Vec<Cause> {
    let cause = |finding: &model::findings::Finding| Cause {
        code: finding.code.to_string(),
        text: finding.text.clone(),
    };
    findings.findings.iter().map(cause).collect()
}

impl Message {
    /// All of it, a text for each line.
    pub fn lines(&self) -> Vec<Text> {
        let mut lines = vec![self.headline()];
        lines.extend(self.figures.iter().map(FigureChange::text));
        lines.extend(self.facts.iter().map(FactChange::text));
        lines.extend(self.changes.iter().map(|change| match self.event {
            Event::Drifted => text!(
                "to undo change {change}: pathtwin tune undo {change}",
                change = change
            ),
            Event::Useless => text!(
                "a request to undo change {change} waits for root's `pathtwin tune recheck`",
                change = change
            ),
            _ => text!(
                "at that time: change {change} of pathtwin tune",
                change = change
            ),
        }));
        let cause = |cause: &Cause| {
            let (code, text) = (&cause.code, cause.text.clone());
            text!("{code}: {text}", code = code, text = text)
        };
        lines.extend(self.causes.iter().map(cause));
        let evidence = |run| text!("all evidence: pathtwin explain {run}", run = run);
        lines.extend(self.run.as_ref().map(evidence));
        lines
    }

    fn headline(&self) -> Text {
        let path = &self.path;
        match self.event {
            Event::Changed => text!("{path}: a lasting change", path = path),
            Event::HostChanged => text!(
                "{path}: a host has changed, and no watched figure with it",
                path = path
            ),
            Event::Unreachable => text!("{path}: the far end does not answer", path = path),
            Event::Reachable => text!("{path}: the far end answers again", path = path),
            Event::Drifted => text!(
                "{path}: somebody else has changed settings of a kept change of pathtwin tune",
                path = path
            ),
            Event::LoadsTooSmall => {
                text!("{path}: the short loads measure no goodput", path = path)
            }
            Event::Useless => text!(
                "{path}: a kept change of pathtwin tune no longer helps",
                path = path
            ),
        }
    }

    /// All of it in English, one line each.
    pub fn words(&self) -> String {
        let lines: Vec<String> = self.lines().iter().map(Text::to_string).collect();
        safe::lines(&lines.join("\n")).to_string()
    }

    /// The message as a program or a webhook gets it: with its texts in English.
    ///
    /// # Errors
    /// None in practice: every field has a JSON form.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let named = |change| Named {
            name: FigureChange::name(change).to_string(),
            change,
        };
        let said = |cause: &'_ Cause| Said {
            code: cause.code.clone(),
            text: cause.text.to_string(),
        };
        serde_json::to_vec(&Delivered {
            schema: self.schema,
            id: self.id,
            path: &self.path,
            event: self.event,
            at_us: self.at_us,
            found_us: self.found_us,
            figures: self.figures.iter().map(named).collect(),
            facts: &self.facts,
            changes: &self.changes,
            causes: self.causes.iter().map(said).collect(),
            run: self.run.as_deref(),
            text: self.words(),
        })
    }
}

impl FigureChange {
    /// The figure's name for people.
    pub fn name(&self) -> Text {
        self.figure.text()
    }

    fn text(&self) -> Text {
        let show = |value| self.figure.kind.value(value);
        let shift = model::watch::shift(show(self.before), show(self.after), self.change);
        text!("{figure}: {shift}", figure = self.name(), shift = shift)
    }
}

impl FactChange {
    fn text(&self) -> Text {
        let or = |value: &Option<String>| match value {
            Some(value) => Value::from(value),
            None => text!("unknown").into(),
        };
        text!(
            "at that time {fact}: {before} to {after}",
            fact = &self.fact,
            before = or(&self.before),
            after = or(&self.after)
        )
    }
}

/// A message as it is delivered: the fields of [`Message`], with its texts in English.
#[derive(Serialize)]
struct Delivered<'a> {
    schema: u32,
    id: u64,
    path: &'a str,
    event: Event,
    at_us: u64,
    found_us: u64,
    figures: Vec<Named<'a>>,
    facts: &'a [FactChange],
    changes: &'a [String],
    causes: Vec<Said>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    /// All of it in words.
    text: String,
}

/// A changed figure with its name for people.
#[derive(Serialize)]
struct Named<'a> {
    name: String,
    #[serde(flatten)]
    change: &'a FigureChange,
}

/// A cause with its sentence in English.
#[derive(Serialize)]
struct Said {
    code: String,
    text: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A message of 0.1.0, whose texts were strings.
    const OLD: &str = r#"{"schema":1,"id":7,"path":"office","event":"changed","at_us":1,
        "found_us":2,"figures":[{"name":"goodput down (underlay/v4)","kind":"goodput",
        "layer":"underlay","family":"v4","direction":"down","before":94e6,"after":47e6,
        "change":-0.5}],"facts":[{"at_us":1,"fact":"far.kernel","after":"6.12"}],"changes":[],
        "causes":[{"code":"policer","text":"a policer"}],"run":"r","text":"office: ..."}"#;

    #[test]
    fn a_message_of_an_older_version_is_read_and_delivered_with_the_same_fields() {
        let old: Message = serde_json::from_str(OLD).unwrap();
        assert_eq!(
            old.words(),
            "office: a lasting change\n\
             goodput down (underlay/v4): 94 Mbit/s to 47 Mbit/s, 50 % lower\n\
             at that time far.kernel: unknown to 6.12\n\
             policer: a policer\n\
             all evidence: pathtwin explain r"
        );
        let sent: serde_json::Value = serde_json::from_slice(&old.to_json().unwrap()).unwrap();
        let mut expected: serde_json::Value = serde_json::from_str(OLD).unwrap();
        expected["text"] = old.words().into();
        assert_eq!(sent, expected);
    }

    #[test]
    fn a_stored_cause_keeps_its_values() {
        let text = text!("{code}: {text}", code = "drift", text = text!("unknown"));
        let cause = Cause {
            code: "drift".to_owned(),
            text,
        };
        let stored = serde_json::to_string(&cause).unwrap();
        assert_eq!(serde_json::from_str::<Cause>(&stored).unwrap(), cause);
    }
}
