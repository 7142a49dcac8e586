//! Search for the path MTU with packets that must not be fragmented.

use std::io;

use model::{
    net::IpVersion,
    run::{self, LayerAddress, Sample, StepKind},
};
use sys::socket::{self, MtuDiscovery};

use super::{
    Blank, Cost, Measure, Step,
    sized::{SHORT, Sized},
};
use crate::{
    far::{Action, FarError},
    run::{bench::Bench, task::Task},
};

/// Number of tries before a size counts as too large.
const TRIES: u32 = 4;

/// The search for the path MTU in both directions.
pub(super) struct Pmtu;

impl Step for Pmtu {
    fn kind(&self) -> StepKind {
        StepKind::Pmtu
    }

    fn cost(&self, duration_s: f64) -> Cost {
        Cost {
            time_s: duration_s,
            loaded_s: 0.0,
        }
    }
}

impl Measure for Pmtu {
    type Seen = run::Pmtu;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<run::Pmtu, FarError> {
        let layer = &task.layer;
        let mut sized = Sized::open(bench, layer)?;
        let found = search(&mut sized, layer);
        bench.far.finish(sized.echo)?;
        let found = found.map_err(Action::Pmtu.failed(bench.target(layer)))?;
        if let Some(both) = found.up.zip(found.down).map(|(u, d)| u.min(d)) {
            bench.pmtu.insert(layer.clone(), both);
        }
        Ok(found)
    }

    fn samples(&self, seen: run::Pmtu, blank: &Blank<'_>) -> Vec<Sample> {
        vec![Sample {
            pmtu: Some(seen),
            ..blank.of(None)
        }]
    }
}

fn search(sized: &mut Sized, layer: &LayerAddress) -> io::Result<run::Pmtu> {
    // The smallest packet every link must carry: RFC 791 and RFC 8200, section 5.
    let low = match layer.family {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1280,
    };
    let mut pmtu = run::Pmtu::default();
    // The kernel's path MTU before anything was sent: the MTU of the device or route.
    let high = socket::known_mtu(&sized.socket)?.clamp(low, 9216);
    // First with the kernel's path MTU discovery, like ordinary programs, so that the kernel can
    // learn the MTU from ICMP.
    socket::set_mtu_discovery(&sized.socket, MtuDiscovery::Do)?;
    let whole = sized.passes(high, SHORT)?;
    let known = socket::known_mtu(&sized.socket)?;
    pmtu.near_kernel = Some(known);
    pmtu.silent_up = Some(!whole && known >= high);
    socket::set_mtu_discovery(&sized.socket, MtuDiscovery::Probe)?;
    pmtu.up = if whole {
        Some(high)
    } else {
        sized.largest(low, high, |size| (size, SHORT))?
    };
    pmtu.down = sized.largest(low, high, |size| (SHORT, size))?;
    socket::set_mtu_discovery(&sized.socket, MtuDiscovery::Dont)?;
    if !whole && sized.passes(high, SHORT)? {
        pmtu.fragmented_up = Some(high);
    }
    Ok(pmtu)
}

impl Sized {
    fn passes(&mut self, request: u32, response: u32) -> io::Result<bool> {
        for _ in 0..TRIES {
            if self.exchange(request, response)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The largest of `low..=high` that passes; `None` if not even `low` does.
    fn largest(
        &mut self,
        low: u32,
        high: u32,
        sizes: impl Fn(u32) -> (u32, u32),
    ) -> io::Result<Option<u32>> {
        let mut try_one = |size: u32| {
            let (request, response) = sizes(size);
            self.passes(request, response)
        };
        if try_one(high)? {
            return Ok(Some(high));
        }
        if !try_one(low)? {
            return Ok(None);
        }
        let (mut good, mut bad) = (low, high);
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            if try_one(middle)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Ok(Some(good))
    }
}
