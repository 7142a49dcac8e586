//! Changes of a host for people.

use model::change::{Change, Saved, Setting, State};

/// A change: its steps with old and new values, and the next action.
pub fn text(change: &Change) -> String {
    let mut text = format!("change {}: {}\n", change.id.short(), change.state);
    if change.steps.is_empty() {
        text.push_str("nothing to change\n");
    }
    text.push_str(&steps(change));
    for target in &change.probes {
        text.push_str(&format!("  new connections to {target} must succeed\n"));
    }
    if let Some(why) = &change.undone_because {
        text.push_str(&format!("  {why}\n"));
    }
    if change.state == State::Planned {
        text.push_str(&notes(change));
    }
    text.push_str(next(change));
    text
}

/// What is planned on a host, with its notes and conflicts; empty if there is neither.
pub fn plan(host: &str, change: &Change) -> String {
    let all = steps(change) + &notes(change);
    match all.is_empty() {
        true => all,
        false => format!("on {host}:\n{all}"),
    }
}

fn steps(change: &Change) -> String {
    let when = match change.state {
        State::Planned | State::RolledBack => "now",
        _ => "before",
    };
    let mut text = String::new();
    for (number, step) in change.steps.iter().enumerate() {
        text.push_str(&format!(
            "  {}. {} ({when} {})\n",
            number + 1,
            step.setting,
            value(&step.setting, &step.old)
        ));
        if let Some(origin) = &step.origin {
            text.push_str(&format!("     proposed by finding {}\n", origin.finding));
        }
    }
    text
}

fn notes(change: &Change) -> String {
    let line = |note| format!("  note: {note}\n");
    change.warnings.iter().map(line).collect()
}

/// All changes, one a line.
pub fn list(changes: &[Change]) -> String {
    let line = |change: &Change| {
        let settings: Vec<String> = change.steps.iter().map(|s| s.setting.to_string()).collect();
        format!(
            "{}  {}  {}\n",
            change.id.short(),
            change.state,
            settings.join("; ")
        )
    };
    match changes {
        [] => "no changes\n".to_owned(),
        all => all.iter().map(line).collect(),
    }
}

/// Returns the user's next action.
fn next(change: &Change) -> &'static str {
    match change.state {
        State::Planned if !change.steps.is_empty() => {
            "nothing was changed; `pathtwin tune apply` with the same arguments does it\n"
        }
        State::Applied | State::Verified => {
            "undone at its deadline unless you run `pathtwin tune confirm`, better from a new login: \
             an established connection may survive what breaks new ones\n"
        }
        State::RollbackFailed { .. } => {
            "set what remains by hand, or try `pathtwin tune undo` again\n"
        }
        _ => "",
    }
}

fn value(setting: &Setting, saved: &Saved) -> String {
    match saved {
        Saved::MssClamp { present: true } => "a clamp".to_owned(),
        Saved::MssClamp { present: false } => "none".to_owned(),
        Saved::Offloads { active, .. } => match setting {
            Setting::Offload { feature, .. } if active.contains(feature) => "on".to_owned(),
            _ => "off".to_owned(),
        },
        Saved::Rings { rx, tx } => format!("rx={rx} tx={tx}"),
        Saved::Channels {
            rx, tx, combined, ..
        } => format!("rx={rx} tx={tx} combined={combined}"),
        Saved::Modules { .. } => "not loaded".to_owned(),
        Saved::Processors { masks } => format!("mask {}", masks.join(" ")),
        Saved::Parameter { value, .. } => value.clone(),
        Saved::Route { .. } => "the route has another or none".to_owned(),
        Saved::NoRoute => "no route of its own".to_owned(),
        Saved::Queues { qdiscs, .. } => qdiscs
            .first()
            .map_or("none", |q| q.kind.as_str())
            .to_owned(),
        Saved::NoIngress => "no shaper".to_owned(),
        Saved::Ingress { .. } => "a hook for received packets".to_owned(),
        Saved::Mtu { bytes, .. } => format!("{bytes} bytes"),
        Saved::Number { value } => value.to_string(),
        Saved::NoDevice => format!("no device {}", setting.device().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn change(state: &str) -> Change {
        let json = format!(
            r#"{{"schema":1,"program":"0","id":"{}","state":{{"is":"{state}"}},
            "scope":{{"boot":"b","netns":1,"host":"h"}},"steps":[{{
            "setting":{{"kind":"sysctl","name":"net.ipv4.tcp_ecn","value":"1"}},
            "old":{{"kind":"parameter","value":"2"}}}}]}}"#,
            "0a".repeat(16)
        );
        Change::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_pending_change_names_the_command_to_keep_it() {
        let message = text(&change("applied"));
        assert!(
            message.contains("net.ipv4.tcp_ecn = 1 (before 2)"),
            "{message}"
        );
        assert!(message.contains("pathtwin tune confirm"), "{message}");
    }

    #[test]
    fn a_plan_of_a_host_has_its_steps_and_its_conflicts() {
        let mut change = change("planned");
        change.warnings = vec![model::text!("its keeper died")];
        assert_eq!(
            plan("far", &change),
            "on far:\n  1. net.ipv4.tcp_ecn = 1 (now 2)\n  note: its keeper died\n"
        );
        change.steps.clear();
        change.warnings.clear();
        assert_eq!(plan("far", &change), "");
    }

    /// The reason was found by the wording of the preceding note.
    #[test]
    fn an_undone_change_states_why_unless_requested() {
        let mut change = change("rolled_back");
        let asked = text(&change);
        change.undone_because = Some(model::text!("its keeper died"));
        let undone = text(&change);
        assert!(undone.contains("  its keeper died\n") && !asked.contains("keeper"));
    }
}
