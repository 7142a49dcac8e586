//! Accounts by address and network of the clients.
//!
//! A holder of one address of an IPv6 /64 has all of them (RFC 4291 section 2.5.1), so a /64 counts
//! as one address; a site is usually given a /56 (RFC 6177 section 2). An IPv4 address is one host
//! or all behind its address translation; a /24 is the longest prefix that is routed, and often one
//! provider's or one company's.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{
    account::{Account, Scope},
    limits::Totals,
};

/// The front of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Prefix {
    V4(u32, u8),
    V6(u128, u8),
}

impl Prefix {
    /// Prefix that counts as one address.
    fn address(ip: IpAddr) -> Self {
        Self::of(ip, 32, 64)
    }

    fn network(ip: IpAddr) -> Self {
        Self::of(ip, 24, 56)
    }

    /// `v4`, `v6`: length of the prefix, at least one bit.
    fn of(ip: IpAddr, v4: u8, v6: u8) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self::V4(u32::from(ip) & (u32::MAX << (32 - v4)), v4),
            IpAddr::V6(ip) => Self::V6(u128::from(ip) & (u128::MAX << (128 - v6)), v6),
        }
    }
}

/// Accounts in use.
#[derive(Debug, Default)]
pub(super) struct Networks(Mutex<HashMap<Prefix, Weak<Account>>>);

impl Networks {
    /// The account of an address, below that of its network, below `server`.
    pub(super) fn account(
        &self,
        ip: IpAddr,
        totals: &Totals,
        server: &Arc<Account>,
    ) -> Arc<Account> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // At most as many remain as there are sessions.
        map.retain(|_, account| account.strong_count() > 0);
        let mut of = |prefix: Prefix, make: &dyn Fn() -> Arc<Account>| {
            let known = map.get(&prefix).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let new = make();
                map.insert(prefix, Arc::downgrade(&new));
                new
            })
        };
        let network = of(Prefix::network(ip), &|| {
            Account::new(Scope::Network, totals.network(), Some(server.clone()))
        });
        of(Prefix::address(ip), &|| {
            Account::new(Scope::Address, totals.address(), Some(network.clone()))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn clients_of_a_network_share_an_account() {
        let (networks, totals) = (Networks::default(), Totals::default());
        let server = Account::new(Scope::Server, totals.server(), None);
        let account = |ip: &str| networks.account(ip.parse().unwrap(), &totals, &server);
        let v4 = account("192.0.2.1");
        assert!(Arc::ptr_eq(&v4, &account("::ffff:192.0.2.1")));
        assert!(!Arc::ptr_eq(&v4, &account("192.0.2.2")));
        let v6 = account("2001:db8:1:2:3::1");
        assert!(Arc::ptr_eq(&v6, &account("2001:db8:1:2:ffff::1")));
        assert!(!Arc::ptr_eq(&v6, &account("2001:db8:1:3::1")));
        for other in ["198.51.100.7", "2001:db8:1:ff::1", "2001:db8:1:100::1"] {
            account(other);
        }
        // Unused accounts are removed when the next client connects.
        account("203.0.113.1");
        let kept = networks.0.lock().unwrap().len();
        assert_eq!(
            kept, 6,
            "address and network of two that are held and of the last one"
        );
    }

    #[test]
    fn prefixes_are_those_of_their_length() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let same = |of: fn(IpAddr) -> Prefix, a, b| of(ip(a)) == of(ip(b));
        assert!(same(Prefix::network, "192.0.2.1", "192.0.2.255"));
        assert!(!same(Prefix::network, "192.0.2.1", "192.0.3.1"));
        assert!(same(Prefix::network, "2001:db8:0:1::1", "2001:db8:0:ff::1"));
        assert!(!same(
            Prefix::network,
            "2001:db8:0:1::1",
            "2001:db8:0:100::1"
        ));
        assert!(!same(Prefix::address, "2001:db8:0:1::1", "2001:db8:0:2::1"));
    }
}
