//! Names of devices in names of files and units, and in scripts.

/// The file with the kernel parameters of a change, without the root. Most files of others have
/// lower numbers.
pub(super) fn parameters(id: &str) -> String {
    format!("etc/sysctl.d/98-pathtwin-{id}.conf")
}

/// A name quoted as one word of a shell.
pub(super) fn quoted(device: &str) -> String {
    format!("'{}'", device.replace('\'', r"'\''"))
}

/// A name of a device for the name of a file.
pub(super) fn plain(device: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    device.chars().map(plain).collect()
}

/// A name of a device in the name of a unit (systemd.unit(5), String Escaping for Inclusion in Unit
/// Names).
pub(super) fn escaped(device: &str) -> String {
    let mut out = String::new();
    for (n, byte) in device.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' => out.push(byte.into()),
            b'.' if n > 0 => out.push('.'),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out
}
