//! Kernel images of a lab: the default one, and those that cells name.

use std::{collections::BTreeMap, fs, io, os::unix::fs::MetadataExt as _, path::Path, sync::Mutex};

use kernel::Image;
use model::cell::{Cell, KernelName};

use crate::LabError;

/// An image, and its file as it was when it became known.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub image: Image,
    stamp: Stamp,
}

impl Known {
    /// # Errors
    /// There is no such file any more.
    fn new(image: Image) -> Result<Self, LabError> {
        let stamp = Stamp::of(&image.path).map_err(LabError::file("read", &image.path))?;
        Ok(Self { image, stamp })
    }

    /// Checks, after a guest, that it ran this image: guests are started by the name of the file.
    ///
    /// # Errors
    /// The file was replaced or changed, as by a build of that kernel.
    pub(crate) fn check(&self) -> Result<(), LabError> {
        match Stamp::of(&self.image.path) {
            Ok(stamp) if stamp == self.stamp => Ok(()),
            _ => Err(LabError::ImageReplaced(self.image.path.clone())),
        }
    }
}

/// What tells a file from another of its name: device, inode, size in bytes, and the time of its
/// last write in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(u64, u64, u64, i64, i64);

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let meta = fs::metadata(path)?;
        let (s, ns) = (meta.mtime(), meta.mtime_nsec());
        Ok(Self(meta.dev(), meta.ino(), meta.size(), s, ns))
    }
}

/// The default image, and others by name. Each name is looked up once: an image that is built while
/// cells run does not change the kernel of later cells.
#[derive(Debug)]
pub(crate) struct Images {
    usual: Known,
    named: Mutex<BTreeMap<KernelName, Known>>,
}

impl Images {
    /// # Errors
    /// The file of the usual image cannot be read.
    pub(crate) fn new(usual: Image) -> Result<Self, LabError> {
        Ok(Self {
            usual: Known::new(usual)?,
            named: Mutex::default(),
        })
    }

    /// The usual image.
    pub(crate) fn usual(&self) -> &Image {
        &self.usual.image
    }

    /// The image of a name.
    ///
    /// # Errors
    /// There is no such image, or it cannot be used.
    pub(crate) fn of(&self, name: Option<&KernelName>) -> Result<Known, LabError> {
        let Some(name) = name else {
            return Ok(self.usual.clone());
        };
        // A thread that panicked here left the map as it was.
        let mut named = self.named.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(image) = named.get(name) {
            return Ok(image.clone());
        }
        let image = Known::new(kernel::named(name.as_str())?)?;
        named.insert(name.clone(), image.clone());
        Ok(image)
    }

    /// SHA-256 of all images that cells need, in the order of their names; of the usual one alone
    /// if no cell names one.
    ///
    /// # Errors
    /// An image is missing or cannot be used.
    pub(crate) fn hashes(&self, cells: &[Cell]) -> Result<String, LabError> {
        let mut names: Vec<_> = cells.iter().map(|cell| cell.kernel.as_ref()).collect();
        names.sort_unstable();
        names.dedup();
        let hashes = names
            .into_iter()
            .map(|name| Ok(self.of(name)?.image.sha256));
        let hashes = hashes.collect::<Result<Vec<_>, LabError>>()?;
        Ok(match hashes.is_empty() {
            true => self.usual.image.sha256.clone(),
            false => hashes.join("+"),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_image_that_is_built_anew_under_its_name_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let [path, next] = ["linux", "next"].map(|name| folder.path().join(name));
        fs::write(&path, b"\x7fELF time-travel=").unwrap();
        let known = Known::new(Image::open(&path).unwrap()).unwrap();
        assert!(known.check().is_ok());
        fs::copy(&path, &next).unwrap();
        fs::rename(&next, &path).unwrap();
        let error = known.check().unwrap_err().to_string();
        assert!(error.contains("was replaced"), "{error}");
    }
}
