//! Changes of a host for people.

use model::change::{Change, Saved, Setting, State};

/// A change: its steps with old and new values, and what to do now.
pub fn text(change: &Change) -> String {
    let mut text = format!("change {}: {}\n", change.id.short(), change.state);
    if change.steps.is_empty() {
        text.push_str("nothing to change\n");
    }
    for (number, step) in change.steps.iter().enumerate() {
        text.push_str(&format!(
            "  {}. {} (now {})\n",
            number + 1,
            step.setting,
            value(&step.setting, &step.old)
        ));
        if let Some(origin) = &step.origin {
            text.push_str(&format!("     proposed by finding {}\n", origin.finding));
        }
    }
    for target in &change.probes {
        text.push_str(&format!("  new connections to {target} must succeed\n"));
    }
    if change.state == State::Planned {
        for warning in &change.warnings {
            text.push_str(&format!("  note: {warning}\n"));
        }
    }
    text.push_str(next(change));
    text
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

/// What a person does next.
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
        Saved::Parameter { value, .. } => value.clone(),
        Saved::Route { .. } => "the route has another or none".to_owned(),
        Saved::NoRoute => "no route of its own".to_owned(),
        Saved::Queues { qdiscs, .. } => qdiscs
            .first()
            .map_or("none", |q| q.kind.as_str())
            .to_owned(),
        Saved::Mtu { bytes, .. } => format!("{bytes} bytes"),
        Saved::Number { value } => value.to_string(),
        Saved::NoDevice => format!("no device {}", setting.device().unwrap_or_default()),
    }
}
