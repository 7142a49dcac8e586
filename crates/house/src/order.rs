//! Order of the crates in the table in ARCHITECTURE.md: the crates that each may use.

use std::{fs, path::Path};

/// The crates as the table has them, the lowest first: lines that begin with a name in backquotes.
pub(crate) fn table(architecture: &str) -> Vec<&str> {
    let rows = architecture.lines().filter_map(|l| l.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` |").map(|(name, _)| name))
        .collect()
}

/// Returns violations of the order as sentences: crates that are not in the table, and uses of
/// crates below. Uses in tests do not count.
pub fn breaches(workspace: &Path) -> Vec<String> {
    let text = fs::read_to_string(workspace.join("ARCHITECTURE.md")).unwrap_or_default();
    let order = table(&text);
    let place = |name: &str| order.iter().position(|n| *n == name);
    let mut found = Vec::new();
    for entry in fs::read_dir(workspace.join("crates"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
        let Some(own) = place(&name) else {
            found.push(format!("{name} is not in the table of ARCHITECTURE.md"));
            continue;
        };
        for used in dependencies(&manifest) {
            if place(used).is_some_and(|used| used >= own) {
                found.push(format!("{name} uses {used}, which is not above it"));
            }
        }
    }
    found.sort();
    found
}

/// Crates that a crate must not use although they are above it: the column "must not" of the table,
/// as far as a use would show it.
const FORBIDDEN: [(&str, &[&str]); 4] = [
    // It neither judges nor computes statistics: Findings come from its caller, and quantities from
    // `analysis`.
    ("report", &["explain", "stats", "store"]),
    // It does not judge.
    ("analysis", &["explain"]),
    // Rules may use measurements only, never the truth of a lab.
    ("explain", &["lab", "testbed"]),
    // What tests need only is no part of the program.
    ("pathtwin", &["attack", "corpus", "package", "validation"]),
];

/// Uses of crates that the rules of a crate forbid, in words. Uses in tests do not count.
pub fn forbidden(workspace: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for (name, others) in FORBIDDEN {
        let file = workspace.join("crates").join(name).join("Cargo.toml");
        let Ok(manifest) = fs::read_to_string(file) else {
            found.push(format!("{name} has no manifest"));
            continue;
        };
        let used = dependencies(&manifest).filter(|used| others.contains(used));
        found.extend(used.map(|used| format!("{name} must not use {used}")));
    }
    found
}

/// Names in the section `[dependencies]`.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let lines = manifest
        .lines()
        .skip_while(|l| *l != "[dependencies]")
        .skip(1);
    let lines = lines.take_while(|l| !l.starts_with('['));
    lines
        .filter_map(|l| l.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report judged the Runs that it was given.
    #[test]
    fn a_report_that_judges_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "report",
                "[dependencies]\nexplain.workspace = true\n[dev-dependencies]\nstats = \"1\"\n",
            ),
            ("analysis", "[dependencies]\nstats.workspace = true\n"),
            ("explain", "[dependencies]\nanalysis.workspace = true\n"),
            ("pathtwin", "[dev-dependencies]\ncorpus.workspace = true\n"),
        ] {
            let own = folder.path().join("crates").join(name);
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join("Cargo.toml"), text).unwrap();
        }
        let found = forbidden(folder.path());
        assert_eq!(found, ["report must not use explain"]);
    }

    #[test]
    fn the_table_is_read_in_its_order() {
        let text = "| crate | is |\n|---|---|\n| `a` | x |\n| `b_c` | `d` |\ntext `e` |\n";
        assert_eq!(table(text), ["a", "b_c"]);
    }

    #[test]
    fn a_use_of_a_crate_below_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("ARCHITECTURE.md", "| `low` | x |\n| `high` | x |\n");
        write(
            "crates/low/Cargo.toml",
            "[dependencies]\nserde = \"1\"\nhigh.workspace = true\n",
        );
        write(
            "crates/high/Cargo.toml",
            "[dependencies]\nlow = { workspace = true, optional = true }\n",
        );
        write(
            "crates/other/Cargo.toml",
            "[dev-dependencies]\nlow.workspace = true\n",
        );
        let found = breaches(folder.path());
        assert_eq!(
            found,
            [
                "low uses high, which is not above it",
                "other is not in the table of ARCHITECTURE.md"
            ]
        );
    }
}
