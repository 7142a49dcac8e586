//! `pathtwin lab kernel`.

use std::{path::Path, process::ExitCode, time::Duration};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use kernel::{BuildOptions, Built, Image, KernelError, Progress, TrialError};
use lab::{Config, Lab, LabError, facts::Probe};
use model::job::Facts;
use report::lab_kernel;

use crate::{
    cli::{Format, Kernel, KernelCommand},
    exit::{Failure, code},
    format,
    say::say,
};

pub(crate) fn kernel(arguments: &Kernel) -> Result<ExitCode, Failure> {
    match &arguments.command {
        KernelCommand::Path => {
            let image = kernel::locate().map_err(LabError::from)?;
            format::text(&format!("{}\n", image.path.display()))?;
        }
        KernelCommand::Build {
            source,
            config,
            series,
            untested,
            force,
        } => {
            let config = config.as_ref().map(|file| {
                let text = std::fs::read_to_string(file);
                text.with_context(|| file.display().to_string())
            });
            let config = config.transpose();
            // Without it the image could not be booted, after minutes of building.
            lab::guest::program()?;
            let options = BuildOptions {
                source: source.clone(),
                config: config.map_err(|error| Failure::new(code::USE, error))?,
                series: series.clone(),
                untested: *untested,
                force: *force,
                cancel: Some(sys::signal::stop_flag().context("watch for Ctrl-C")?),
            };
            make("built", |progress| {
                kernel::build(&options, &mut boots, progress)
            })?;
        }
        KernelCommand::Import { file } => {
            make("imported", |progress| {
                kernel::import(file, &mut boots, progress)
            })?;
        }
        KernelCommand::List => format::text(&list()?)?,
        KernelCommand::Info { output } => info(*output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<String, LabError> {
    let current = kernel::locate().ok().map(|image| image.sha256);
    let images: Vec<_> = kernel::images()?.iter().map(known).collect();
    Ok(lab_kernel::list(&images, current.as_deref()))
}

/// Makes an image with progress on the terminal, and prints the result.
fn make(
    how: &str,
    work: impl FnOnce(&mut dyn FnMut(Progress<'_>)) -> Result<Built, KernelError>,
) -> Result<(), Failure> {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let built = work(&mut |progress| bar.set_message(progress.to_string()));
    bar.finish_and_clear();
    let built = built.map_err(|e| Failure::new(e.exit_code(), e))?;
    for note in &built.notes {
        say!("pathtwin: {note}");
    }
    let how = if built.fresh { how } else { "already built" };
    let version = built
        .image
        .meta
        .as_ref()
        .map_or("of unknown version", |m| &m.version);
    say!("pathtwin: lab kernel {version} {how}");
    format::text(&format!("{}\n", built.image.path.display()))
}

/// Boots an image to its end, and probes it for all that pathtwin can use.
fn boots(image: &Image) -> Result<(), TrialError> {
    let stop = sys::signal::stop_flag()?;
    let lab = trial_lab(Some(image.clone()))?;
    lab.run(&Probe, stop, &mut |_| ())?;
    Ok(())
}

/// A lab for one boot of an image: the given one, else the current one.
fn trial_lab(image: Option<Image>) -> Result<Lab, LabError> {
    Lab::open(&Config {
        cache: false,
        wall_limit: Duration::from_secs(60),
        image,
        ..Config::default()
    })
}

/// An image, its document, and its features.
#[derive(serde::Serialize)]
struct Info<'a> {
    path: &'a Path,
    sha256: &'a str,
    facts: Facts,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a kernel::Meta>,
}

fn info(format: Format) -> Result<(), Failure> {
    let lab = trial_lab(None)?;
    let image = lab.image()?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let facts = lab.run(&Probe, stop, &mut |_| ())?;
    if format == Format::Text {
        return format::text(&lab_kernel::info(&known(image), &facts));
    }
    let Image { path, sha256, meta } = image;
    format::json(&Info {
        path,
        sha256,
        facts,
        meta: meta.as_ref(),
    })
}

/// Returns the facts about an image, for people.
fn known(image: &Image) -> lab_kernel::Image {
    let meta = image.meta.as_ref();
    lab_kernel::Image {
        path: image.path.display().to_string(),
        sha256: image.sha256.clone(),
        version: meta.map(|m| m.version.clone()),
        source: meta
            .and_then(|m| m.source.as_ref())
            .map(|s| match &s.archive {
                Some(archive) => format!("{}, {archive}", s.name),
                None => s.name.clone(),
            }),
        seeded: meta.map(|m| m.seeded),
        simd_crypto: meta.map(|m| m.simd_crypto),
        compiler: meta.and_then(|m| m.compiler.clone()),
    }
}
