//! The path's MTU, searched with packets that must not be fragmented.

use std::io;

use model::{
    net::IpVersion,
    run::{LayerAddress, Pmtu, Sample},
};
use sys::socket::{self, MtuDiscovery};

use super::{blank, sized::Sized};
use crate::{
    far::FarError,
    run::{bench::Bench, key::key, schedule::Task},
};

/// Times a size is tried before it counts as too large.
const TRIES: u32 = 4;

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let layer = &task.layer;
    let mut sample = blank(bench, key(&task.step.measurement, layer, None, None));
    let mut sized = Sized::open(bench, layer)?;
    let found = search(&mut sized, layer).map_err(|source| FarError::Data {
        what: "search the path's MTU",
        address: bench.target(layer),
        source,
    });
    bench.far.finish(sized.ticket)?;
    let found = found?;
    if let Some(both) = found.up.zip(found.down).map(|(u, d)| u.min(d)) {
        bench.pmtu.insert(layer.clone(), both);
    }
    sample.pmtu = Some(found);
    Ok(vec![sample])
}

fn search(sized: &mut Sized, layer: &LayerAddress) -> io::Result<Pmtu> {
    const SHORT: u32 = 100;
    // The smallest packet every link must carry: RFC 791 and RFC 8200, section 5.
    let low = match layer.family {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1280,
    };
    let mut pmtu = Pmtu::default();
    // What the kernel takes for the path's MTU before anything was sent: that of the device or
    // route.
    let high = socket::known_mtu(&sized.socket)?.clamp(low, 9216);
    // First as ordinary programs do, so that ICMP may tell the kernel.
    socket::set_mtu_discovery(&sized.socket, MtuDiscovery::Do)?;
    let whole = sized.passes(high, SHORT)?;
    let told = socket::known_mtu(&sized.socket)?;
    pmtu.near_kernel = Some(told);
    pmtu.silent_up = Some(!whole && told >= high);
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
    fn passes(&mut self, ask: u32, answer: u32) -> io::Result<bool> {
        for _ in 0..TRIES {
            if self.exchange(ask, answer)? {
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
            let (ask, answer) = sizes(size);
            self.passes(ask, answer)
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
