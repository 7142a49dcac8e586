//! A watched path as a job of the lab.

use std::path::Path;

use model::job::{Command, Exec};
use serde::{Deserialize, Serialize};

use super::{daemon, draw::Drawn, far, line, planted::Change};

/// First argument of this program on the nodes of a path; the second is a [`Part`] as JSON.
pub const IN_LAB: &str = "in-lab";

/// Virtual time that is left after the watch, s: for the programs that end with it.
const REST_S: f64 = 600.0;

/// The part of this program on a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The line, on a router.
    Line(Box<line::Script>),
    /// The far end, on the server.
    Serve(far::Script),
    /// A setting of the far end that changes.
    Setting(line::Setting),
    /// The watch, on the client.
    Watch(daemon::Script),
}

/// The programs: the path of `pathtwin`, and that of this program.
pub struct Binaries<'a> {
    /// `pathtwin`, which serves and watches.
    pub pathtwin: &'a Path,
    /// This program, for the parts.
    pub own: &'a Path,
}

/// Positions of the programs whose output counts.
pub struct Outputs {
    /// The near router, which counts bytes.
    pub near: usize,
    /// The watch.
    pub watch: usize,
}

/// A job that watches a path for a number of days.
///
/// # Errors
/// A script cannot be written as JSON.
pub fn job(
    drawn: &Drawn,
    days: f64,
    binaries: &Binaries<'_>,
) -> Result<(Exec, Outputs), serde_json::Error> {
    let on = |node: &str, argv: Vec<String>| Command {
        node: node.to_owned(),
        argv,
    };
    let part = |node: &str, part: Part| {
        let own = binaries.own.display().to_string();
        Ok(on(
            node,
            vec![own, IN_LAB.to_owned(), serde_json::to_string(&part)?],
        ))
    };
    let pathtwin = binaries.pathtwin.display().to_string();
    let planted = drawn.planted.as_ref();
    let other_kernel = planted.filter(|planted| planted.change == Change::Kernel);
    let serve = far::Script {
        pathtwin: pathtwin.clone(),
        other_kernel_at_s: other_kernel.map(|planted| planted.at_s),
    };
    let mut commands = vec![part("server", Part::Serve(serve))?];
    for router in ["near", "far"] {
        let script = line::Script {
            router: router.to_owned(),
            drawn: drawn.clone(),
            days,
        };
        commands.push(part(router, Part::Line(Box::new(script)))?);
    }
    let setting = planted.and_then(|planted| {
        let (name, value) = planted.change.sysctl()?;
        let (name, value) = (name.to_owned(), value.to_owned());
        Some(line::Setting {
            at_s: planted.at_s,
            name,
            value,
        })
    });
    if let Some(setting) = setting {
        commands.push(part("server", Part::Setting(setting))?);
    }
    let script = daemon::Script {
        pathtwin,
        name: drawn.name.clone(),
        month_bytes: drawn.month_bytes,
        days,
    };
    commands.push(part("client", Part::Watch(script))?);
    let outputs = Outputs {
        near: 1,
        watch: commands.len() - 1,
    };
    let exec = Exec {
        cell: drawn.cell.clone(),
        commands,
        directory: "/".to_owned(),
        limit_ns: ((86_400.0 * days + REST_S) * 1e9) as u64,
    };
    Ok((exec, outputs))
}
