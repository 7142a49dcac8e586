//! Circles in a graph of dependencies.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    path::PathBuf,
};

use crate::{resolve::Dependencies, tree::Place};

/// A step of a circle: a module that depends on the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The module, such as `crate::a::b`.
    pub module: String,
    /// The file in which it names the next one.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// Modules that depend on each other: each on the next, and the last on the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle(pub Vec<Step>);

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modules = self.0.iter().chain(self.0.first());
        let names: Vec<&str> = modules.map(|step| step.module.as_str()).collect();
        write!(f, "{}", names.join(" -> "))?;
        for step in &self.0 {
            write!(f, "\n    {}:{}", step.file.display(), step.line)?;
        }
        Ok(())
    }
}

/// The shortest circle through each dependency that is part of one, each circle once.
pub(crate) fn find(all: &Dependencies) -> Vec<Circle> {
    let mut found: BTreeMap<BTreeSet<&Place>, Circle> = BTreeMap::new();
    for (from, targets) in all {
        for to in targets.keys() {
            let Some(back) = shortest(all, to, from) else {
                continue;
            };
            // From `from` to `to`, and the path back without its last place, which is `from`.
            let mut places = vec![from];
            places.extend(&back[..back.len() - 1]);
            let key = places.iter().copied().collect();
            found.entry(key).or_insert_with(|| circle(all, &places));
        }
    }
    found.into_values().collect()
}

fn circle(all: &Dependencies, places: &[&Place]) -> Circle {
    let nexts = places.iter().cycle().skip(1);
    let steps = places.iter().zip(nexts).map(|(place, next)| {
        let (file, line) = all[*place][*next].clone();
        Step {
            module: name(place),
            file,
            line,
        }
    });
    Circle(steps.collect())
}

fn name(place: &Place) -> String {
    let mut name = "crate".to_owned();
    for part in place {
        name.push_str("::");
        name.push_str(part);
    }
    name
}

/// The places on the shortest path, including both ends, by breadth-first search.
fn shortest<'a>(all: &'a Dependencies, from: &'a Place, to: &'a Place) -> Option<Vec<&'a Place>> {
    let mut before: BTreeMap<&Place, &Place> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            let mut chain = vec![at];
            while let Some(previous) = chain.last().and_then(|last| before.get(last)) {
                chain.push(previous);
                if *previous == from {
                    break;
                }
            }
            chain.reverse();
            return Some(chain);
        }
        for next in all.get(at).into_iter().flat_map(BTreeMap::keys) {
            if next != from && !before.contains_key(next) {
                before.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}
