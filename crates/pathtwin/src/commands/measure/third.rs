//! `pathtwin measure --third`: the third point.

use std::{io, net::IpAddr};

use anyhow::anyhow;
use measure::{
    key,
    run::{ProbeKind, ThirdError},
};
use traffic::wire::Key;

use super::known;
use crate::{
    cli::measure::Third,
    exit::{Failure, code},
    format,
};

/// Finds the third point that the command line names, on the way to `far`.
pub(super) fn find(arguments: &Third, far: IpAddr) -> Result<Option<measure::run::Third>, Failure> {
    let Some(name) = &arguments.third else {
        return Ok(None);
    };
    let key = match &arguments.third_key {
        Some(file) => key::of_client(Some(file), io::empty())?.key,
        None => known::of_host(None, name)?.unwrap_or(Key::OPEN),
    };
    let found = measure::run::Third::find(name, far, &key);
    let mut third = found.map_err(|error| match error {
        ThirdError::Silent(_) => Failure::new(code::FAILED, error),
        _ => Failure::new(code::USE, error),
    })?;
    let how = match &third.probes {
        ProbeKind::Agent(..) => "pathtwin serve",
        ProbeKind::Icmp => "ICMP echo",
        ProbeKind::Tcp(_) => "TCP connections",
    };
    format::say(format_args!("third point: {} by {how}", third.address));
    third.load = arguments.third_load;
    if third.load && !matches!(third.probes, ProbeKind::Agent(..)) {
        let why = anyhow!("--third-load: {} runs no `pathtwin serve`", third.address);
        return Err(Failure::new(code::USE, why));
    }
    Ok(Some(third))
}
