//! Histories as text: one document a line.

use std::{
    collections::BTreeMap,
    io::{BufRead, Write},
};

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;

use model::{history::Kind, text, text::Text};

use crate::{Cause, Document, Filter, Saved, Store, StoreError};

/// Version of [`Line`].
const ARCHIVE: u32 = 1;

/// Documents that are saved together while importing.
const TOGETHER: usize = 100;

/// Bytes that are saved together, and held in memory until then.
const BYTES_TOGETHER: usize = 64 << 20;

/// Maximum length of a line of an archive beyond its document, bytes.
const AROUND: u64 = 1 << 20;

/// A document in an archive without its body, which is the last member.
#[derive(Serialize)]
struct Head<'a> {
    pathtwin_archive: u32,
    kind: Kind,
    id: &'a str,
    schema: u32,
    created_us: u64,
    path: &'a str,
    labels: &'a BTreeMap<String, String>,
}

/// The same with its body, for reading.
#[derive(Deserialize)]
struct Line {
    pathtwin_archive: u32,
    kind: Kind,
    id: String,
    schema: u32,
    created_us: u64,
    path: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    body: Box<RawValue>,
}

/// Result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Documents that are new.
    pub added: u64,
    /// Documents already in the history.
    pub known: u64,
}

impl Store {
    /// Writes the documents selected by the filter, newest first, one per line; returns their
    /// number.
    ///
    /// # Errors
    ///
    /// A document is damaged, the history cannot be read, or `out` cannot be written.
    pub fn export(&mut self, filter: &Filter, out: &mut dyn Write) -> Result<u64, StoreError> {
        let entries = self.list(filter)?;
        for entry in &entries {
            let damaged = |why: Cause| StoreError::Damaged {
                id: entry.id.clone(),
                why,
            };
            let mut body = self.body(entry.kind, &entry.id)?;
            // Checks that it is JSON without a second copy.
            let text = std::str::from_utf8(&body).map_err(|e| damaged(e.into()))?;
            let checked: Result<IgnoredAny, _> = serde_json::from_str(text);
            checked.map_err(|e| damaged(e.into()))?;
            one_line(&mut body);
            let head = Head {
                pathtwin_archive: ARCHIVE,
                kind: entry.kind,
                id: &entry.id,
                schema: entry.schema,
                created_us: entry.created_us,
                path: &entry.path,
                labels: &entry.labels,
            };
            let head = serde_json::to_string(&head).map_err(|e| damaged(e.into()))?;
            let head = head.strip_suffix('}').unwrap_or_default();
            let parts = [head.as_bytes(), b",\"body\":", &body, b"}\n"];
            for part in parts {
                out.write_all(part).map_err(|e| StoreError::Format {
                    what: text!("the archive"),
                    why: e.into(),
                })?;
            }
        }
        Ok(entries.len() as u64)
    }

    /// Reads an archive, or a single Run, and saves the documents that are not stored yet. `name`:
    /// its origin. Documents are saved in groups: of a damaged archive, the documents before the
    /// damage are stored.
    ///
    /// # Errors
    ///
    /// A line is neither a document of an archive nor a Run, it is too long, `from` cannot be read,
    /// or the history cannot be written.
    pub fn import(
        &mut self,
        from: &mut dyn BufRead,
        name: &str,
        labels: &[(String, String)],
    ) -> Result<Imported, StoreError> {
        let cannot = |e: std::io::Error| StoreError::Format {
            what: Text::name(name),
            why: e.into(),
        };
        let mut imported = Imported::default();
        let mut waiting = Vec::new();
        let mut first = Vec::new();
        let mut number = 0;
        let longest = self.largest.saturating_add(AROUND);
        let too_large = |text: &[u8], number: u64| StoreError::TooLarge {
            what: text!("{name}, line {number},", name = name, number = number),
            bytes: text.len() as u64,
            largest: longest,
        };
        loop {
            let mut text = Vec::new();
            let mut limited = std::io::Read::take(&mut *from, longest + 1);
            if limited.read_until(b'\n', &mut text).map_err(cannot)? == 0 {
                break;
            }
            number += 1;
            if text.len() as u64 > longest {
                return Err(too_large(&text, number));
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            match Document::of_line(&text, &format!("{name}, line {number}")) {
                Ok(document) => waiting.push(document),
                // A Run over several lines: all of the file is one document.
                Err(_) if number == 1 && !is_of_archive(&text) => {
                    first = text;
                    let left = longest.saturating_sub(first.len() as u64);
                    let mut limited = std::io::Read::take(&mut *from, left + 1);
                    std::io::Read::read_to_end(&mut limited, &mut first).map_err(cannot)?;
                    if first.len() as u64 > longest {
                        return Err(too_large(&first, number));
                    }
                    waiting.push(Document::of_run(std::mem::take(&mut first), name)?);
                    break;
                }
                Err(e) => return Err(e),
            }
            let bytes: usize = waiting.iter().map(|d: &Document| d.body.len()).sum();
            if waiting.len() == TOGETHER || bytes >= BYTES_TOGETHER {
                self.take(&mut waiting, labels, &mut imported)?;
            }
        }
        drop(first);
        self.take(&mut waiting, labels, &mut imported)?;
        Ok(imported)
    }

    fn take(
        &mut self,
        waiting: &mut Vec<Document>,
        labels: &[(String, String)],
        imported: &mut Imported,
    ) -> Result<(), StoreError> {
        for document in waiting.iter_mut() {
            for (name, value) in labels {
                document.label(name, value);
            }
        }
        for saved in self.save_all(waiting)? {
            match saved {
                Saved::Added => imported.added += 1,
                Saved::Known => imported.known += 1,
            }
        }
        waiting.clear();
        Ok(())
    }
}

impl Document {
    /// A document from one line: of an archive, or a Run. `name`: where the line is, for
    /// errors.
    ///
    /// # Errors
    /// It is neither, or of a newer program.
    pub fn of_line(text: &[u8], name: &str) -> Result<Self, StoreError> {
        let wrong = |why: Cause| StoreError::Format {
            what: Text::name(name),
            why,
        };
        let line: Result<Line, _> = serde_json::from_slice(text);
        let known = line.as_ref().ok().map(|line| line.pathtwin_archive);
        let Some(version) = known.or_else(|| version(text)) else {
            return Document::of_run(text.trim_ascii().to_vec(), name);
        };
        if version > ARCHIVE {
            let newer = format!(
                "the archive has version {version}, and this program knows up to {ARCHIVE}: update \
                 pathtwin"
            );
            return Err(wrong(newer.into()));
        }
        let line = line.map_err(|error| wrong(error.into()))?;
        let body = line.body.get().as_bytes().to_vec();
        let mut document = match line.kind {
            // A Run of a newer program is stored unchanged, without its figures.
            Kind::Run => Document::of_run(body.clone(), name).unwrap_or_else(|_| {
                let mut document = Document::new(line.kind, "", 0, "", body);
                document.schema = line.schema;
                document
            }),
            kind => Document::new(kind, "", 0, "", body),
        };
        document.id = line.id;
        document.schema = line.schema;
        document.created_us = line.created_us;
        document.path = line.path;
        document.labels = line.labels;
        Ok(document)
    }
}

/// Returns true if a line is one of an archive.
fn is_of_archive(line: &[u8]) -> bool {
    version(line).is_some()
}

/// The version of the archive that a line is of, also if this program cannot read the rest.
fn version(line: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    struct Version {
        pathtwin_archive: u32,
    }
    let line: Result<Version, _> = serde_json::from_slice(line);
    line.ok().map(|line| line.pathtwin_archive)
}

/// JSON without line breaks: outside of strings they are insignificant, and inside they are
/// escaped.
fn one_line(json: &mut [u8]) {
    for byte in json.iter_mut().filter(|b| matches!(b, b'\n' | b'\r')) {
        *byte = b' ';
    }
}
