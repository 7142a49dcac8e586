//! Detection of names in a job that the lab does not have, before a guest boots.

use std::path::Path;

use kernel::Image;
use model::{
    cell::{Cell, TunnelAt},
    job::Command,
    net::Side,
    plan::{Measurement, Plan},
};

use crate::{LabError, images::Images};

/// Folders searched for programs in the lab: the PATH that the guest sets.
const FOLDERS: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// Rejects cells whose image is missing or lacks one of their congestion controls. An image without
/// known features is checked when it runs.
pub(crate) fn cells(images: &Images, cells: &[Cell]) -> Result<(), LabError> {
    for cell in cells {
        let image = images.of(cell.kernel.as_ref())?.image;
        let ends = [Side::Near, Side::Far].map(|side| cell.ends.end(side).cc.as_str());
        let loads = std::iter::once(&cell.traffic).chain(&cell.cross);
        let names = ends
            .into_iter()
            .chain(loads.filter_map(|load| load.cc.as_deref()));
        known(&image, names)?;
    }
    Ok(())
}

/// The same of a plan.
pub(crate) fn plan(image: &Image, plan: &Plan) -> Result<(), LabError> {
    fn named(measurement: &Measurement) -> &[String] {
        match measurement {
            Measurement::Tcp { cc, .. } => cc,
            _ => &[],
        }
    }
    let steps = plan.steps.iter();
    let names = steps.flat_map(|step| named(&step.measurement));
    known(image, names.map(String::as_str))
}

fn known<'a>(image: &Image, mut names: impl Iterator<Item = &'a str>) -> Result<(), LabError> {
    let Some(meta) = &image.meta else {
        return Ok(());
    };
    let there = &meta.congestion_controls;
    match names.find(|name| !there.iter().any(|known| known == name)) {
        None => Ok(()),
        Some(name) => Err(LabError::NoCongestion {
            name: name.to_owned(),
            known: there.clone(),
        }),
    }
}

/// Refuses nodes that a path does not have, and programs that this host does not.
pub(crate) fn commands(cell: &Cell, commands: &[Command]) -> Result<(), LabError> {
    let mut nodes = vec!["client", "near", "far", "server"];
    let on_routers = |at: &TunnelAt| *at == TunnelAt::Routers;
    if cell.tunnel.as_ref().is_some_and(|t| on_routers(&t.at)) {
        nodes.extend(["client-router", "server-router"]);
    }
    if cell.path.local.is_some() {
        nodes.push("third");
    }
    for command in commands {
        if !nodes.contains(&command.node.as_str()) {
            return Err(LabError::NoNode {
                node: command.node.clone(),
                nodes,
            });
        }
        let program = command.argv.first().map(String::as_str).unwrap_or_default();
        if !is_there(program) {
            return Err(LabError::NoProgram(program.to_owned()));
        }
    }
    Ok(())
}

/// Returns true if a shell would find the program.
fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    FOLDERS
        .iter()
        .any(|folder| Path::new(folder).join(program).is_file())
}
