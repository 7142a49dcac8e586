//! Kernel images of the lab as text.

use std::fmt::Write;

use model::job::Facts;

/// Metadata of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Its file.
    pub path: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Version of the kernel; absent = the image has no description.
    pub version: Option<String>,
    /// Origin of its source.
    pub source: Option<String>,
    /// True if its random numbers come from the seed; absent = unknown.
    pub seeded: Option<bool>,
    /// True if its cryptography uses vector instructions; absent = unknown.
    pub simd_crypto: Option<bool>,
    /// The compiler.
    pub compiler: Option<String>,
}

/// Version, hash and path of each image; `*` marks the one with the hash `current`.
pub fn list(images: &[Image], current: Option<&str>) -> String {
    let mut text = String::new();
    for image in images {
        let version = image.version.as_deref().unwrap_or_default();
        let short = image.sha256.get(..12).unwrap_or(&image.sha256);
        let is_current = current == Some(image.sha256.as_str());
        let mark = if is_current { '*' } else { ' ' };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{mark} {version:<10} {short} {}", image.path);
    }
    text
}

/// An image, and its features.
pub fn info(image: &Image, facts: &Facts) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<20} {value}");
    };
    line("image", &image.path);
    line("sha256", &image.sha256);
    line("version", &facts.release);
    if image.version.is_some() {
        if let Some(source) = &image.source {
            line("source", source);
        }
        let seeded = match image.seeded {
            Some(true) => "yes",
            _ => "no: its runs do not repeat",
        };
        line("seeded", seeded);
        let simd = image.simd_crypto == Some(true);
        line("vector crypto", if simd { "yes" } else { "no" });
        line("compiler", image.compiler.as_deref().unwrap_or("unknown"));
    }
    line("HZ", &facts.hz.to_string());
    line("congestion controls", &facts.congestion.join(" "));
    line("queues", &facts.qdiscs.join(" "));
    line("tunnels", &facts.tunnels.join(" "));
    let lacks: Vec<&str> = facts.lacks.keys().map(String::as_str).collect();
    let none = match lacks.is_empty() {
        true => "nothing that pathtwin uses",
        false => "",
    };
    line("lacks", none);
    for name in lacks {
        line("", name);
    }
    text
}
