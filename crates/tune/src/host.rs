//! The settings of a host, real or in a test.

use model::{
    change::{Saved, Scope, Setting},
    text::Text,
};

use crate::error::{HostError, Refusal};

/// Reads and writes settings.
pub trait Host {
    /// The kernel and namespace of the settings.
    ///
    /// # Errors
    /// /proc is not mounted.
    fn scope(&mut self) -> Result<Scope, HostError>;

    /// The index of a device; `None` if it does not exist.
    ///
    /// # Errors
    /// The kernel cannot be queried.
    fn link(&mut self, device: &str) -> Result<Option<u32>, HostError>;

    /// The current name of the device of an index; `None` if it is gone.
    ///
    /// # Errors
    /// The kernel cannot be queried.
    fn name(&mut self, _link: u32) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    /// The current value of a setting.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&mut self, setting: &Setting) -> Result<Saved, HostError>;

    /// Checks that a setting can be written and undone; returns warnings to show first.
    ///
    /// # Errors
    /// The host lacks a requirement, the setting cannot be undone, or it would cut the host off.
    fn check(&mut self, setting: &Setting, old: &Saved) -> Result<Vec<Text>, Refusal>;

    /// The module that a setting needs, if it can be loaded and is not loaded.
    fn module(&mut self, _setting: &Setting) -> Option<String> {
        None
    }

    /// The privilege that a setting needs and this process lacks.
    fn lacks(&mut self, setting: &Setting) -> Option<&'static str>;

    /// Writes a setting, given its old value.
    ///
    /// # Errors
    /// The kernel refuses.
    fn write(&mut self, setting: &Setting, old: &Saved) -> Result<(), HostError>;

    /// Restores the old value; does nothing if it is already set.
    ///
    /// # Errors
    /// The kernel refuses.
    fn restore(&mut self, setting: &Setting, old: &Saved) -> Result<(), HostError>;

    /// Removes what a setting made beside its device, which is gone and had this index.
    ///
    /// # Errors
    /// The kernel refuses.
    fn clear(&mut self, _setting: &Setting, _link: u32) -> Result<(), HostError> {
        Ok(())
    }
}
