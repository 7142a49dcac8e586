//! Kernel images of a lab: the default one, and those that cells name.

use std::{collections::BTreeMap, sync::Mutex};

use kernel::Image;
use model::cell::{Cell, KernelName};

use crate::LabError;

/// The default image, and others by name. Each name is looked up once: an image that is built while
/// cells run does not change the kernel of later cells.
#[derive(Debug)]
pub(crate) struct Images {
    usual: Image,
    named: Mutex<BTreeMap<KernelName, Image>>,
}

impl Images {
    pub(crate) fn new(usual: Image) -> Self {
        Self {
            usual,
            named: Mutex::default(),
        }
    }

    /// The usual image.
    pub(crate) fn usual(&self) -> &Image {
        &self.usual
    }

    /// The image of a name.
    ///
    /// # Errors
    /// There is no such image, or it cannot be used.
    pub(crate) fn of(&self, name: Option<&KernelName>) -> Result<Image, LabError> {
        let Some(name) = name else {
            return Ok(self.usual.clone());
        };
        // A thread that panicked here left the map as it was.
        let mut named = self.named.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(image) = named.get(name) {
            return Ok(image.clone());
        }
        let image = kernel::named(name.as_str())?;
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
        let hashes = names.into_iter().map(|name| Ok(self.of(name)?.sha256));
        let hashes = hashes.collect::<Result<Vec<_>, LabError>>()?;
        Ok(match hashes.is_empty() {
            true => self.usual.sha256.clone(),
            false => hashes.join("+"),
        })
    }
}
