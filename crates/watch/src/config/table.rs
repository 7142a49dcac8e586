//! Tables of a config: values with their lines, and the errors in them.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
    ops::RangeInclusive,
    time::Duration,
};

use model::{
    net::Layer,
    spec::{nearest::nearest, quantity},
    units::Rate,
};
use toml::de::{DeTable, DeValue};

use super::{
    keys::Key,
    reason::Reason,
    values::{Metered, QuietHours},
};
use crate::post::Url;

/// A problem of a config.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The dotted key; empty if the text is not TOML.
    pub key: String,
    /// The error, with valid alternatives.
    pub reason: Reason,
}

impl Problem {
    pub(super) fn at(line: usize, key: &str, reason: Reason) -> Self {
        Self {
            line,
            key: key.to_owned(),
            reason,
        }
    }
}

/// All problems of a file, one a line.
pub(super) fn problems_of(file: &str, problems: &[Problem]) -> String {
    let line = |p: &Problem| {
        let colon = if p.key.is_empty() { "" } else { ": " };
        format!("{file}:{}: {}{colon}{}", p.line, p.key, p.reason)
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Lines of a text by offset.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a>(&'a str);

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(text)
    }

    fn at(self, offset: usize) -> usize {
        let before = self.0.as_bytes().iter().take(offset);
        1 + before.filter(|byte| **byte == b'\n').count()
    }
}

/// The root table of a text; `None` if it is not TOML.
pub(super) fn root<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Option<DeTable<'a>> {
    let lines = Lines::of(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    let is_toml = errors.is_empty();
    for error in errors {
        let line = error.span().map_or(1, |span| lines.at(span.start));
        problems.push(Problem::at(line, "", Reason::Toml(error)));
    }
    is_toml.then(|| root.into_inner())
}

/// A table with the keys that it may have.
pub(super) struct Section<'a, 'p> {
    name: String,
    table: &'a DeTable<'a>,
    lines: Lines<'a>,
    problems: &'p mut Vec<Problem>,
}

impl<'a, 'p> Section<'a, 'p> {
    /// The table `name`, whose unknown keys are problems from the start.
    pub(super) fn new(
        name: &str,
        table: &'a DeTable<'a>,
        lines: Lines<'a>,
        known: &[Key],
        problems: &'p mut Vec<Problem>,
    ) -> Self {
        let section = Self {
            name: name.to_owned(),
            table,
            lines,
            problems,
        };
        let names: BTreeSet<&str> = known.iter().map(|key| key.0).collect();
        for (key, _) in table {
            let own = key.get_ref().as_ref();
            if !names.contains(own) {
                let line = lines.at(key.span().start);
                let reason = match nearest(own, names.iter().copied()) {
                    Some(near) => Reason::UnknownNear(near.to_owned()),
                    None => {
                        let names: Vec<&str> = names.iter().copied().collect();
                        Reason::Unknown(names.join(", "))
                    }
                };
                let key = section.dotted(own);
                section.problems.push(Problem::at(line, &key, reason));
            }
        }
        section
    }

    fn dotted(&self, key: &str) -> String {
        match self.name.as_str() {
            "" => key.to_owned(),
            name => format!("{name}.{key}"),
        }
    }

    /// Returns true if the key exists.
    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn find(&self, key: &str) -> Option<(usize, &'a DeValue<'a>)> {
        let mut all = self.table.iter();
        let (key, value) = all.find(|(own, _)| own.get_ref() == key)?;
        Some((self.lines.at(key.span().start), value.get_ref()))
    }

    pub(super) fn wrong_at(&mut self, line: usize, key: &str, reason: Reason) {
        let key = self.dotted(key);
        self.problems.push(Problem::at(line, &key, reason));
    }

    /// A key that has a value, but must not have this one.
    pub(super) fn wrong(&mut self, key: &str, reason: Reason) {
        let line = self.find(key).map_or(1, |(line, _)| line);
        self.wrong_at(line, key, reason);
    }

    fn take<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&'a DeValue<'a>) -> Result<T, Reason>,
    ) -> Option<T> {
        let (line, value) = self.find(key)?;
        match read(value) {
            Ok(value) => Some(value),
            Err(reason) => {
                self.wrong_at(line, key, reason);
                None
            }
        }
    }

    /// A text that `read` takes.
    fn parsed<T, E: Into<Reason>>(
        &mut self,
        key: &str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.take(key, |value| read(as_text(value)?).map_err(Into::into))
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.parsed(key, |text| match text.trim() {
            "" => Err(Reason::Empty),
            _ => Ok(text.to_owned()),
        })
    }

    /// A name: of a label of metrics and of files.
    pub(super) fn name(&mut self, key: &str) -> Option<String> {
        self.parsed(key, |text| {
            let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
            match (1..=64).contains(&text.len()) && text.chars().all(fits) {
                true => Ok(text.to_owned()),
                false => Err(Reason::NotName),
            }
        })
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.take(key, |value| value.as_bool().ok_or(Reason::NotSwitch))
    }

    fn list<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, Reason>) -> Option<Vec<T>> {
        self.take(key, |value| {
            let all = value.as_array().ok_or(Reason::NotList)?;
            let items = all.iter().map(|item| read(as_text(item.get_ref())?));
            items.collect()
        })
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.list(key, |text| Ok(text.to_owned()))
    }

    pub(super) fn addresses(&mut self, key: &str) -> Option<Vec<IpAddr>> {
        self.list(key, |text| {
            let wrong = |_| Reason::NotAddress(text.to_owned());
            text.parse().map_err(wrong)
        })
    }

    /// Beginnings of ids of changes.
    pub(super) fn changes(&mut self, key: &str) -> Option<Vec<String>> {
        self.list(key, |text| {
            let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
            match (8..=32).contains(&text.len()) && text.bytes().all(is_digit) {
                true => Ok(text.to_owned()),
                false => Err(Reason::NotChange(text.to_owned())),
            }
        })
    }

    pub(super) fn layers(&mut self, key: &str) -> Option<Vec<Layer>> {
        self.list(key, |text| match text {
            "underlay" => Ok(Layer::Underlay),
            "tunnel" => Ok(Layer::Tunnel),
            _ => Err(Reason::NotLayer(text.to_owned())),
        })
    }

    pub(super) fn size(&mut self, key: &str) -> Option<u64> {
        self.parsed(key, quantity::size).map(|bytes| bytes.0)
    }

    pub(super) fn rate(&mut self, key: &str) -> Option<Rate> {
        self.parsed(key, quantity::rate)
    }

    pub(super) fn share(&mut self, key: &str, range: RangeInclusive<f64>) -> Option<f64> {
        self.parsed(key, |text| {
            let value = quantity::share(text)?.get();
            match range.contains(&value) {
                true => Ok(value),
                false => Err(Reason::ShareRange {
                    text: text.to_owned(),
                    least: *range.start(),
                    most: *range.end(),
                }),
            }
        })
    }

    /// An interval, s; `None` for `never`. Days are accepted, too.
    pub(super) fn every(
        &mut self,
        key: &str,
        default_s: u64,
        (least_s, most_s): (u64, u64),
    ) -> Option<Duration> {
        let usual = Some(Duration::from_secs(default_s));
        let read = self.parsed(key, |text| {
            if text == "never" {
                return Ok(None);
            }
            let long = [('d', 86_400), ('h', 3600)];
            let long = long.into_iter().find_map(|(unit, seconds)| {
                let count = text.strip_suffix(unit)?.trim().parse::<u64>().ok()?;
                Some(Duration::from_secs(count.saturating_mul(seconds)))
            });
            let span = match long {
                Some(span) => span,
                None => quantity::duration(text)?,
            };
            match (least_s..=most_s).contains(&span.as_secs()) {
                true => Ok(Some(span)),
                false => Err(Reason::TimeRange {
                    text: text.to_owned(),
                    least_s,
                    most_s,
                }),
            }
        });
        read.unwrap_or(usual)
    }

    pub(super) fn metered(&mut self, key: &str) -> Metered {
        let read = self.parsed(key, |text| match text {
            "auto" => Ok(Metered::Auto),
            "yes" => Ok(Metered::Yes),
            "no" => Ok(Metered::No),
            _ => Err(Reason::NotMetered(text.to_owned())),
        });
        read.unwrap_or(Metered::Auto)
    }

    pub(super) fn url(&mut self, key: &str) -> Option<Url> {
        self.parsed(key, |text| {
            let url = Url::parse(text)?;
            match url.lacks_tls() {
                true => Err(Reason::NoTls),
                false => Ok(url),
            }
        })
    }

    pub(super) fn listen(&mut self, key: &str) -> Option<SocketAddr> {
        self.parsed(key, |text| {
            let wrong = |_| Reason::NotListen(text.to_owned());
            let address: SocketAddr = text.parse().map_err(wrong)?;
            match address.ip().is_loopback() {
                true => Ok(address),
                false => Err(Reason::NotLoopback(text.to_owned())),
            }
        })
    }

    pub(super) fn hours(&mut self, key: &str) -> Option<QuietHours> {
        self.parsed(key, |text| {
            let both = text.split_once('-');
            let both = both.and_then(|(from, to)| Some((minute(from)?, minute(to)?)));
            match both {
                Some((from, to)) if from != to => Ok(QuietHours { from, to }),
                _ => Err(Reason::NotHours(text.to_owned())),
            }
        })
    }

    /// A table in it.
    pub(super) fn table(&mut self, key: &str) -> Option<&'a DeTable<'a>> {
        self.take(key, |value| {
            let wrong = || Reason::NotTable(key.to_owned());
            value.as_table().ok_or_else(wrong)
        })
    }

    /// The tables of a list, with their lines.
    pub(super) fn tables(&mut self, key: &str) -> Vec<(usize, &'a DeTable<'a>)> {
        let lines = self.lines;
        let read = self.take(key, |value| {
            let wrong = || Reason::NotTables(key.to_owned());
            let all = value.as_array().ok_or_else(wrong)?;
            let table = |item: &'a toml::Spanned<DeValue<'a>>| {
                let table = item.get_ref().as_table().ok_or_else(wrong)?;
                Ok((lines.at(item.span().start), table))
            };
            all.iter().map(table).collect()
        });
        read.unwrap_or_default()
    }
}

fn as_text<'a>(value: &'a DeValue<'_>) -> Result<&'a str, Reason> {
    value.as_str().ok_or(Reason::NotText)
}

/// The minute of the day of `HH:MM`.
fn minute(text: &str) -> Option<u32> {
    let (hour, minute) = text.trim().split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}
