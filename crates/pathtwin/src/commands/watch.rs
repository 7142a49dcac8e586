//! `pathtwin watch`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow};
use report::pace::Paced;
use watch::{
    config::{self, Config},
    daemon::{self, DaemonError, Start},
    schedule,
};

use crate::cli::watch::Watch;
#[cfg(feature = "history")]
use crate::document;
use crate::{
    exit::{Failure, code},
    format::{self, say},
};

pub(crate) fn watch(arguments: &Watch) -> Result<ExitCode, Failure> {
    let Some(file) = &arguments.config else {
        format::text(config::EXAMPLE)?;
        return Ok(ExitCode::SUCCESS);
    };
    let config = with_runtime(file, read(file)?)?;
    if arguments.check {
        format::text(&pace(&config))?;
        return Ok(ExitCode::SUCCESS);
    }
    #[cfg(feature = "history")]
    let place = document::place(config.store.as_deref())?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let random = traffic::wire::key::random().context("draw a seed")?;
    let paths = match config.paths.len() {
        1 => "one path".to_owned(),
        many => format!("{many} paths"),
    };
    say(format_args!(
        "watching {paths}; state in {}",
        config.state.display()
    ));
    daemon::run(Start {
        config,
        #[cfg(feature = "history")]
        place: &place,
        program: env!("CARGO_PKG_VERSION"),
        seed: u64::from_le_bytes(random),
        stop,
        log: &mut |line| say(format_args!("{line}")),
        drift: &mut super::tune::drift::drifted,
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn read(file: &Path) -> Result<Config, Failure> {
    let text = std::fs::read_to_string(file).with_context(|| format!("read {}", file.display()));
    parse(file, &text.map_err(|e| Failure::new(code::USE, e))?)
}

/// The config with the folder in memory of the service manager (`RuntimeDirectory=` of
/// systemd.exec(5): the first of a list with colons), unless it names one.
fn with_runtime(file: &Path, mut config: Config) -> Result<Config, Failure> {
    if config.runtime.is_none() {
        let given = std::env::var("RUNTIME_DIRECTORY").unwrap_or_default();
        let first = given.split(':').next().filter(|folder| !folder.is_empty());
        config.runtime = first.map(PathBuf::from);
    }
    if config.flash && config.runtime.is_none() {
        let error = anyhow!(
            "{}: flash: runs have to wait in a folder in memory: name one, such as runtime = \
             \"/run/pathtwin-watch\"",
            file.display()
        );
        return Err(Failure::new(code::USE, error));
    }
    Ok(config)
}

/// The config of a file with this text.
pub(crate) fn parse(file: &Path, text: &str) -> Result<Config, Failure> {
    let name = file.display().to_string();
    config::parse(&name, text).map_err(|e| Failure::new(code::USE, e))
}

/// Describes the pace of measurements.
fn pace(config: &Config) -> String {
    let paths = config.paths.iter().zip(schedule::paces(config));
    let paced = paths.map(|(path, pace)| Paced {
        name: &path.name,
        host: &path.host,
        probe: pace.probe,
        load: pace.load,
        full: pace.full,
    });
    report::pace::text(&paced.collect::<Vec<_>>(), config.month_bytes)
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Self {
        let code = match &error {
            DaemonError::State(_) => code::LACKS,
            DaemonError::Plan(_) => code::USE,
            DaemonError::Listen { .. } => code::FAILED,
        };
        Self::new(code, error)
    }
}
