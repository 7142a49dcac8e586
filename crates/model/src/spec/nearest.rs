//! Search for the nearest valid word.

/// Maximum length: longer words are not typing errors, and comparing them is slow.
const LONGEST: usize = 60;

/// The candidate with the smallest edit distance, if it is close enough.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let cost = |c: &str| strsim::osa_distance(&wrong.to_lowercase(), &c.to_lowercase());
    if wrong.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .map(|c| (cost(c), c))
        .min_by_key(|(cost, _)| *cost)
        .filter(|(cost, c)| *cost * 2 <= c.len().max(wrong.len()))
        .map(|(_, c)| c)
}

/// The known dotted key nearest to a wrong one. The last part has the most weight: a valid key in
/// the wrong table is nearer than an invalid key in the right table.
pub(super) fn nearest_key(wrong: &str, known: Vec<String>) -> Option<String> {
    let (table, leaf) = parts(wrong);
    let cost = |key: &String| {
        let (key_table, key_leaf) = parts(key);
        let leaves = strsim::osa_distance(leaf, key_leaf);
        (leaves * 2 + strsim::osa_distance(table, key_table), leaves)
    };
    if wrong.len() > LONGEST {
        return None;
    }
    known.into_iter().min_by_key(cost)
}

fn parts(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}
