//! Packs programs that are built, and installs them from a checkout.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow};
use clap::{Args, Parser, Subcommand};
use package::{
    Epoch, PackageError, VERSION,
    changelog::Changelog,
    contents, deb,
    deb::{Common, Package},
    dist::{self, Dist},
    formats, installed, openwrt,
    program::Program,
};

/// Packs built programs for Debian and OpenWrt, and installs them from a checkout
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The checkout
    #[arg(long, default_value = ".", global = true)]
    source: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A package for Debian of programs for one processor
    Deb {
        #[command(flatten)]
        programs: Programs,
        /// Folder of the package
        #[arg(long, default_value = "out/dist")]
        out: PathBuf,
    },
    /// Packages for OpenWrt of static programs, as opkg and apk read them
    Openwrt {
        #[command(flatten)]
        programs: Programs,
        /// Folder of the packages
        #[arg(long, default_value = "out/dist")]
        out: PathBuf,
    },
    /// All files of a release, with checksums and bills of materials
    Dist {
        /// Folder of the optimised programs
        #[arg(long, default_value = "target/release")]
        release: PathBuf,
        /// A static program; may be given several times
        #[arg(long = "agent")]
        agents: Vec<PathBuf>,
        /// The program for 64-bit ARM with shared libraries, for a package of Debian
        #[arg(long)]
        arm64: Option<PathBuf>,
        /// Folder of the release; other files in it get a checksum, too
        #[arg(long, default_value = "out/dist")]
        out: PathBuf,
    },
    /// Install programs, services, manual pages and completions below a prefix
    Install {
        #[command(flatten)]
        programs: Programs,
        #[command(flatten)]
        place: Place,
    },
    /// Remove the files installed below a prefix
    Uninstall {
        #[command(flatten)]
        place: Place,
    },
    /// Print the release notes of a version, from the changelog
    Notes {
        /// The version; default: the one in the sources
        #[arg(default_value = VERSION)]
        version: String,
    },
}

#[derive(Args)]
struct Programs {
    /// Programs, pathtwin itself first
    #[arg(required = true)]
    programs: Vec<PathBuf>,
}

impl Programs {
    fn read(&self) -> Result<Vec<Program>, PackageError> {
        let programs = self.programs.iter();
        programs.map(|path| Program::read(path)).collect()
    }
}

#[derive(Args)]
struct Place {
    /// Installation prefix, such as /usr/local
    #[arg(long)]
    prefix: PathBuf,
    /// A folder in place of the root, for packagers
    #[arg(long)]
    destdir: Option<PathBuf>,
}

impl Place {
    fn folder(&self) -> PathBuf {
        let relative = self.prefix.strip_prefix("/").unwrap_or(&self.prefix);
        match &self.destdir {
            Some(root) => root.join(relative),
            None => self.prefix.clone(),
        }
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pathtwin-package: error: {error:#}");
            let lacks = error.downcast_ref::<PackageError>();
            let lacks = lacks.is_some_and(|e| matches!(e, PackageError::NoTool(_)));
            ExitCode::from(if lacks { 3 } else { 4 })
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), anyhow::Error> {
    let source = &arguments.source;
    match &arguments.command {
        Command::Deb { programs, out } => {
            let maintainer = maintainer();
            let common = common(source, &maintainer)?;
            save(out, &deb::package(common, &programs.read()?, &[])?)
        }
        Command::Openwrt { programs, out } => {
            for program in &programs.programs {
                let router = openwrt::router(source, program)?;
                for package in formats::packages(&router, epoch()?)? {
                    save(out, &package)?;
                }
            }
            Ok(())
        }
        Command::Dist {
            release,
            agents,
            arm64,
            out,
        } => {
            let maintainer = maintainer();
            let dist = Dist {
                release,
                agents,
                arm64: arm64.as_deref(),
                common: common(source, &maintainer)?,
            };
            for package in dist.packages()? {
                save(out, &package)?;
            }
            let name = "SHA256SUMS".to_owned();
            let bytes = dist::sums(out)?.into_bytes();
            save(out, &Package { name, bytes })
        }
        Command::Install { programs, place } => {
            let prefix = place.prefix.to_string_lossy();
            let tree = contents::local(source, &programs.read()?, &prefix)?;
            Ok(installed::install(&tree, &place.folder())?)
        }
        Command::Uninstall { place } => {
            let removed = installed::uninstall(&place.folder())?;
            println!("{removed} files removed below {}", place.folder().display());
            Ok(())
        }
        Command::Notes { version } => {
            let log = contents::source(source, "CHANGELOG.md")?;
            let log = String::from_utf8(log).context("read CHANGELOG.md")?;
            print!("{}", Changelog::parse(&log).notes(version)?);
            Ok(())
        }
    }
}

fn save(folder: &Path, package: &Package) -> Result<(), anyhow::Error> {
    let path = folder.join(&package.name);
    fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    fs::write(&path, &package.bytes).with_context(|| format!("write {}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}

fn common<'a>(checkout: &'a Path, maintainer: &'a str) -> Result<Common<'a>, anyhow::Error> {
    Ok(Common {
        checkout,
        maintainer,
        epoch: epoch()?,
        level: 6,
    })
}

fn maintainer() -> String {
    match (env::var("DEBFULLNAME"), env::var("DEBEMAIL")) {
        (Ok(name), Ok(mail)) => format!("{name} <{mail}>"),
        _ => deb::MAINTAINER.to_owned(),
    }
}

/// # Errors
/// `SOURCE_DATE_EPOCH` is not set or invalid.
fn epoch() -> Result<Epoch, anyhow::Error> {
    let time = env::var("SOURCE_DATE_EPOCH").ok();
    let time = time.and_then(|text| text.parse().ok());
    time.map(Epoch).ok_or_else(|| {
        anyhow!("SOURCE_DATE_EPOCH is not set; for the time of the commit: git log -1 --format=%ct")
    })
}
