//! Congestion controls of a plan that an end lacks.

use model::{
    facts::CongestionFacts,
    net::{Direction, Side},
    plan::{Measurement, Plan},
    text,
    text::Text,
};

use super::schedule::USUAL;

/// Questions that each missing one leaves open, and how to load it.
pub(crate) fn lacking(
    plan: &Plan,
    side: Side,
    usable: &[String],
    facts: &CongestionFacts,
) -> Vec<Text> {
    let sends = plan.steps.iter().any(|step| match &step.measurement {
        Measurement::Tcp { direction, cc, .. } => {
            let directions = direction.directions();
            let ours = |direction: &Direction| Side::sends(*direction) == side;
            cc.is_empty() && directions.iter().any(ours)
        }
        _ => false,
    });
    let missing = USUAL
        .iter()
        .filter(|name| !usable.iter().any(|u| u == *name));
    missing
        .filter(|_| sends)
        .map(|name| advice(name, side, facts))
        .collect()
}

fn advice(name: &str, side: Side, facts: &CongestionFacts) -> Text {
    let host = side.to_string();
    let available = facts.available.iter().flatten().any(|a| a == name);
    if !available {
        return text!(
            "{cc}, which the kernel of the {host} has not loaded (there, as root: modprobe tcp_{cc}): whether a \
             change between it and another congestion control helps is open",
            cc = name,
            host = host
        );
    }
    let allowed = facts.allowed.iter().flatten();
    let list: Vec<&str> = allowed.map(String::as_str).chain([name]).collect();
    text!(
        "{cc}, which only root may use on the {host} (there, as root: sysctl -w \
         net.ipv4.tcp_allowed_congestion_control='{list}'): whether a change between it and another congestion \
         control helps is open",
        cc = name,
        host = host,
        list = list.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    /// A user of a host that allows reno and bbr measured bbr alone, without a note.
    #[test]
    fn cubic_that_is_allowed_to_root_only_is_named_with_the_way_to_it() {
        let facts = CongestionFacts {
            default: Some("bbr".to_owned()),
            allowed: Some(names(&["reno", "bbr"])),
            available: Some(names(&["reno", "bbr", "cubic"])),
        };
        let plan = crate::plans::quick();
        let near = lacking(&plan, Side::Near, &names(&["reno", "bbr"]), &facts);
        assert_eq!(near.len(), 1);
        let text = near[0].to_string();
        let command = "sysctl -w net.ipv4.tcp_allowed_congestion_control='reno bbr cubic'";
        assert!(text.starts_with("cubic, which only root may use"), "{text}");
        assert!(text.contains(command), "{text}");
        let all = names(&["reno", "bbr", "cubic"]);
        assert_eq!(lacking(&plan, Side::Near, &all, &facts), []);
    }

    #[test]
    fn a_module_that_is_not_loaded_is_named() {
        let facts = CongestionFacts {
            available: Some(names(&["reno", "cubic"])),
            ..CongestionFacts::default()
        };
        let plan = crate::plans::quick();
        let far = lacking(&plan, Side::Far, &names(&["reno", "cubic"]), &facts);
        assert!(
            far[0].to_string().contains("modprobe tcp_bbr"),
            "{}",
            far[0]
        );
        let named = crate::plans::parse(
            "[[step]]\nkind = \"tcp\"\ndirection = \"down\"\nflows = 1\ncc = [\"reno\"]\nduration_s = 5\n",
        );
        let named = named.unwrap();
        assert_eq!(lacking(&named, Side::Far, &names(&["reno"]), &facts), []);
    }
}
