//! Records of a ring buffer, counted.

use std::collections::BTreeMap;

use crate::bytes;

const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_SAMPLE: u32 = 9;
/// Bits of `misc` that say what the processor ran.
const CPUMODE_MASK: u16 = 7;
const CPUMODE_KERNEL: u16 = 1;
const CPUMODE_USER: u16 = 2;
/// Size of `struct perf_event_header`.
const HEADER_LEN: usize = 8;

/// Samples of all processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// How often the kernel was seen at an address.
    pub kernel: BTreeMap<u64, u64>,
    /// Samples of programs.
    pub user: u64,
    /// Samples of a hypervisor or of virtual machines.
    pub other: u64,
    /// Samples that found the buffer full.
    pub lost: u64,
}

impl Samples {
    /// All samples.
    pub fn count(&self) -> u64 {
        self.kernel.values().sum::<u64>() + self.user + self.other
    }

    /// Counts records; stops at one that does not fit.
    pub(crate) fn add(&mut self, mut records: &[u8]) {
        while let Some((record, rest)) = split(records) {
            self.count_one(record);
            records = rest;
        }
    }

    fn count_one(&mut self, record: &[u8]) {
        let (Some(kind), Some(misc)) = (bytes::u32_at(record, 0), bytes::u16_at(record, 4)) else {
            return;
        };
        match kind {
            // The identity of the event, then how many.
            PERF_RECORD_LOST => {
                let lost = bytes::u64_at(record, 16).unwrap_or_default();
                self.lost = self.lost.saturating_add(lost);
            }
            PERF_RECORD_SAMPLE => match misc & CPUMODE_MASK {
                CPUMODE_KERNEL => {
                    if let Some(at) = bytes::u64_at(record, HEADER_LEN) {
                        *self.kernel.entry(at).or_default() += 1;
                    }
                }
                CPUMODE_USER => self.user += 1,
                _ => self.other += 1,
            },
            _ => {}
        }
    }
}

/// The first record and what follows it.
fn split(records: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = usize::from(bytes::u16_at(records, 6)?);
    if len < HEADER_LEN {
        return None;
    }
    records.split_at_checked(len)
}
