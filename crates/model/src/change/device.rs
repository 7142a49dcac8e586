//! The device that a setting as text begins with.

use super::SettingError;

/// A name by the rules of the kernel (net/core/dev.c: `dev_valid_name`, Linux 7.2), and the rest.
pub(super) fn of_device(text: &str) -> Result<(String, &str), SettingError> {
    let (device, rest) = text
        .split_once('=')
        .ok_or_else(|| SettingError::NoDevice(text.to_owned()))?;
    let odd = |c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control();
    let wrong = device.is_empty() || device.len() > 15 || matches!(device, "." | "..");
    if wrong || device.contains(odd) {
        return Err(SettingError::Device(device.to_owned()));
    }
    Ok((device.to_owned(), rest))
}
