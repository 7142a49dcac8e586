//! docs/reference/plan.md against the program.

#![allow(clippy::unwrap_used)]

use measure::plans;
use model::plan::Plan;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/plan.md");
    std::fs::read_to_string(path).unwrap()
}

/// Every plan on the page, in order.
fn on_the_page() -> Vec<Plan> {
    let page = page();
    let blocks = page.split("```toml\n").skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap())
        .map(|text| plans::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}")))
        .collect()
}

#[test]
fn the_plans_of_the_program_are_those_on_the_page() {
    let page = on_the_page();
    let own = [plans::quick(), plans::default(), plans::thorough()];
    assert_eq!(page[page.len() - 3..], own);
}

#[test]
fn every_key_of_a_plan_is_on_the_page() {
    fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(map) => {
                for (key, value) in map {
                    found.push(key.clone());
                    keys(value, found);
                }
            }
            serde_json::Value::Array(all) => all.iter().for_each(|value| keys(value, found)),
            _ => {}
        }
    }
    let mut plan = plans::thorough();
    plan.seed = Some(model::units::Seed(1));
    plan.budget.bytes = Some(1);
    plan.budget.time_s = Some(1.0);
    plan.layers.push(model::net::Layer::Tunnel);
    plan.families.push(model::net::IpVersion::V6);
    let mut found = Vec::new();
    keys(&serde_json::to_value(&plan).unwrap(), &mut found);
    let page = page();
    for key in found {
        assert!(
            page.contains(&format!("`{key}`")),
            "{key} is not on the page"
        );
    }
}
