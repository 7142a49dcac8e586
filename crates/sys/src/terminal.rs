//! The size of a terminal.

use std::os::fd::{AsFd, AsRawFd};

/// Columns and lines of the terminal of a descriptor; `None` if it is not a terminal, or unknown.
pub fn size(fd: impl AsFd) -> Option<(usize, usize)> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the descriptor is open while `fd` is borrowed, and TIOCGWINSZ writes one winsize
    // (ioctl_tty(2)) to memory that is one.
    let result = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &mut size) };
    let there = result == 0 && size.ws_col > 0 && size.ws_row > 0;
    there.then_some((size.ws_col.into(), size.ws_row.into()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_has_no_size() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(super::size(&null), None);
    }
}
