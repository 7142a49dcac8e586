//! Masks of processors of the queues of a device, in sysfs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::remedy::Flow;

use crate::error::{HostError, Operation};

/// Beginning of the folder of a queue, and the file in it. Received packets are processed on the
/// processors of the mask (RPS); those of transmit queues send over them (XPS).
fn names(of: Flow) -> (&'static str, &'static str) {
    match of {
        Flow::Ingress => ("rx-", "rps_cpus"),
        Flow::Egress => ("tx-", "xps_cpus"),
    }
}

/// The masks of all queues in order of their number. A single transmit queue has no mask
/// (net/core/net-sysfs.c: `xps_queue_show`, Linux 6.18), and there are none if the kernel lacks
/// CONFIG_RPS or CONFIG_XPS.
pub(super) fn read(device: &str, of: Flow) -> Result<Vec<String>, HostError> {
    let mut masks = Vec::new();
    for file in files(device, of)? {
        match fs::read_to_string(file) {
            Ok(mask) => masks.push(mask.trim().to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(Operation::ReadProcessors(device.to_owned()).failed()(error));
            }
        }
    }
    Ok(masks)
}

/// Sets the mask of each queue, given its number and how many there are.
pub(super) fn write(
    device: &str,
    of: Flow,
    mask: impl Fn(u32, u32) -> String,
) -> Result<(), HostError> {
    let files = files(device, of)?;
    let count = files.len() as u32;
    for (n, file) in (0..).zip(files) {
        fs::write(file, mask(n, count))
            .map_err(Operation::SetProcessors(device.to_owned()).failed())?;
    }
    Ok(())
}

/// Restores masks. Removed queues are skipped: restoring the number of queues restores their masks.
pub(super) fn restore(device: &str, of: Flow, masks: &[String]) -> Result<(), HostError> {
    let now = read(device, of)?;
    for ((file, mask), now) in files(device, of)?.into_iter().zip(masks).zip(now) {
        if *mask != now {
            fs::write(file, mask).map_err(Operation::SetProcessors(device.to_owned()).failed())?;
        }
    }
    Ok(())
}

fn files(device: &str, of: Flow) -> Result<Vec<PathBuf>, HostError> {
    let (beginning, name) = names(of);
    let folder = Path::new("/sys/class/net").join(device).join("queues");
    let entries =
        fs::read_dir(&folder).map_err(Operation::ListQueues(device.to_owned()).failed())?;
    let mut numbered: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name_of = entry.file_name();
            let number = name_of.to_str()?.strip_prefix(beginning)?.parse().ok()?;
            Some((number, entry.path().join(name)))
        })
        .filter(|(_, file)| file.exists())
        .collect();
    numbered.sort();
    Ok(numbered.into_iter().map(|(_, file)| file).collect())
}
