//! Settings as sections of OpenWrt's configuration files (UCI).
//!
//! The files also belong to other programs: a section is appended in the format of `uci commit`, so
//! that a later commit by another program does not change it.

use std::{fs, path::Path};

use model::change::{Queue, Setting};

use crate::error::PersistError;

/// A section of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Section {
    kind: String,
    options: Vec<(String, String)>,
}

/// A section to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct New {
    /// Path of the file below the root.
    pub(super) path: &'static str,
    /// The section as text.
    pub(super) text: String,
}

/// The sections for the settings of a device, and the settings without a section: their owner does
/// not support them, is not installed, or already has a section for the device.
///
/// # Errors
/// Such a file has uncommitted changes of somebody else, which a commit would include.
pub(super) fn of<'a>(
    root: &Path,
    id: &str,
    device: &str,
    settings: &[&'a Setting],
) -> Result<(Vec<New>, Vec<&'a Setting>), PersistError> {
    let mut new = Vec::new();
    let mut rest = Vec::new();
    let mut shaper = Shaper::default();
    for setting in settings {
        let is_taken = match setting {
            Setting::Queue { queue, .. } if has_sqm(root, device) => shaper.take(queue, false),
            Setting::Ingress { queue, .. } if has_sqm(root, device) => shaper.take(queue, true),
            Setting::Mtu { bytes, .. } if is_free(root, device) => {
                let name = format!("pathtwin_{id}_{}", super::names::plain(device));
                let options = [("name", device.to_owned()), ("mtu", bytes.to_string())];
                let text = section("device", &name, &options);
                new.push(New {
                    path: NETWORK,
                    text,
                });
                true
            }
            _ => false,
        };
        if !is_taken {
            rest.push(*setting);
        }
    }
    if let Some(text) = shaper.section(id, device) {
        new.push(New { path: SQM, text });
    }
    new.iter()
        .try_for_each(|new| is_committed(root, new.path))?;
    Ok((new, rest))
}

const NETWORK: &str = "etc/config/network";
const SQM: &str = "etc/config/sqm";

/// The rates of both directions, in one section as sqm has them.
#[derive(Default)]
struct Shaper {
    /// True for cake, false for fq_codel; none before the first setting.
    is_cake: Option<bool>,
    /// Rates of sent and of received data, kbit/s.
    kbit: [Option<u64>; 2],
    overhead: Option<i32>,
}

impl Shaper {
    /// Adds a direction; false if sqm cannot have such a queue.
    fn take(&mut self, queue: &Queue, is_ingress: bool) -> bool {
        let (is_cake, bps, overhead) = match queue {
            Queue::Cake(q) if q.rtt_us.is_none() && q.nat.is_none() => {
                (true, q.rate_bps, q.overhead_bytes)
            }
            Queue::Htb(q) if q.queue == model::remedy::Discipline::FqCodel => {
                (false, Some(q.rate_bps), None)
            }
            _ => return false,
        };
        let Some(bps) = bps.filter(|_| self.is_cake.is_none_or(|cake| cake == is_cake)) else {
            return false;
        };
        self.is_cake = Some(is_cake);
        self.kbit[usize::from(is_ingress)] = Some(bps / 1000);
        self.overhead = self.overhead.or(overhead);
        true
    }

    /// Options of sqm-scripts: rates are kbit/s, and 0 leaves a direction alone.
    fn section(&self, id: &str, device: &str) -> Option<String> {
        let (queue, script) = match self.is_cake? {
            true => ("cake", "piece_of_cake.qos"),
            false => ("fq_codel", "simplest.qos"),
        };
        let kbit = |n: usize| self.kbit[n].unwrap_or_default().to_string();
        let mut options = vec![
            ("enabled", "1".to_owned()),
            ("interface", device.to_owned()),
            ("upload", kbit(0)),
            ("download", kbit(1)),
            ("qdisc", queue.to_owned()),
            ("script", script.to_owned()),
        ];
        if let Some(bytes) = self.overhead {
            options.push(("linklayer", "ethernet".to_owned()));
            options.push(("overhead", bytes.to_string()));
        }
        Some(section("queue", &format!("pathtwin_{id}"), &options))
    }
}

/// A section as `uci commit` writes it (libuci, file.c: `uci_export_package`).
fn section(kind: &str, name: &str, options: &[(&str, String)]) -> String {
    let line = |(key, value): &(&str, String)| {
        let value = value.replace('\'', r"'\''");
        format!("\toption {key} '{value}'\n")
    };
    let lines: String = options.iter().map(line).collect();
    format!("\nconfig {kind} '{name}'\n{lines}")
}

/// True if sqm-scripts are installed and have no section for a device yet.
fn has_sqm(root: &Path, device: &str) -> bool {
    let is_installed = root.join("etc/init.d/sqm").exists() && root.join(SQM).exists();
    is_installed && !has(root, SQM, "queue", "interface", device)
}

/// True if no section names a device, neither its own nor that of an interface over it.
fn is_free(root: &Path, device: &str) -> bool {
    let text = fs::read_to_string(root.join(NETWORK));
    text.is_ok_and(|text| !text.contains(&format!("interface '{device}'")))
        && !has(root, NETWORK, "device", "name", device)
}

fn has(root: &Path, path: &str, kind: &str, key: &str, value: &str) -> bool {
    let text = fs::read_to_string(root.join(path)).unwrap_or_default();
    let of_kind = |s: &Section| s.kind == kind;
    let mut options = sections(&text)
        .into_iter()
        .filter(of_kind)
        .flat_map(|s| s.options);
    options.any(|(k, v)| k == key && v == value)
}

/// Uncommitted changes are in a separate folder (libuci: `UCI_SAVEDIR`).
fn is_committed(root: &Path, path: &'static str) -> Result<(), PersistError> {
    let package = path.rsplit('/').next().unwrap_or(path);
    let saved = root.join("tmp/.uci").join(package);
    match fs::metadata(saved) {
        Ok(meta) if meta.len() > 0 => Err(PersistError::Uncommitted(package)),
        _ => Ok(()),
    }
}

/// The sections of a file.
fn sections(text: &str) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    for line in text.lines() {
        let mut words = line.trim().splitn(3, char::is_whitespace);
        let bare = |word: &str| word.trim().trim_matches(['\'', '"']).to_owned();
        match (words.next(), words.next()) {
            (Some("config"), Some(kind)) => all.push(Section {
                kind: bare(kind),
                options: Vec::new(),
            }),
            (Some("option"), Some(key)) => {
                let value = words.next().map(bare).unwrap_or_default();
                if let Some(section) = all.last_mut() {
                    section.options.push((bare(key), value));
                }
            }
            _ => {}
        }
    }
    all
}
