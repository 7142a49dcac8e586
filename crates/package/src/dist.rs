//! Files of a release, in one folder with their checksums.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    PackageError, VERSION, contents,
    crates::{self, Build, Crate, Id},
    deb::{self, Common, Package},
    elf::Machine,
    formats, openwrt,
    program::Program,
    sbom, tar,
    tree::Tree,
};

/// Contents of a release.
#[derive(Clone, Debug)]
pub struct Dist<'a> {
    /// Folder of the programs of `make build`.
    pub release: &'a Path,
    /// Static programs of `make agent`.
    pub agents: &'a [PathBuf],
    /// `pathtwin` for 64-bit ARM with shared libraries, for Debian; without it there is no Debian
    /// package for arm64.
    pub arm64: Option<&'a Path>,
    /// Their common properties.
    pub common: Common<'a>,
}

/// The features of the program for arm64: all but the lab, whose kernel runs on x86-64 only.
pub const ARM64_FEATURES: &str = "history,manual,page,quic";

/// The features of the agent.
pub const AGENT_FEATURES: &str = "quic,tune,watch";

impl Dist<'_> {
    /// All packages.
    ///
    /// # Errors
    /// A program lacks, or cannot be packed.
    pub fn packages(&self) -> Result<Vec<Package>, PackageError> {
        let mut all = self.debian_amd64()?;
        if let Some(program) = self.arm64 {
            let build = Build {
                target: "aarch64-unknown-linux-gnu",
                packages: &["pathtwin"],
                features: Some(ARM64_FEATURES),
            };
            all.extend(self.debian(&[Program::read(program)?], build)?);
        }
        for agent in self.agents {
            all.extend(self.agent(agent)?);
        }
        Ok(all)
    }

    fn debian_amd64(&self) -> Result<Vec<Package>, PackageError> {
        let names = ["pathtwin", "pathtwin-guest"];
        let programs = names.map(|name| Program::read(&self.release.join(name)));
        let programs = programs.into_iter().collect::<Result<Vec<_>, _>>()?;
        let build = Build {
            target: "x86_64-unknown-linux-gnu",
            packages: &names,
            features: None,
        };
        self.debian(&programs, build)
    }

    /// A package for Debian, and its bill of materials.
    fn debian(&self, programs: &[Program], build: Build<'_>) -> Result<Vec<Package>, PackageError> {
        let crates = crates::of(self.common.checkout, build)?;
        let bill = sbom::cyclonedx("pathtwin", &crates, self.common.epoch);
        let extra = [
            ("sbom.cdx.json".to_owned(), bill.clone()),
            ("third-party-licences".to_owned(), sbom::licences(&crates)?),
        ];
        let package = deb::package(self.common, programs, &extra)?;
        let name = package.name.replace(".deb", ".cdx.json");
        Ok(vec![package, Package { name, bytes: bill }])
    }

    /// A static program itself, and its packages for OpenWrt.
    fn agent(&self, program: &Path) -> Result<Vec<Package>, PackageError> {
        let router = openwrt::router(self.common.checkout, program)?;
        let target = match router.machine {
            Machine::X86_64 => "x86_64-unknown-linux-musl",
            Machine::Aarch64 => "aarch64-unknown-linux-musl",
        };
        let build = Build {
            target,
            packages: &["pathtwin"],
            features: Some(AGENT_FEATURES),
        };
        let crates = crates::of(self.common.checkout, build)?;
        let mut all = formats::packages(&router, self.common.epoch)?;
        let processor = router.machine.gnu();
        let name = format!("pathtwin-agent-{VERSION}-{processor}");
        let bill = sbom::cyclonedx("pathtwin-agent", &crates, self.common.epoch);
        all.push(Package {
            name: format!("{name}.cdx.json"),
            bytes: bill,
        });
        all.push(self.archive(&name, program, &crates)?);
        Ok(all)
    }

    /// The static program with its licences, for every other Linux.
    fn archive(
        &self,
        name: &str,
        program: &Path,
        crates: &BTreeMap<Id, Crate>,
    ) -> Result<Package, PackageError> {
        let bytes = fs::read(program).map_err(PackageError::file("read", program))?;
        let mut tree = Tree::default();
        tree.program(&format!("{name}/pathtwin"), bytes);
        for file in [
            "LICENSE-MIT",
            "LICENSE-APACHE",
            "packaging/container/Containerfile",
        ] {
            let short = file.rsplit('/').next().unwrap_or(file);
            tree.file(
                &format!("{name}/{short}"),
                contents::source(self.common.checkout, file)?,
            );
        }
        let licences = sbom::licences(crates)?;
        tree.file(&format!("{name}/third-party-licences"), licences);
        let packed = tar::archive(&tree, false, self.common.epoch)?;
        Ok(Package {
            name: format!("{name}.tar.xz"),
            bytes: deb::compressed(&packed, self.common.level)?,
        })
    }
}

/// The checksums of all files in a folder, as `sha256sum --check` reads them.
///
/// # Errors
/// A file cannot be read.
pub fn sums(folder: &Path) -> Result<String, PackageError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(PackageError::file("list", folder))?;
    let mut lines = BTreeMap::new();
    for path in entries.iter().map(fs::DirEntry::path) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_file() && name != "SHA256SUMS" {
            let bytes = fs::read(&path).map_err(PackageError::file("read", &path))?;
            let package = Package { name, bytes };
            lines.insert(package.name.clone(), deb::sum(&package));
        }
    }
    Ok(lines.into_values().collect())
}
