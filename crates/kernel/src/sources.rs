//! The apt sources of the host, read only to determine its mirror.
//!
//! Both formats: one line an entry (`sources.list(5)`) and deb822 (`*.sources`).

use std::path::{Path, PathBuf};

/// The archive that every Debian mirror copies.
pub(super) const DEFAULT_ARCHIVE: &str = "http://deb.debian.org/debian";

/// One archive and the suites taken from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) uri: String,
    pub(super) suites: Vec<String>,
}

/// Reads the one-line format.
pub(super) fn parse_list(text: &str) -> Vec<Entry> {
    text.lines().filter_map(parse_list_line).collect()
}

fn parse_list_line(line: &str) -> Option<Entry> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb")?;
    if !rest.starts_with([' ', '\t', '[']) {
        return None; // deb-src
    }
    let mut rest = rest.trim_start();
    if let Some(options) = rest.strip_prefix('[') {
        rest = options.split_once(']')?.1.trim_start();
    }
    let mut words = rest.split_whitespace();
    let uri = words.next()?.to_owned();
    let suites = words.next().into_iter().map(str::to_owned).collect();
    Some(Entry { uri, suites })
}

/// Reads the deb822 format: paragraphs of `Field: value`, continued by indented lines.
pub(super) fn parse_deb822(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            entries.extend(paragraph(&fields));
            fields.clear();
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    entries
}

fn paragraph(fields: &[(String, String)]) -> Vec<Entry> {
    let words = |wanted: &str| -> Vec<String> {
        fields
            .iter()
            .filter(|(name, _)| name == wanted)
            .flat_map(|(_, value)| value.split_whitespace().map(str::to_owned))
            .collect()
    };
    let disabled = words("enabled")
        .first()
        .is_some_and(|value| value.eq_ignore_ascii_case("no"));
    if disabled || !words("types").iter().any(|kind| kind == "deb") {
        return Vec::new();
    }
    words("uris")
        .into_iter()
        .map(|uri| Entry {
            uri,
            suites: words("suites"),
        })
        .collect()
}

/// The host's mirror of the Debian archive, if its sources name one that carries every suite.
///
/// Security archives, snapshots and archives of other distributions and vendors are not suitable; a
/// mirror is identified by its path, which ends in `/debian`.
pub(super) fn debian_mirror(entries: &[Entry]) -> Option<String> {
    entries
        .iter()
        .map(|entry| entry.uri.trim_end_matches('/'))
        .find(|uri| {
            let network = uri.starts_with("http://") || uri.starts_with("https://");
            network && uri.ends_with("/debian") && !uri.contains("archive.debian.org")
        })
        .map(str::to_owned)
}

/// Reads all of the host's sources below a folder like `/etc/apt`.
pub(super) fn read_host(etc_apt: &Path) -> Vec<Entry> {
    let mut files: Vec<PathBuf> = vec![etc_apt.join("sources.list")];
    if let Ok(dir) = std::fs::read_dir(etc_apt.join("sources.list.d")) {
        let mut parts: Vec<_> = dir.flatten().map(|entry| entry.path()).collect();
        parts.sort();
        files.extend(parts);
    }
    let mut entries = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        match file.extension().and_then(|ext| ext.to_str()) {
            Some("list") => entries.extend(parse_list(&text)),
            Some("sources") => entries.extend(parse_deb822(&text)),
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_entries_are_read() {
        let text = "# comment\n\
            deb-src http://a.example/debian sid main\n\
            deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian/ bookworm main contrib # x\n\
            deb\thttp://b.example/debian-security bookworm-security main\n";
        let entries = parse_list(text);
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].uri, "http://mirror.example/debian/");
        assert_eq!(entries[0].suites, ["bookworm"]);
        assert_eq!(
            debian_mirror(&entries).as_deref(),
            Some("http://mirror.example/debian")
        );
    }

    #[test]
    fn deb822_entries_are_read() {
        let text = "Types: deb deb-src\n# snapshot\nURIs: https://one.example/debian\n  https://two.example/debian\n\
            Suites: bookworm bookworm-updates\nComponents: main\nSigned-By:\n -----BEGIN\n .\n\n\
            Enabled: no\nTypes: deb\nURIs: https://off.example/debian\nSuites: x\n\n\
            Types: deb-src\nURIs: https://src.example/debian\nSuites: x\n";
        let entries = parse_deb822(text);
        let uris: Vec<_> = entries.iter().map(|entry| entry.uri.as_str()).collect();
        assert_eq!(
            uris,
            ["https://one.example/debian", "https://two.example/debian"]
        );
        assert_eq!(entries[1].suites, ["bookworm", "bookworm-updates"]);
    }

    #[test]
    fn other_archives_are_not_a_debian_mirror() {
        for uri in [
            "http://archive.ubuntu.com/ubuntu",
            "http://deb.debian.org/debian-security",
            "http://snapshot.debian.org/archive/debian/20250520T000000Z",
            "http://archive.debian.org/debian",
            "cdrom:[x]/debian",
        ] {
            let entries = [Entry {
                uri: uri.to_owned(),
                suites: Vec::new(),
            }];
            assert_eq!(debian_mirror(&entries), None, "{uri}");
        }
    }

    #[test]
    fn files_of_both_formats_are_found_and_others_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let parts = dir.path().join("sources.list.d");
        std::fs::create_dir(&parts).unwrap();
        std::fs::write(
            parts.join("a.sources"),
            "Types: deb\nURIs: http://a.example/debian\nSuites: x\n",
        )
        .unwrap();
        std::fs::write(parts.join("b.list"), "deb http://b.example/debian x main\n").unwrap();
        std::fs::write(
            parts.join("c.list.save"),
            "deb http://c.example/debian x main\n",
        )
        .unwrap();
        assert_eq!(read_host(dir.path()).len(), 2);
    }
}
