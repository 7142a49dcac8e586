//! Kernel images, their documents, and the search for the current one.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::bytes::contains;
use super::cache::write_file;
use super::config::{self, Config};
use super::error::{Context as _, ImageFault, KernelError};
use super::ikconfig;
use super::patches::PatchReport;

/// Name of the image in its cache folder.
pub(super) const IMAGE_FILE: &str = "linux";
/// Name of its document, in the same folder.
pub(super) const META_FILE: &str = "image.json";

/// A kernel image that the lab can start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The program.
    pub path: PathBuf,
    /// SHA-256 of the program, in lower-case hex.
    pub sha256: String,
    /// Its description; `None` if there is no document and the image has no configuration.
    pub meta: Option<Meta>,
}

/// Description of an image. Written as `image.json` beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of this document.
    pub schema: u32,
    /// SHA-256 of the image.
    pub sha256: String,
    /// Size of the image in bytes.
    pub size_bytes: u64,
    /// `7.2.13`
    pub version: String,
    /// Origin of the source; absent for an image that the lab did not build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceInfo>,
    /// Hash over the fragment, the patches and the compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// Hash over the fragment and the patches alone; absent in documents of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// True if the image was built on another host and imported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// First line of `gcc --version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// Timer ticks a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hz: Option<u32>,
    /// True if `PATHTWIN_SEED` determines its entropy; without that no run is repeatable.
    pub seeded: bool,
    /// True if it can run programs without ptrace (`seccomp=on`, Linux 6.16 and later).
    pub seccomp: bool,
    /// True if the cipher of WireGuard uses the CPU's vector units.
    pub simd_crypto: bool,
    /// Names from `net.ipv4.tcp_congestion_control`.
    pub congestion_controls: Vec<String>,
    /// Names as in `tc`.
    pub qdiscs: Vec<String>,
    /// Kinds of tunnel devices.
    pub tunnels: Vec<String>,
    /// Options of the lab's fragment that this image lacks.
    pub missing_options: Vec<String>,
    /// Each patch, and whether it was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<PatchReport>,
    /// The whole configuration it was built with.
    pub config: String,
}

/// Origin of a kernel source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// `linux-source-7.2 7.2.13-1`, or the name of the file.
    pub name: String,
    /// SHA-256 of the package or tarball; of paths and contents for a folder.
    pub sha256: String,
    /// The archive and suite, if it was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
}

/// Abilities of an image that its configuration does not show.
pub(super) struct Traits {
    pub(super) seeded: bool,
    pub(super) seccomp: bool,
}

impl Traits {
    /// Finds the texts that come with each ability.
    pub(super) fn of(image: &[u8]) -> Self {
        Self {
            seeded: contains(image, b"PATHTWIN_SEED\0"),
            // Help text in arch/um/os-Linux/start_up.c
            seccomp: contains(image, b"seccomp=<on/auto/off>"),
        }
    }
}

impl Meta {
    /// The document of an image with this configuration, for which options beyond those of the lab
    /// were wanted.
    pub(super) fn from_config(
        version: String,
        image: &[u8],
        text: String,
        more: Option<&str>,
    ) -> Self {
        let config = Config::parse(&text);
        let traits = Traits::of(image);
        let wanted = config::wanted(more);
        Self {
            schema: 1,
            sha256: hex(&Sha256::digest(image)),
            size_bytes: image.len() as u64,
            version,
            source: None,
            recipe: None,
            inputs: None,
            imported: false,
            compiler: None,
            hz: config.hz(),
            seeded: traits.seeded,
            seccomp: traits.seccomp,
            simd_crypto: config.simd_crypto(),
            congestion_controls: config.congestion_controls(),
            qdiscs: config.qdiscs(),
            tunnels: config.tunnels(),
            missing_options: config
                .missing(&wanted)
                .iter()
                .map(|w| format!("{}={}", w.name, w.value))
                .collect(),
            patches: Vec::new(),
            config: text,
        }
    }

    /// Writes the document beside its image.
    pub(super) fn write(&self, folder: &Path) -> Result<(), KernelError> {
        let file = folder.join(META_FILE);
        let text = serde_json::to_vec_pretty(self)
            .map_err(std::io::Error::from)
            .on("write", &file)?;
        write_file(&file, &text)
    }
}

impl Image {
    /// Reads an image anywhere in the file system. Its configuration is read from the image itself
    /// (`CONFIG_IKCONFIG`) unless an `image.json` next to it has the hash of this image.
    ///
    /// # Errors
    /// The file cannot be read, or is not a User Mode Linux with time travel.
    pub fn open(path: &Path) -> Result<Self, KernelError> {
        let bad = |fault| KernelError::image(path, fault);
        let path = &path
            .canonicalize()
            .map_err(|error| bad(ImageFault::NotFound(error)))?;
        let bytes = read(path)?;
        if !bytes.starts_with(b"\x7fELF") {
            return Err(bad(ImageFault::NotProgram));
        }
        if !contains(&bytes, b"time-travel=") {
            return Err(bad(ImageFault::NotTimeTravel));
        }
        let sha256 = hex(&Sha256::digest(&bytes));
        let beside = path.with_file_name(META_FILE);
        let document = read_meta(&beside).ok().filter(|meta| meta.sha256 == sha256);
        let meta = match document {
            Some(meta) => Some(meta),
            None => ikconfig::extract(&bytes).map(|text| {
                let version = ikconfig::version(&bytes).unwrap_or_else(|| "unknown".to_owned());
                Meta::from_config(version, &bytes, text, None)
            }),
        };
        Ok(Self {
            path: path.clone(),
            sha256,
            meta,
        })
    }

    /// Reads an image of the cache. The hash is the recorded one; only the size is checked, so
    /// that a cell does not read the whole image before it starts it.
    pub(super) fn cached(folder: &Path) -> Result<Self, KernelError> {
        let path = folder.join(IMAGE_FILE);
        let meta = read_meta(&folder.join(META_FILE))?;
        let size = path.metadata().on("read", &path)?.len();
        if size != meta.size_bytes {
            let fault = ImageFault::Size {
                found: size,
                expected: meta.size_bytes,
            };
            return Err(KernelError::image(&path, fault));
        }
        Ok(Self {
            path,
            sha256: meta.sha256.clone(),
            meta: Some(meta),
        })
    }

    /// Reads the whole image again and compares it with its recorded hash.
    ///
    /// # Errors
    /// It cannot be read, or has another hash.
    pub fn verify(&self) -> Result<(), KernelError> {
        let found = hex(&Sha256::digest(&read(&self.path)?));
        if found == self.sha256 {
            return Ok(());
        }
        let expected = self.sha256.clone();
        let fault = ImageFault::Hash { found, expected };
        Err(KernelError::image(&self.path, fault))
    }
}

fn read_meta(path: &Path) -> Result<Meta, KernelError> {
    let text = read(path)?;
    serde_json::from_slice(&text)
        .map_err(|error| KernelError::image(path, ImageFault::Document(error)))
}

fn read(path: &Path) -> Result<Vec<u8>, KernelError> {
    let mut bytes = Vec::new();
    File::open(path)
        .on("open", path)?
        .read_to_end(&mut bytes)
        .on("read", path)?;
    Ok(bytes)
}

/// Lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_not_an_image() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let error = Image::open(&file).unwrap_err().to_string();
        assert!(error.contains("it is not a program"), "{error}");
        assert!(Image::open(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn the_document_survives_a_round_trip() {
        let image = b"\x7fELF time-travel= PATHTWIN_SEED\0";
        let meta = Meta::from_config(
            "7.2.13".to_owned(),
            image,
            "CONFIG_HZ=1000\n".to_owned(),
            None,
        );
        assert!(meta.seeded && !meta.seccomp);
        assert!(
            meta.missing_options
                .contains(&"CONFIG_WIREGUARD=y".to_owned())
        );
        let text = serde_json::to_string(&meta).unwrap();
        assert_eq!(serde_json::from_str::<Meta>(&text).unwrap(), meta);
    }
}
