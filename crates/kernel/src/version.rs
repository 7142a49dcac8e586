//! Version numbers of kernels and of the packages that hold their source.

/// The numbers of `linux-source-X.Y[.Z]`, newest last when sorted; `None` for anything else, such
/// as the real-time variants or a meta package.
pub(super) fn package_version(name: &str) -> Option<Vec<u32>> {
    let digits = name.strip_prefix("linux-source-")?;
    let numbers: Option<Vec<u32>> = digits.split('.').map(|part| part.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() >= 2)
}

/// The newest of the packages whose names stand at the beginning of each line.
pub(super) fn newest_package(listing: &str) -> Option<String> {
    listing
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter_map(|name| Some((package_version(name)?, name)))
        .max()
        .map(|(_, name)| name.to_owned())
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
    fn the_newest_package_is_chosen_by_number() {
        let listing = "linux-source-6.9 - source\nlinux-source-6.12 - source\nlinux-source-6.12-rt - x\n\
                       linux-source - meta\nlinux-source-5.15.0 - x\n";
        assert_eq!(
            newest_package(listing).as_deref(),
            Some("linux-source-6.12")
        );
        assert_eq!(newest_package("linux-source - meta\n"), None);
    }

    #[test]
    fn the_version_is_in_the_makefile() {
        let text =
            "# SPDX\nVERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 13\nEXTRAVERSION = -rc1\nNAME = x\n";
        assert_eq!(from_makefile(text).as_deref(), Some("7.2.13-rc1"));
        assert_eq!(from_makefile("all:\n"), None);
    }
}
