//! The MSS clamp, in a separate table.

use model::{
    change::{Saved, Setting},
    text,
    text::Text,
};
use sys::nftables;

use crate::error::{HostError, Refusal, RefusalReason};

/// Name of the table.
const TABLE: &str = "pathtwin";

pub(super) fn read() -> Result<Saved, HostError> {
    let present = nftables::has_table(&mut nftables::open()?, TABLE)?;
    Ok(Saved::MssClamp { present })
}

pub(super) fn check(setting: &Setting, old: &Saved) -> Result<Vec<Text>, Refusal> {
    if let Saved::MssClamp { present: true } = old {
        let reason = RefusalReason::TableExists { table: TABLE };
        return Err(Refusal::new(setting, reason));
    }
    Ok(vec![text!(
        "{setting}: it acts on connections that are opened from now on, and on none of this host's own",
        setting = setting
    )])
}

pub(super) fn write(bytes: Option<u16>) -> Result<(), HostError> {
    Ok(nftables::add_clamp(&mut nftables::open()?, TABLE, bytes)?)
}

pub(super) fn restore(setting: &Setting, old: &Saved) -> Result<(), HostError> {
    let Saved::MssClamp { present: false } = old else {
        return Err(HostError::unusable(setting));
    };
    let mut nl = nftables::open()?;
    if nftables::has_table(&mut nl, TABLE)? {
        nftables::delete_table(&mut nl, TABLE)?;
    }
    Ok(())
}
