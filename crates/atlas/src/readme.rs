//! The generated parts of the atlas's README, between marks; the text around them is written by
//! hand.

use std::fmt::Write;

use crate::{
    cell::{Cell, Factor, levels},
    finding::{self, Found},
    heat, number, page,
    source::{self, Source},
    table,
};

/// Name of its file.
pub const FILE: &str = "README.md";

/// A README without a mark that the program replaces.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the README lacks `<!-- {0} -->` or the `<!-- end -->` after it")]
pub struct NoMark(&'static str);

const END: &str = "<!-- end -->";

/// The README with its generated parts replaced.
///
/// # Errors
/// A mark is missing.
pub fn filled(
    text: &str,
    cells: &[Cell],
    source: &Source,
    found: &[Found],
) -> Result<String, NoMark> {
    let parts = [
        ("what", what(cells, source)),
        ("factors", factors(cells)),
        ("findings", findings(found)),
        ("maps", maps()),
        ("source", sources(source)),
    ];
    let mut text = text.to_owned();
    for (mark, part) in parts {
        text = replaced(&text, mark, &part).ok_or(NoMark(mark))?;
    }
    Ok(text)
}

fn replaced(text: &str, mark: &str, part: &str) -> Option<String> {
    let begin = format!("<!-- {mark} -->\n");
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}{part}{END}{after}"))
}

fn what(cells: &[Cell], source: &Source) -> String {
    let invalid = cells.iter().filter(|cell| !cell.valid).count();
    let sample = match source.sample {
        true => " **This is a sample, not the whole sweep.**",
        false => "",
    };
    let invalid = match invalid {
        0 => String::new(),
        n => format!(" {n} of them are not valid, and no finding or map uses them."),
    };
    format!(
        "{} cells.{invalid}{sample}\n\n\
         | | |\n|---|---|\n\
         | [{page}]({page}) | search in all cells, and the settings of a path: one file, works offline |\n\
         | [{table}]({table}) | the table: a line for each cell |\n\
         | [{lines}]({lines}) | the cells of each finding, by their line in the table |\n\
         | [{source}]({source}) | kernel image, guest program and digests |\n\n",
        cells.len(),
        page = page::FILE,
        table = table::FILE,
        lines = finding::FILE,
        source = source::FILE,
    )
}

fn factors(cells: &[Cell]) -> String {
    let mut text = "| factor | column | levels |\n|---|---|---|\n".to_owned();
    for factor in Factor::ALL {
        let levels: Vec<String> = levels(cells, factor)
            .iter()
            .map(|l| number::level(l))
            .collect();
        let _ = writeln!(
            text,
            "| {} | `{}` | {} |",
            factor.words(),
            factor.name(),
            levels.join(", ")
        );
    }
    text
}

fn findings(found: &[Found]) -> String {
    let mut text = String::new();
    for (number, one) in found.iter().enumerate() {
        let finding = one.finding;
        let _ = write!(
            text,
            "### {}. {}\n\n{}\n\n",
            number + 1,
            finding.claim,
            finding.text
        );
        let shown = match one.holds() {
            true => "it holds",
            false => "**it does not hold**",
        };
        let _ = write!(
            text,
            "Rule: {}. Shown if {}: {shown}. [Its cells]({}#{}).\n\n{}\n",
            finding.rule.words(),
            finding.shown_if,
            page::FILE,
            page::address(&finding.rule),
            groups(one)
        );
    }
    text
}

fn groups(one: &Found) -> String {
    let rule = one.finding.rule;
    let names: Vec<&str> = rule.by.iter().map(|factor| factor.words()).collect();
    let mut text = format!(
        "| {} | n | median | lowest to highest |\n|{}\n",
        names.join(" | "),
        "---|".repeat(names.len() + 3)
    );
    for group in &one.groups {
        let levels: Vec<String> = group.levels.iter().map(|l| number::level(l)).collect();
        let [median, low, high] = [group.median, group.low, group.high].map(|v| rule.print(v));
        let _ = writeln!(
            text,
            "| {} | {} | {median} | {low} to {high} |",
            levels.join(" | "),
            group.n
        );
    }
    text
}

fn maps() -> String {
    let one = |map: heat::Heat| format!("![{}](maps/{}.svg)\n\n", map.title, map.file);
    heat::all().into_iter().map(one).collect()
}

fn sources(source: &Source) -> String {
    let mut text = format!(
        "| | |\n|---|---|\n\
         | kernel | {} |\n\
         | SHA-256 of the kernel image | `{}` |\n\
         | BLAKE3 of the guest program | `{}` |\n\
         | BLAKE3 of all rows as JSON lines, in the order below | `{}` |\n\
         | BLAKE3 of `{}` | `{}` |\n\n\
         | spec | cells | BLAKE3 of its rows, as `lab gather` prints it |\n|---|--:|---|\n",
        source.kernel,
        source.image,
        source.guest,
        source.rows,
        table::FILE,
        source.table,
    );
    for sweep in &source.specs {
        let _ = writeln!(
            text,
            "| [{file}.toml]({file}.toml) | {} | `{}` |",
            sweep.cells,
            sweep.rows,
            file = sweep.file
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_and_the_text_around_it_is_kept() {
        let text = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\n<!-- end -->\n";
        let new = replaced(text, "x", "new\n");
        let expected = "a\n<!-- x -->\nnew\n<!-- end -->\nb\n<!-- y -->\n<!-- end -->\n";
        assert_eq!(new.as_deref(), Some(expected));
        assert_eq!(replaced(text, "z", "new\n"), None);
    }
}
