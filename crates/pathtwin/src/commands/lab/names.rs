//! Validation of names before a guest boots.

use std::path::Path;

use anyhow::anyhow;
use lab::Lab;
use model::{
    cell::{Cell, TunnelAt},
    job::Command,
    plan::{Measurement, OF_HOST, Plan},
};

use crate::exit::{Failure, code};

/// Where programs in the lab are searched for: the PATH that the guest gives them.
const FOLDERS: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// Refuses congestion controls that the lab's kernel does not have. An image of which nothing is
/// known decides when it runs.
///
/// # Errors
/// A cell names one of them.
pub(crate) fn controls(lab: &Lab, cells: &[Cell]) -> Result<(), Failure> {
    let ends = |cell: &Cell| [cell.ends.near.cc.clone(), cell.ends.far.cc.clone()];
    let loads = |cell: &Cell| -> Vec<String> {
        let own = cell.traffic.cc.clone();
        let cross = cell.cross.iter().filter_map(|load| load.cc.clone());
        ends(cell).into_iter().chain(own).chain(cross).collect()
    };
    known(lab, cells.iter().flat_map(loads))
}

/// The same of a plan.
///
/// # Errors
/// A step names one of them.
pub(crate) fn controls_of_plan(lab: &Lab, plan: &Plan) -> Result<(), Failure> {
    let named = |measurement: &Measurement| match measurement {
        Measurement::Tcp { cc, .. } => {
            let named = cc.iter().filter(|name| *name != OF_HOST);
            named.cloned().collect()
        }
        _ => Vec::new(),
    };
    known(
        lab,
        plan.steps.iter().flat_map(|step| named(&step.measurement)),
    )
}

fn known(lab: &Lab, mut names: impl Iterator<Item = String>) -> Result<(), Failure> {
    let Some(meta) = lab.image().ok().and_then(|image| image.meta.as_ref()) else {
        return Ok(());
    };
    let there = &meta.congestion_controls;
    match names.find(|name| !there.contains(name)) {
        None => Ok(()),
        Some(name) => Err(wrong(format!(
            "the lab's kernel has no congestion control {name}; it has {}",
            there.join(", ")
        ))),
    }
}

/// Refuses programs that this host does not have, and nodes that the path does not.
///
/// # Errors
/// A command names one of them.
pub(super) fn commands(cell: &Cell, commands: &[Command]) -> Result<(), Failure> {
    let mut nodes = vec!["client", "near", "far", "server"];
    let on_routers = |at: &TunnelAt| *at == TunnelAt::Routers;
    if cell.tunnel.as_ref().is_some_and(|t| on_routers(&t.at)) {
        nodes.extend(["client-router", "server-router"]);
    }
    for command in commands {
        if !nodes.contains(&command.node.as_str()) {
            return Err(wrong(format!(
                "there is no node {}; the path has {}",
                command.node,
                nodes.join(", ")
            )));
        }
        let program = command.argv.first().map(String::as_str).unwrap_or_default();
        if !is_there(program) {
            return Err(wrong(format!(
                "there is no program {program} on this host, whose programs the lab runs"
            )));
        }
    }
    Ok(())
}

/// Whether a program is found as a shell would.
fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    FOLDERS
        .iter()
        .any(|folder| Path::new(folder).join(program).is_file())
}

fn wrong(message: String) -> Failure {
    Failure::new(code::USE, anyhow!(message))
}
