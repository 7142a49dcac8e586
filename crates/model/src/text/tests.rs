#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::text;

fn german() -> Catalogue {
    let words = [
        ("{cc} gets {rate}", "{rate} bekommt {cc}"),
        ("nothing", "nichts"),
        ("{n} bytes", "{n} Byte"),
        ("{What}.", "{What}."),
    ];
    let words = words.map(|(english, own)| (english.to_owned(), own.to_owned()));
    Catalogue::new(words.into(), true)
}

#[test]
fn a_translation_may_say_values_in_another_order() {
    let message = text!("{cc} gets {rate}", cc = "cubic", rate = text!("nothing"));
    assert_eq!(message.to_string(), "cubic gets nothing");
    let own = message.render(&german());
    assert_eq!(own.as_deref(), Some("nichts bekommt cubic"));
}

#[test]
fn a_value_is_not_a_template() {
    let message = text!("{cc} gets {rate}", cc = "{rate}", rate = "1");
    assert_eq!(message.to_string(), "{rate} gets 1");
    let own = message.render(&german());
    assert_eq!(own.as_deref(), Some("1 bekommt {rate}"));
}

#[test]
fn a_missing_entry_is_not_half_translated() {
    let message = text!("{cc} gets {rate}", cc = "cubic", rate = text!("little"));
    assert_eq!(message.render(&german()), None);
}

#[test]
fn units_that_are_words_are_translated() {
    let message = text!("{cc} gets {rate}", cc = "cubic", rate = Value::Bytes(9.0));
    let own = message.render(&german());
    assert_eq!(own.as_deref(), Some("9 Byte bekommt cubic"));
}

#[test]
fn a_capital_name_begins_a_sentence() {
    let message = text!("{What}.", What = text!("nothing"));
    assert_eq!(message.to_string(), "Nothing.");
    assert_eq!(message.render(&german()).as_deref(), Some("Nichts."));
    let none = Catalogue::new([("{What}.".into(), "{What}。".into())].into(), false);
    let command = text!("{What}.", What = "tc qdisc");
    assert_eq!(command.render(&none).as_deref(), Some("tc qdisc。"));
}

#[test]
fn braces_of_a_text_without_values_are_only_braces() {
    assert_eq!(Text::plain("a {b} c").to_string(), "a {b} c");
}

#[test]
fn a_text_without_values_is_a_plain_string_in_a_document() {
    let text = text!("no load ran");
    let written = serde_json::to_string(&text).unwrap();
    assert_eq!(written, r#""no load ran""#);
    assert_eq!(serde_json::from_str::<Text>(&written).unwrap(), text);
}

#[test]
fn a_text_with_values_includes_its_english() {
    let text = text!("{cc} gets {rate}", cc = "bbr", rate = Value::Bps(1e6));
    let written = serde_json::to_string(&text).unwrap();
    assert_eq!(
        written,
        r#"{"text":"bbr gets 1 Mbit/s","template":"{cc} gets {rate}","values":{"cc":"bbr","rate":{"unit":"bps","value":1000000.0}}}"#
    );
    assert_eq!(serde_json::from_str::<Text>(&written).unwrap(), text);
}

#[test]
fn a_message_of_schema_1_is_a_text() {
    let message = r#"{"template":"{cc} wins","values":{"cc":{"template":"none"}}}"#;
    let text: Text = serde_json::from_str(message).unwrap();
    assert_eq!(text, text!("{cc} wins", cc = text!("none")));
}

#[test]
fn a_text_that_doubles_at_every_level_is_not_rendered() {
    let mut text = Text::plain("x");
    for _ in 0..12 {
        text = text!("{a}{b}", a = text.clone(), b = text);
    }
    assert_eq!(text.to_string(), "{a}{b}");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0.0..1e12).prop_map(Value::Bps),
        (-1e9..1e9).prop_map(Value::Us),
        (0.0..1.0).prop_map(Value::Share),
        (0.0..1e12).prop_map(Value::Bytes),
        (0.0..1e9).prop_map(Value::Count),
        (0.0..1e3).prop_map(Value::Ratio),
        (-120.0..30.0).prop_map(Value::Dbm),
        ".{0,12}".prop_map(Value::Name),
        ".{0,12}".prop_map(|words| Value::Text(Text::plain(words))),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        (inner.clone(), inner).prop_map(|(a, b)| Value::Text(text!("{a}, {b}", a = a, b = b)))
    })
}

proptest! {
    #[test]
    fn written_files_are_read_back(value in value()) {
        let written = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value.clone());
        let text = text!("so {value}", value = value);
        let written = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(serde_json::from_str::<Text>(&written).unwrap(), text);
    }

    #[test]
    fn english_holds_every_value(name in "[a-z{}]{0,9}", number in 0.0..1e12) {
        let text = text!("{name}: {rate}!", name = &name, rate = Value::Bps(number));
        prop_assert_eq!(text.to_string(), format!("{name}: {}!", Value::Bps(number)));
    }
}
