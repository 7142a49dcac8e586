//! Linux: netlink, namespaces, sockets, TCP_INFO; the only crate with unsafe code
