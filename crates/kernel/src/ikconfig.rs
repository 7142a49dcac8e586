//! Configuration inside an image (`CONFIG_IKCONFIG`, `kernel/configs.c`): a gzip stream between the
//! marks `IKCFG_ST` and `IKCFG_ED`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::bytes::find;

/// The configuration as text; `None` if the image has none, or `gzip` is absent.
pub(super) fn extract(image: &[u8]) -> Option<String> {
    // The mark also occurs as a plain string in scripts/extract-ikconfig users; the stream follows
    // it.
    let mut from = 0;
    while let Some(at) = find(&image[from..], b"IKCFG_ST") {
        let start = from + at + b"IKCFG_ST".len();
        if image[start..].starts_with(&[0x1f, 0x8b]) {
            let end = start + find(&image[start..], b"IKCFG_ED")?;
            return gunzip(&image[start..end]);
        }
        from = start;
    }
    None
}

fn gunzip(stream: &[u8]) -> Option<String> {
    let mut child = Command::new("gzip")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let stream = stream.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&stream).is_ok());
    let out = child.wait_with_output().ok()?;
    let written = writer.join().ok()?;
    (written && out.status.success()).then(|| String::from_utf8(out.stdout).ok())?
}

/// The version in the image's banner, `Linux version 7.2.13 (...`.
pub(super) fn version(image: &[u8]) -> Option<String> {
    const MARK: &[u8] = b"Linux version ";
    let mut from = 0;
    while let Some(at) = find(&image[from..], MARK) {
        let start = from + at + MARK.len();
        let word: Vec<u8> = image[start..]
            .iter()
            .copied()
            .take(64)
            .take_while(u8::is_ascii_graphic)
            .collect();
        if word.first().is_some_and(u8::is_ascii_digit) {
            return String::from_utf8(word).ok();
        }
        from = start;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_found_in_an_image() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, "CONFIG_HZ=1000\n").unwrap();
        let packed = Command::new("gzip")
            .arg("-c")
            .arg(&file)
            .output()
            .unwrap()
            .stdout;
        let image = [
            b"IKCFG_ST no ".as_slice(),
            b"IKCFG_ST",
            &packed,
            b"IKCFG_ED",
        ]
        .concat();
        assert_eq!(extract(&image).as_deref(), Some("CONFIG_HZ=1000\n"));
        assert_eq!(extract(b"nothing"), None);
    }

    #[test]
    fn the_version_is_found_in_the_banner() {
        assert_eq!(
            version(b"Linux version %s\0Linux version 6.1.192 (x)").as_deref(),
            Some("6.1.192")
        );
    }
}
