//! Publishes the atlas: `bench/atlas` runs its cells and then this program.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use atlas::publish::Atlas;
use clap::{Parser, Subcommand};

/// Publishes the atlas
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write everything from the results of the lab
    Publish {
        /// Folder with a folder for each spec, in which its segments are
        results: PathBuf,
        /// Folder with the README
        #[arg(long, default_value = "docs/atlas")]
        out: PathBuf,
        /// Accept that cells are missing
        #[arg(long)]
        sample: bool,
    },
    /// Write everything again from the table, after a change of a text or of the page
    Render {
        /// Folder with the table
        #[arg(long, default_value = "docs/atlas")]
        out: PathBuf,
    },
}

/// A finding is not shown by the cells.
const NOT_SHOWN: u8 = 1;

fn main() -> anyhow::Result<ExitCode> {
    let (atlas, out) = match Arguments::parse().command {
        Command::Publish {
            results,
            out,
            sample,
        } => (Atlas::of_results(&results, sample)?, out),
        Command::Render { out } => (Atlas::read(&out)?, out),
    };
    let files = atlas.write(&out).context("write the atlas")?;
    for file in &files {
        println!("{}", file.display());
    }
    println!("{} cells", atlas.cells.len());
    println!("BLAKE3 of all rows: {}", atlas.source.rows);
    println!("BLAKE3 of the table: {}", atlas.source.table);
    let mut shown = true;
    for one in atlas.findings().iter().filter(|one| !one.holds()) {
        shown = false;
        let (id, claim) = (one.finding.id, one.finding.claim);
        eprintln!("pathtwin-atlas: the cells do not show finding {id}: {claim}");
    }
    Ok(match shown {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(NOT_SHOWN),
    })
}
