//! Ring buffers that the kernel writes records into.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Buffer sizes to try, bytes: unprivileged processes have a limit (`kernel.perf_event_mlock_kb`).
const SIZES: [usize; 3] = [256 * 1024, 64 * 1024, 16 * 1024];
/// Offsets in `struct perf_event_mmap_page` of the write and read positions.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// A header page followed by the data, whose length is a power of two.
#[derive(Debug)]
pub(super) struct Ring {
    start: NonNull<u8>,
    page: usize,
    data: usize,
}

impl Ring {
    pub(super) fn map(fd: &OwnedFd) -> io::Result<Ring> {
        let page = rustix::param::page_size();
        let mut failed = io::Error::from(io::ErrorKind::OutOfMemory);
        for data in SIZES.map(|size| size.max(page)) {
            // SAFETY: a new shared mapping of the event at an address that the kernel chooses;
            // nothing else refers to it.
            let start = unsafe {
                mmap(
                    std::ptr::null_mut(),
                    page + data,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::SHARED,
                    fd,
                    0,
                )
            };
            match start {
                Ok(start) => {
                    let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
                    return Ok(Ring { start, page, data });
                }
                Err(e) => failed = e.into(),
            }
        }
        Err(failed)
    }

    /// Takes all unread records.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let head = self.position(DATA_HEAD).load(Ordering::Acquire);
        let tail = self.position(DATA_TAIL).load(Ordering::Relaxed);
        let len = usize::try_from(head.wrapping_sub(tail)).unwrap_or(self.data);
        let len = len.min(self.data);
        let begin = (tail % self.data as u64) as usize;
        let first = len.min(self.data - begin);
        let mut records = vec![0; len];
        // SAFETY: both ranges are inside the `data` bytes after the first page, and the kernel
        // writes only outside of the range between tail and head; `records` is separate memory of
        // `len` bytes.
        unsafe {
            let data = self.start.as_ptr().add(self.page);
            let to = records.as_mut_ptr();
            std::ptr::copy_nonoverlapping(data.add(begin), to, first);
            std::ptr::copy_nonoverlapping(data, to.add(first), len - first);
        }
        self.position(DATA_TAIL).store(head, Ordering::Release);
        records
    }

    /// A position in the first page.
    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the mapping is at least a page long and lives as long as `self`; both offsets are
        // multiples of 8 within it, and the kernel too accesses them as whole 64-bit words.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`, to which no reference remains.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.page + self.data) };
    }
}

// SAFETY: the mapping belongs to the ring alone and is not tied to a thread.
unsafe impl Send for Ring {}
