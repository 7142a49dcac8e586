//! Version numbers of kernels and of their source packages.

/// The numbers of `linux-source-X.Y[.Z]`, newest last when sorted; `None` for anything else, such
/// as the real-time variants or a meta package.
pub(super) fn package_version(name: &str) -> Option<Vec<u32>> {
    let digits = name.strip_prefix("linux-source-")?;
    let numbers: Option<Vec<u32>> = digits.split('.').map(|part| part.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() >= 2)
}

/// The numbers in a version of a package, to compare two of one series.
pub(super) fn version_numbers(version: &str) -> Vec<u32> {
    version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The kernel sources among the packages whose names are at the beginning of each line.
pub(super) fn source_packages(listing: &str) -> Vec<String> {
    listing
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| package_version(name).is_some())
        .map(str::to_owned)
        .collect()
}

/// `VERSION.PATCHLEVEL.SUBLEVEL` and the rest, from the kernel's top Makefile.
pub(super) fn from_makefile(text: &str) -> Option<String> {
    let field = |name: &str| {
        text.lines().take(20).find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == name).then(|| value.trim())
        })
    };
    let (version, patchlevel) = (field("VERSION")?, field("PATCHLEVEL")?);
    let mut text = format!("{version}.{patchlevel}");
    if let Some(sublevel) = field("SUBLEVEL").filter(|value| !value.is_empty()) {
        text.push('.');
        text.push_str(sublevel);
    }
    text.push_str(field("EXTRAVERSION").unwrap_or_default());
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_distinguished_from_variants_and_compared_by_number() {
        let listing = "linux-source-6.9 - source\nlinux-source-6.12 - source\nlinux-source-6.12-rt - x\n\
                       linux-source - meta\n";
        let names = source_packages(listing);
        assert_eq!(names, ["linux-source-6.9", "linux-source-6.12"]);
        assert!(package_version(&names[1]) > package_version(&names[0]));
        assert!(version_numbers("7.2.14-1") > version_numbers("7.2.9-2"));
    }

    #[test]
    fn the_version_is_in_the_makefile() {
        let text =
            "# SPDX\nVERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 13\nEXTRAVERSION = -rc1\nNAME = x\n";
        assert_eq!(from_makefile(text).as_deref(), Some("7.2.13-rc1"));
        assert_eq!(from_makefile("all:\n"), None);
    }
}
