//! CHANGELOG.md as release notes, and in the format of Debian (Debian Policy 4.4).

use crate::{Epoch, PackageError};

/// The changelog without its introduction.
#[derive(Debug)]
pub struct Changelog<'a> {
    /// Versions, the newest first.
    sections: Vec<Section<'a>>,
}

#[derive(Debug)]
struct Section<'a> {
    /// Text of the heading, such as "0.1.0" or "Unreleased".
    version: &'a str,
    text: &'a str,
}

impl<'a> Changelog<'a> {
    /// Reads a changelog: sections are headings of the second level, "## [0.1.0] - 2026-11-22".
    pub fn parse(text: &'a str) -> Self {
        let starts = text.match_indices("\n## ").map(|(at, _)| at + 1);
        let mut starts: Vec<usize> = starts.collect();
        if text.starts_with("## ") {
            starts.insert(0, 0);
        }
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let section = |(start, end): (usize, usize)| {
            let (heading, text) = text[start..end].split_once('\n').unwrap_or_default();
            let version = heading.trim_start_matches("## ").trim_start_matches('[');
            let end = version.find([']', ' ']).unwrap_or(version.len());
            let version = &version[..end];
            Section { version, text }
        };
        let sections = starts.iter().copied().zip(ends).map(section).collect();
        Self { sections }
    }

    /// The section of a version. Unreleased changes belong to the version of the sources.
    fn section(&self, version: &str) -> Option<&Section<'a>> {
        let find = |wanted: &str| self.sections.iter().find(|s| s.version == wanted);
        find(version).or_else(|| find("Unreleased"))
    }

    /// Release notes of a version in Markdown: its section, with each entry on one line, since
    /// release pages preserve line breaks.
    ///
    /// # Errors
    /// The changelog has neither the version nor an unreleased section.
    pub fn notes(&self, version: &str) -> Result<String, PackageError> {
        let unknown = || PackageError::NoVersion(version.to_owned());
        let section = self.section(version).ok_or_else(unknown)?;
        let mut notes = String::new();
        for line in section.text.trim().lines() {
            if let Some(rest) = line.strip_prefix("  ").filter(|_| notes.ends_with('\n')) {
                notes.pop();
                notes.push(' ');
                notes.push_str(rest.trim_start());
            } else {
                notes.push_str(line);
            }
            notes.push('\n');
        }
        Ok(notes)
    }

    /// An entry for a version in Debian's format.
    ///
    /// # Errors
    /// The changelog has neither the version nor an unreleased section.
    pub fn debian(
        &self,
        version: &str,
        maintainer: &str,
        epoch: Epoch,
    ) -> Result<String, PackageError> {
        let mut text = format!("pathtwin ({version}) unstable; urgency=medium\n\n");
        for line in self.notes(version)?.lines() {
            if let Some(kind) = line.strip_prefix("### ") {
                text.push_str(&format!("  [ {kind} ]\n"));
            } else if let Some(entry) = line.strip_prefix("- ") {
                text.push_str(&wrapped(entry));
            }
        }
        let date = date(epoch);
        text.push_str(&format!("\n -- {maintainer}  {date}\n"));
        Ok(text)
    }
}

/// An entry as lines of at most 80 columns.
fn wrapped(entry: &str) -> String {
    let mut text = "  *".to_owned();
    let mut column = text.len();
    for word in entry.split_whitespace() {
        if column + 1 + word.len() > 80 && column > 4 {
            text.push_str("\n   ");
            column = 3;
        }
        text.push(' ');
        text.push_str(word);
        column += 1 + word.len();
    }
    text.push('\n');
    text
}

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A time as RFC 5322 writes it, in UTC.
fn date(epoch: Epoch) -> String {
    let (year, month, day) = calendar(epoch);
    let weekday = DAYS[usize::try_from(epoch.0 / 86_400 % 7).unwrap_or(0)];
    let month = MONTHS[month - 1];
    format!("{weekday}, {day:02} {month} {year} {} +0000", clock(epoch))
}

/// A time as RFC 3339 writes it, in UTC.
pub(crate) fn timestamp(epoch: Epoch) -> String {
    let (year, month, day) = calendar(epoch);
    format!("{year}-{month:02}-{day:02}T{}Z", clock(epoch))
}

fn clock(epoch: Epoch) -> String {
    let (hour, minute, second) = (epoch.0 / 3_600 % 24, epoch.0 / 60 % 60, epoch.0 % 60);
    format!("{hour:02}:{minute:02}:{second:02}")
}

/// Year, month from 1, and day from 1.
fn calendar(epoch: Epoch) -> (u64, usize, u64) {
    // Conversion of days to a Gregorian date: eras of 400 years begin on 1 March of year 0, so that
    // the leap day is the last day.
    let day = epoch.0 / 86_400 + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = (month + 2) % 12;
    let year = year + era * 400 + u64::from(month < 2);
    (year, usize::try_from(month).unwrap_or(0) + 1, day)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const TEXT: &str = "# Changelog\n\nIntroduction.\n\n## [Unreleased]\n\n### Added\n\n- One\n  line.\n- Two.\n\n\
                        ## [0.1.0] - 2026-01-02\n\n### Fixed\n\n- Old.\n";

    #[test]
    fn notes_are_of_one_version_with_an_entry_a_line() {
        let log = Changelog::parse(TEXT);
        assert_eq!(log.notes("0.1.0").unwrap(), "### Fixed\n\n- Old.\n");
        assert_eq!(
            log.notes("0.2.0").unwrap(),
            "### Added\n\n- One line.\n- Two.\n"
        );
        let released = Changelog::parse("## [0.1.0]\n\n- Old.\n");
        assert!(released.notes("0.2.0").is_err());
    }

    #[test]
    fn dates_are_those_of_date() {
        let leap = 1_709_164_800; // 2024-02-29
        for epoch in [
            0,
            951_782_400,
            leap,
            leap + 86_400,
            1_795_000_001,
            4_102_444_799,
        ] {
            let output = Command::new("date")
                .args(["--utc", "--rfc-email", "--date"])
                .arg(format!("@{epoch}"))
                .output()
                .unwrap();
            let expected = String::from_utf8(output.stdout).unwrap();
            assert_eq!(date(Epoch(epoch)), expected.trim());
            let output = Command::new("date")
                .args(["--utc", "+%Y-%m-%dT%H:%M:%SZ", "--date"])
                .arg(format!("@{epoch}"))
                .output()
                .unwrap();
            let expected = String::from_utf8(output.stdout).unwrap();
            assert_eq!(timestamp(Epoch(epoch)), expected.trim());
        }
    }

    #[test]
    fn lines_for_debian_are_short() {
        let text = wrapped(&"word ".repeat(60));
        assert!(text.lines().all(|line| line.len() <= 80));
        assert_eq!(text.split_whitespace().count(), 61);
    }
}
