//! `pathtwin lab kernel`.

use std::{fmt::Write, path::Path, process::ExitCode, time::Duration};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use kernel::{BuildOptions, Image, Progress, Stage};
use lab::{Config, Lab, LabError};
use model::job::Facts;

use crate::{
    cli::{Format, Kernel, KernelCommand},
    exit::Failure,
    format,
};

pub(crate) fn kernel(arguments: &Kernel) -> Result<ExitCode, Failure> {
    match &arguments.command {
        KernelCommand::Path => {
            let image = kernel::locate().map_err(LabError::from)?;
            format::print(format!("{}\n", image.path.display()).as_bytes())?;
        }
        KernelCommand::Build { source, force } => build(source.as_deref(), *force)?,
        KernelCommand::Info { output } => info(*output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn build(source: Option<&Path>, force: bool) -> Result<(), Failure> {
    let options = BuildOptions {
        source: source.map(Path::to_owned),
        force,
        cancel: None,
    };
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let built = kernel::build(&options, &mut |progress| bar.set_message(words(&progress)))
        .map_err(|e| Failure::new(e.exit_code(), e));
    bar.finish_and_clear();
    let built = built?;
    let how = if built.fresh {
        "built"
    } else {
        "already built"
    };
    let version = built
        .image
        .meta
        .as_ref()
        .map_or("of unknown version", |m| &m.version);
    eprintln!("pathtwin: lab kernel {version} {how}");
    format::print(format!("{}\n", built.image.path.display()).as_bytes())
}

fn words(progress: &Progress<'_>) -> String {
    let stage = match progress.stage {
        Stage::Wait => "waiting for another build",
        Stage::Fetch => "fetching the source",
        Stage::Unpack => "unpacking",
        Stage::Patch => "patching",
        Stage::Configure => "configuring",
        Stage::Compile => "compiling",
        Stage::Install => "installing",
    };
    match progress.total {
        0 => format!("{stage} {}", progress.detail),
        total => format!("{stage}: {} of about {total} objects", progress.done),
    }
}

/// What an image is, and what it was found to do.
#[derive(serde::Serialize)]
struct Info<'a> {
    path: &'a Path,
    sha256: &'a str,
    facts: Facts,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a kernel::Meta>,
}

fn info(format: Format) -> Result<(), Failure> {
    let lab = Lab::open(&Config {
        cache: false,
        wall_limit: Duration::from_secs(60),
        ..Config::default()
    })?;
    let image = lab.image();
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let facts = lab.run(&lab::facts::Try, stop, &mut |_| ())?;
    if format == Format::Text {
        return format::print(text(image, &facts).as_bytes());
    }
    let Image { path, sha256, meta } = image;
    format::json(&Info {
        path,
        sha256,
        facts,
        meta: meta.as_ref(),
    })
}

fn text(image: &Image, facts: &Facts) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<20} {value}");
    };
    line("image", &image.path.display().to_string());
    line("sha256", &image.sha256);
    line("version", &facts.release);
    if let Some(meta) = &image.meta {
        if let Some(source) = &meta.source {
            line("source", &format!("{source:?}"));
        }
        line(
            "seeded",
            if meta.seeded {
                "yes"
            } else {
                "no: its runs do not repeat"
            },
        );
        line("vector crypto", if meta.simd_crypto { "yes" } else { "no" });
        line("compiler", meta.compiler.as_deref().unwrap_or("unknown"));
    }
    line("HZ", &facts.hz.to_string());
    line("congestion controls", &facts.congestion.join(" "));
    line("queues", &facts.qdiscs.join(" "));
    line("tunnels", &facts.tunnels.join(" "));
    let lacks: Vec<&str> = facts.lacks.keys().map(String::as_str).collect();
    line(
        "lacks",
        if lacks.is_empty() {
            "nothing that pathtwin uses"
        } else {
            ""
        },
    );
    for name in lacks {
        line("", name);
    }
    text
}
