//! Layers between the two ends, and the addresses that lead over them.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use model::{
    net::{IpVersion, Layer},
    run::LayerAddress,
};

/// Address of the far end over a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The layer.
    pub layer: Layer,
    /// Address of the far end on it.
    pub far: IpAddr,
}

/// Address family of an address.
pub(crate) fn family(address: IpAddr) -> IpVersion {
    match address.to_canonical() {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}

/// The local address of the route to `far`. Nothing is sent.
pub(crate) fn own_address(far: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match family(far) {
        IpVersion::V4 => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpVersion::V6 => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(SocketAddr::new(far, 9))?;
    Ok(socket.local_addr()?.ip())
}

impl Target {
    /// Its address family.
    pub fn family(self) -> IpVersion {
        family(self.far)
    }

    /// The target with the near end's address.
    pub(crate) fn addressed(self) -> io::Result<LayerAddress> {
        Ok(LayerAddress {
            layer: self.layer,
            family: family(self.far),
            near: own_address(self.far)?,
            far: self.far,
        })
    }
}
