//! Seccomp filter of system calls that change file metadata: mode, owner, times, flags, extended
//! attributes.
//!
//! Landlock does not cover these. A filtered call does nothing and reports success: the guest's
//! kernel sets the mode of its memory file, and would not start after an error.

use std::io;

/// A program for the kernel's classic BPF machine (seccomp(2), linux/filter.h).
pub(super) type Filter = Vec<libc::sock_filter>;

/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of include/uapi/linux/audit.h; absent = not
/// supported here.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// System calls of every architecture. The last ones are newer than libc's list: `fchmodat2` (Linux
/// 6.6), `setxattrat`, `removexattrat` (6.13), `file_setattr` (6.17).
const EVERYWHERE: [libc::c_long; 15] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    452,
    463,
    466,
    469,
];

/// System calls of x86-64 only.
#[cfg(target_arch = "x86_64")]
const OLD: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[libc::c_long] = &[];

/// `FS_IOC_SETFLAGS` and `FS_IOC_FSSETXATTR` of include/uapi/linux/fs.h.
const FLAGS: [u32; 2] = [0x4008_6602, 0x401c_5820];

/// First call of the x32 ABI, which has its own numbers.
const X32: u32 = 0x4000_0000;

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K
const ALLOW: u32 = 0x7fff_0000; // SECCOMP_RET_ALLOW
const ERROR: u32 = 0x0005_0000; // SECCOMP_RET_ERRNO: the error is in the low bits, and 0 is success

/// Offsets in `struct seccomp_data` of include/uapi/linux/seccomp.h, on a little-endian machine.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const SECOND_ARGUMENT_AT: u32 = 24;

/// Returns true if this architecture is supported.
pub(super) fn is_known() -> bool {
    ARCHITECTURE.is_some()
}

/// The filter; `None` on unsupported architectures.
pub(super) fn filter() -> Option<Filter> {
    let architecture = ARCHITECTURE?;
    let changing: Vec<u32> = EVERYWHERE.iter().chain(OLD).map(|&n| n as u32).collect();
    // load, test, load, test, test; one test each; test, load, two tests; then the three ends.
    let allow = 5 + changing.len() + 2 + FLAGS.len();
    let (done, unknown) = (allow + 1, allow + 2);
    let mut program = Filter::new();
    let load = |from| step(LOAD, from, 0, 0);
    let jump = |at: usize, to: usize| to - at - 1;
    program.push(load(ARCHITECTURE_AT));
    program.push(step(EQUAL, architecture, 0, jump(1, unknown)));
    program.push(load(NUMBER_AT));
    program.push(step(AT_LEAST, X32, jump(3, unknown), 0));
    // io_uring bypasses system call filters, and can set extended attributes.
    let ring = libc::SYS_io_uring_setup as u32;
    program.push(step(EQUAL, ring, jump(4, unknown), 0));
    for number in changing {
        program.push(step(EQUAL, number, jump(program.len(), done), 0));
    }
    let ioctl = libc::SYS_ioctl as u32;
    program.push(step(EQUAL, ioctl, 0, jump(program.len(), allow)));
    program.push(load(SECOND_ARGUMENT_AT));
    for flag in FLAGS {
        program.push(step(EQUAL, flag, jump(program.len(), done), 0));
    }
    program.push(step(RETURN, ALLOW, 0, 0));
    program.push(step(RETURN, ERROR, 0, 0));
    program.push(step(RETURN, ERROR | libc::ENOSYS as u32, 0, 0));
    Some(program)
}

/// The program is far shorter than the 255 steps that a jump can reach.
fn step(code: u16, k: u32, then: usize, otherwise: usize) -> libc::sock_filter {
    libc::sock_filter {
        code,
        jt: then as u8,
        jf: otherwise as u8,
        k,
    }
}

/// Installs the filter in the calling process and its descendants. For use between fork and exec:
/// nothing is allocated. `PR_SET_NO_NEW_PRIVS` must be set.
pub(super) fn install(filter: &Filter) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as libc::c_ushort,
        // The kernel only reads it.
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: a program of the length that is given; it outlives the call, which copies it.
    super::check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0u32,
            &raw const program,
        )
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Result of the filter for a call, computed as the kernel does.
    fn answer(architecture: u32, number: u32, second: u32) -> u32 {
        let program = filter().unwrap();
        let (mut at, mut loaded) = (0, 0);
        loop {
            let step = program[at];
            let jump = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
            at += 1;
            match (step.code, step.k) {
                (LOAD, NUMBER_AT) => loaded = number,
                (LOAD, ARCHITECTURE_AT) => loaded = architecture,
                (LOAD, SECOND_ARGUMENT_AT) => loaded = second,
                (EQUAL, k) => at += jump(loaded == k),
                (AT_LEAST, k) => at += jump(loaded >= k),
                (RETURN, k) => return k,
                other => panic!("no such step: {other:?}"),
            }
        }
    }

    #[test]
    fn calls_that_change_attributes_do_nothing_and_all_others_pass() {
        let own = ARCHITECTURE.unwrap();
        let call = |number: libc::c_long, second: u32| answer(own, number as u32, second);
        for number in EVERYWHERE.iter().chain(OLD) {
            assert_eq!(call(*number, 0), ERROR, "{number}");
        }
        for number in [libc::SYS_read, libc::SYS_openat, libc::SYS_mmap] {
            assert_eq!(call(number, FLAGS[0]), ALLOW, "{number}");
        }
        assert_eq!(call(libc::SYS_ioctl, FLAGS[0]), ERROR);
        assert_eq!(call(libc::SYS_ioctl, FLAGS[1]), ERROR);
        assert_eq!(call(libc::SYS_ioctl, 0x5401), ALLOW);
        let unknown = ERROR | libc::ENOSYS as u32;
        assert_eq!(call(libc::SYS_io_uring_setup, 0), unknown);
        assert_eq!(answer(own, X32 | 1, 0), unknown);
        assert_eq!(answer(0x4000_0003, 15, 0), unknown, "chmod of i386");
    }
}
