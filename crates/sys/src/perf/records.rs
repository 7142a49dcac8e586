//! Counting of records in a ring buffer.

use std::collections::BTreeMap;

use crate::bytes;

const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_SAMPLE: u32 = 9;
/// Bits of `misc` with the CPU mode.
const CPUMODE_MASK: u16 = 7;
const CPUMODE_KERNEL: u16 = 1;
const CPUMODE_USER: u16 = 2;
/// Size of `struct perf_event_header`.
const HEADER_LEN: usize = 8;

/// Samples of all processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Number of samples per kernel address.
    pub kernel: BTreeMap<u64, u64>,
    /// User space samples.
    pub user: u64,
    /// Samples of a hypervisor or guests.
    pub other: u64,
    /// Samples lost because the buffer was full.
    pub lost: u64,
}

impl Samples {
    /// All samples.
    pub fn count(&self) -> u64 {
        self.kernel.values().sum::<u64>() + self.user + self.other
    }

    /// Counts records; stops at a truncated one.
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
            // The event id, then the number of lost samples.
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

/// The first record and the rest.
fn split(records: &[u8]) -> Option<(&[u8], &[u8])> {
    let len = usize::from(bytes::u16_at(records, 6)?);
    if len < HEADER_LEN {
        return None;
    }
    records.split_at_checked(len)
}
