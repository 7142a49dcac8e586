#![allow(clippy::unwrap_used)]

use super::*;

fn wrong(text: &str) -> String {
    parse("w.toml", text).unwrap_err().to_string()
}

#[test]
fn the_example_is_read_and_has_the_defaults() {
    let config = parse("w.toml", EXAMPLE).unwrap();
    assert_eq!(config.month_bytes, 5_000_000_000);
    let path = &config.paths[0];
    assert_eq!(
        (path.name.as_str(), path.host.as_str()),
        ("office", "office.example")
    );
    assert_eq!(path.probe, Some(Duration::from_secs(120)));
    assert_eq!(path.load, Some(Duration::from_secs(7200)));
    assert_eq!(path.metered, Metered::Auto);
    assert_eq!(config.alarm.change, 0.05);
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest() {
    assert_eq!(
        wrong("[[path]]\nhost = \"a\"\n\nlaod = \"1h\"\n"),
        "w.toml:4: path[0].laod: unknown key; did you mean \"load\"?"
    );
    assert!(wrong("[budgte]\nmonth = \"1GB\"\n[[path]]\nhost = \"a\"\n").contains("\"budget\""));
}

#[test]
fn all_problems_are_reported_at_once_with_valid_values() {
    let text = "listen = \"0.0.0.0:80\"\n[budget]\nmonth = \"2 apples\"\n[alarm]\nquiet = \"22-7\"\n\
                change = \"80%\"\nwebhook = \"ftp://x\"\n[[path]]\nload = \"1s\"\nopen = \"yes\"\n";
    let error = parse("w.toml", text).unwrap_err();
    let keys: Vec<(usize, &str)> = error
        .problems
        .iter()
        .map(|p| (p.line, p.key.as_str()))
        .collect();
    assert_eq!(
        keys,
        [
            (1, "listen"),
            (3, "budget.month"),
            (5, "alarm.quiet"),
            (6, "alarm.change"),
            (7, "alarm.webhook"),
            (8, "path[0].host"),
            (9, "path[0].load"),
            (10, "path[0].open"),
        ]
    );
}

#[test]
fn unwatchable_configs_are_refused() {
    assert!(wrong("").contains("[[path]]"));
    assert!(wrong("[[path]\n").starts_with("w.toml:1:"));
    let twice = "[[path]]\nhost = \"a\"\n[[path]]\nhost = \"a\"\n";
    assert!(wrong(twice).contains("two paths"));
}

#[test]
fn never_is_a_time_and_days_are_understood() {
    let text = "[[path]]\nhost = \"a\"\nload = \"never\"\nfull = \"7d\"\n";
    let path = parse("w.toml", text).unwrap().paths.remove(0);
    assert_eq!(
        (path.load, path.full),
        (None, Some(Duration::from_secs(7 * 86_400)))
    );
}

/// "2h", which the reference names as a default, was an unknown unit.
#[test]
fn the_defaults_of_the_reference_can_be_written() {
    for (key, default, meaning) in keys::PATH {
        if !meaning.starts_with("time between") {
            continue;
        }
        let text = format!("[[path]]\nhost = \"a\"\n{key} = \"{default}\"\n");
        let written = parse("w.toml", &text).unwrap();
        assert_eq!(
            written,
            parse("w.toml", "[[path]]\nhost = \"a\"\n").unwrap()
        );
    }
}

#[test]
fn quiet_hours_may_include_midnight() {
    let night = QuietHours {
        from: 22 * 60,
        to: 7 * 60,
    };
    assert!(night.has(23 * 60) && night.has(0) && night.has(7 * 60 - 1));
    assert!(!night.has(7 * 60) && !night.has(12 * 60));
    let noon = QuietHours {
        from: 12 * 60,
        to: 13 * 60,
    };
    assert!(noon.has(12 * 60) && !noon.has(13 * 60));
}

proptest::proptest! {
    /// Any text is a config, or refused with lines that it has.
    #[test]
    fn any_text_is_read_or_refused_with_its_lines(text in "(\\PC|\n){0,200}") {
        if let Err(error) = parse("w.toml", &text) {
            let lines = text.lines().count().max(1);
            proptest::prop_assert!(!error.problems.is_empty());
            proptest::prop_assert!(error.problems.iter().all(|p| (1..=lines + 1).contains(&p.line)));
        }
    }

    /// The example with any one line replaced by another key and value.
    #[test]
    fn a_config_with_a_changed_line_is_read_or_refused(
        at in 0usize..12, key in "[a-z_]{1,8}", value in "[0-9]{1,9}|\"[ -!#-~]{0,12}\"|true|\\[\\]"
    ) {
        let mut lines: Vec<String> = EXAMPLE.lines().map(str::to_owned).collect();
        let at = at % lines.len();
        lines[at] = format!("{key} = {value}");
        if let Ok(config) = parse("w.toml", &lines.join("\n")) {
            proptest::prop_assert_eq!(crate::schedule::paces(&config).len(), config.paths.len());
        }
    }
}
