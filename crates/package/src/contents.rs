//! Installed files and their places, on Debian and from a checkout.

use std::{fs, path::Path};

use crate::{PackageError, program::Program, tar, tree::Tree};

/// The completions of a shell, below `share`: where packages have them, and where a prefix has.
const SHELLS: [(&str, &str, &str); 3] = [
    (
        "bash",
        "bash-completion/completions/pathtwin",
        "bash-completion/completions/pathtwin",
    ),
    (
        "zsh",
        "zsh/vendor-completions/_pathtwin",
        "zsh/site-functions/_pathtwin",
    ),
    (
        "fish",
        "fish/vendor_completions.d/pathtwin.fish",
        "fish/vendor_completions.d/pathtwin.fish",
    ),
];

/// Files of `packaging` for other programs, in the documentation.
const EXAMPLES: [&str; 2] = ["grafana/pathtwin.json", "prometheus/pathtwin.rules.yml"];

/// A file of the checkout.
///
/// # Errors
/// It cannot be read.
pub fn source(checkout: &Path, file: &str) -> Result<Vec<u8>, PackageError> {
    let path = checkout.join(file);
    fs::read(&path).map_err(PackageError::file("read", path))
}

/// Install location: `/usr` of Debian, or a prefix.
struct Place<'a> {
    tree: Tree,
    /// "usr" or "".
    prefix: &'a str,
    debian: bool,
}

impl Place<'_> {
    fn path(&self, path: &str) -> String {
        if self.prefix.is_empty() {
            path.to_owned()
        } else {
            format!("{}/{path}", self.prefix)
        }
    }

    fn file(&mut self, path: &str, bytes: Vec<u8>) {
        let path = self.path(path);
        self.tree.file(&path, bytes);
    }

    /// A manual page; Debian's are compressed.
    fn page(&mut self, name: &str, text: &[u8]) -> Result<(), PackageError> {
        if self.debian {
            self.file(&format!("share/man/man1/{name}.gz"), tar::gzip(text)?);
        } else {
            self.file(&format!("share/man/man1/{name}"), text.to_vec());
        }
        Ok(())
    }

    /// Completions and manual pages as the program makes them.
    fn own_words(&mut self, program: &Program) -> Result<(), PackageError> {
        for (shell, packaged, local) in SHELLS {
            let path = if self.debian { packaged } else { local };
            self.file(&format!("share/{path}"), program.completions(shell)?);
        }
        for (name, text) in program.manual()? {
            self.page(&name, &text)?;
        }
        Ok(())
    }

    /// Units, the user of the watch, examples. `bin` is the folder of the programs.
    fn services(&mut self, checkout: &Path, bin: &str) -> Result<(), PackageError> {
        for name in [
            "serve.service",
            "watch.service",
            "undo.service",
            "undo.timer",
        ] {
            let unit = source(checkout, &format!("packaging/systemd/pathtwin-{name}"))?;
            let unit = String::from_utf8_lossy(&unit).replace("/usr/bin/", &format!("{bin}/"));
            self.file(
                &format!("lib/systemd/system/pathtwin-{name}"),
                unit.into_bytes(),
            );
        }
        let users = source(checkout, "packaging/systemd/pathtwin.sysusers")?;
        self.file("lib/sysusers.d/pathtwin.conf", users);
        for example in EXAMPLES {
            let path = format!("share/doc/pathtwin/examples/{example}");
            self.file(&path, source(checkout, &format!("packaging/{example}"))?);
        }
        Ok(())
    }
}

/// Programs, services, manual pages and completions as in a Debian package. The first program
/// generates the completions.
///
/// # Errors
/// A program or file cannot be read, or a program fails.
pub fn debian(checkout: &Path, programs: &[Program]) -> Result<Tree, PackageError> {
    let mut place = Place {
        tree: Tree::default(),
        prefix: "usr",
        debian: true,
    };
    for program in programs {
        let path = format!("usr/bin/{}", program.name());
        place.tree.program(&path, program.stripped()?);
    }
    if let Some(main) = programs.first() {
        place.own_words(main)?;
    }
    // They are run by the program, so their manual page refers to its page.
    for program in programs.iter().skip(1) {
        place.page(&format!("{}.1", program.name()), b".so man1/pathtwin.1\n")?;
    }
    place.services(checkout, "/usr/bin")?;
    let mut tree = place.tree;
    tree.file(
        "etc/default/pathtwin-serve",
        source(checkout, "packaging/debian/pathtwin-serve.default")?,
    );
    // For the key of `serve` and the config of `watch`, which the administrator creates.
    tree.folder("etc/pathtwin", 0o755);
    tree.file(
        "usr/share/doc/pathtwin/README.md",
        source(checkout, "packaging/README.md")?,
    );
    tree.file(
        "usr/share/lintian/overrides/pathtwin",
        source(checkout, "packaging/debian/lintian-overrides")?,
    );
    Ok(tree)
}

/// The same below a prefix, such as `/usr/local`.
///
/// # Errors
/// A program or file cannot be read, or a program fails.
pub fn local(checkout: &Path, programs: &[Program], prefix: &str) -> Result<Tree, PackageError> {
    let mut place = Place {
        tree: Tree::default(),
        prefix: "",
        debian: false,
    };
    for program in programs {
        let path = format!("bin/{}", program.name());
        place.tree.program(&path, program.stripped()?);
    }
    if let Some(main) = programs.first() {
        place.own_words(main)?;
    }
    place.services(checkout, &format!("{}/bin", prefix.trim_end_matches('/')))?;
    Ok(place.tree)
}
