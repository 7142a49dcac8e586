//! The `SIOCETHTOOL` ioctl with a request of any length.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// `SIOCETHTOOL` (include/uapi/linux/sockios.h, Linux 7.2).
const SIOCETHTOOL: u32 = 0x8946;
const IFNAMSIZ: usize = 16;

/// `struct ifreq` (include/uapi/linux/if.h) with a pointer in its union, which is 24 bytes on
/// 64-bit machines.
#[repr(C)]
struct Ifreq {
    name: [u8; IFNAMSIZ],
    data: *mut libc::c_void,
    rest: [u8; 16],
}

/// Sends a request that starts with `head`, whose first word is the command, and returns the result
/// of `len` bytes, in the calling thread's network namespace.
///
/// For some commands the kernel determines the length of the result (net/ethtool/ioctl.c:
/// `ethtool_get_stats`), so the request ends before an inaccessible page: a result that is too long
/// is then an error.
pub(super) fn exchange(link: &str, head: &[u32], len: usize) -> io::Result<Vec<u8>> {
    if link.len() >= IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    let fd: OwnedFd = socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let head: Vec<u8> = head.iter().flat_map(|w| w.to_ne_bytes()).collect();
    let mut pages = Pages::new(len.max(head.len()))?;
    pages.bytes_mut()[..head.len()].copy_from_slice(&head);
    let mut name = [0; IFNAMSIZ];
    name[..link.len()].copy_from_slice(link.as_bytes());
    let mut request = Ifreq {
        name,
        data: pages.start.as_ptr(),
        rest: [0; 16],
    };
    // SAFETY: `request` has the layout of struct ifreq, its name ends with a NUL, and it points to
    // mapped memory that is followed by a page the kernel cannot write to; both outlive the call.
    let rc = unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    if rc == 0 {
        Ok(pages.bytes_mut()[..len].to_vec())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Mapped memory before an inaccessible page.
struct Pages {
    start: NonNull<libc::c_void>,
    usable: usize,
    mapped: usize,
}

impl Pages {
    fn new(len: usize) -> io::Result<Pages> {
        let page = rustix::param::page_size();
        let usable = len.next_multiple_of(page);
        let mapped = usable + page;
        // SAFETY: a new private mapping at an address that the kernel chooses; its last page is
        // made inaccessible before any reference into it exists.
        unsafe {
            let start = mmap_anonymous(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?;
            let pages = Pages {
                start: NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?,
                usable,
                mapped,
            };
            mprotect(start.byte_add(usable), page, MprotectFlags::empty())?;
            Ok(pages)
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `usable` bytes from `start` are mapped, readable and writable, initialised to 0
        // by the kernel, and borrowed for as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.usable) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, to which no reference remains.
        let _ = unsafe { munmap(self.start.as_ptr(), self.mapped) };
    }
}
