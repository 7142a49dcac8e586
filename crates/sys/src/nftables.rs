//! A table of nf_tables that clamps the MSS of forwarded connections.
//!
//! The messages equal those of `nft` 1.0.6 for `tcp flags syn tcp option maxseg size set rt mtu` in
//! a separate chain. Numbers are from include/uapi/linux/netfilter/{nf_tables,nfnetlink}.h, Linux
//! 7.2.

use rustix::net::netlink::NETFILTER;

use crate::netlink::{Message, NLM_F_CREATE, NLM_F_EXCL, Netlink, NetlinkError};

/// `NFNL_SUBSYS_NFTABLES`, the upper byte of message types.
const NFTABLES: u16 = 10;
const NFT_MSG_NEWTABLE: u16 = NFTABLES << 8;
const NFT_MSG_GETTABLE: u16 = NFTABLES << 8 | 1;
const NFT_MSG_DELTABLE: u16 = NFTABLES << 8 | 2;
const NFT_MSG_NEWCHAIN: u16 = NFTABLES << 8 | 3;
const NFT_MSG_NEWRULE: u16 = NFTABLES << 8 | 6;
const NFNL_MSG_BATCH_BEGIN: u16 = 16;
const NFNL_MSG_BATCH_END: u16 = 17;

/// `NFPROTO_INET`: IPv4 and IPv6.
const INET: u8 = 1;
/// `NF_INET_FORWARD`.
const FORWARD: u32 = 2;
/// `NF_IP_PRI_MANGLE`.
const MANGLE: i32 = -150;

const NFTA_TABLE_NAME: u16 = 1;
const NFTA_CHAIN_TABLE: u16 = 1;
const NFTA_CHAIN_NAME: u16 = 3;
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_CHAIN_TYPE: u16 = 7;
const NFTA_HOOK_HOOKNUM: u16 = 1;
const NFTA_HOOK_PRIORITY: u16 = 2;
const NFTA_RULE_TABLE: u16 = 1;
const NFTA_RULE_CHAIN: u16 = 2;
const NFTA_RULE_EXPRESSIONS: u16 = 4;
const NFTA_LIST_ELEM: u16 = 1;
const NFTA_EXPR_NAME: u16 = 1;
const NFTA_EXPR_DATA: u16 = 2;
const NFTA_DATA_VALUE: u16 = 1;

/// `NFT_REG_1`.
const REGISTER: u32 = 1;
const CHAIN: &str = "forward";
/// Flag SYN and offset of the flags in a TCP header (RFC 9293).
const SYN: u8 = 0x02;
const FLAGS_AT: u32 = 13;
const TCP: u8 = 6;

/// Opens a socket for nf_tables in the calling thread's network namespace.
///
/// # Errors
/// The socket cannot be made, or the kernel has no netfilter.
pub fn open() -> Result<Netlink, NetlinkError> {
    Netlink::open(Some(NETFILTER), "open a netfilter socket")
}

/// Returns true if a table of this name exists.
///
/// # Errors
/// Not root; the kernel has no nf_tables.
pub fn has_table(nl: &mut Netlink, table: &str) -> Result<bool, NetlinkError> {
    let mut m = message(NFT_MSG_GETTABLE, 0);
    m.str(NFTA_TABLE_NAME, table);
    match nl.get(&mut m, format_args!("read the table {table}"), |_| {}) {
        Ok(()) => Ok(true),
        Err(error) if error.errno == libc::ENOENT => Ok(false),
        Err(error) => Err(error),
    }
}

/// Adds a table with one rule: it limits the MSS of forwarded SYN segments to the MSS of their
/// route, or sets it to a number. The former never raises an MSS, the latter always sets it.
///
/// # Errors
/// The table exists, not root, or the kernel lacks a feature; then nothing is added.
pub fn add_clamp(nl: &mut Netlink, table: &str, mss: Option<u16>) -> Result<(), NetlinkError> {
    let mut new_table = message(NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL);
    new_table.str(NFTA_TABLE_NAME, table);
    let mut chain = message(NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_EXCL);
    chain
        .str(NFTA_CHAIN_TABLE, table)
        .str(NFTA_CHAIN_NAME, CHAIN);
    chain.nest_flagged(NFTA_CHAIN_HOOK, |m| {
        be32(m, NFTA_HOOK_HOOKNUM, FORWARD);
        m.attr(NFTA_HOOK_PRIORITY, &MANGLE.to_be_bytes());
    });
    chain.str(NFTA_CHAIN_TYPE, "filter");
    let mut rule = message(NFT_MSG_NEWRULE, NLM_F_CREATE);
    rule.str(NFTA_RULE_TABLE, table)
        .str(NFTA_RULE_CHAIN, CHAIN)
        .nest_flagged(NFTA_RULE_EXPRESSIONS, |m| expressions(m, mss));
    let op = format_args!("add the table {table}");
    batch(nl, &mut [new_table, chain, rule], op)
}

/// Deletes a table with its contents.
///
/// # Errors
/// The table does not exist, or not root.
pub fn delete_table(nl: &mut Netlink, table: &str) -> Result<(), NetlinkError> {
    let mut m = message(NFT_MSG_DELTABLE, 0);
    m.str(NFTA_TABLE_NAME, table);
    batch(nl, &mut [m], format_args!("delete the table {table}"))
}

/// A transaction: all messages or none.
fn batch(
    nl: &mut Netlink,
    messages: &mut [Message],
    op: impl std::fmt::Display,
) -> Result<(), NetlinkError> {
    let edge = |kind| {
        let mut m = Message::new(kind, 0);
        // `struct nfgenmsg`: family, version, and here the subsystem, big-endian.
        m.raw(&[0, 0, 0, NFTABLES as u8]);
        m
    };
    nl.batch(
        &mut edge(NFNL_MSG_BATCH_BEGIN),
        messages,
        &mut edge(NFNL_MSG_BATCH_END),
        op,
    )
}

fn message(kind: u16, flags: u16) -> Message {
    let mut m = Message::new(kind, flags);
    m.raw(&[INET, 0, 0, 0]);
    m
}

/// If it is TCP and a SYN, the MSS option becomes the value.
fn expressions(m: &mut Message, mss: Option<u16>) {
    // `NFT_META_L4PROTO` to the register.
    expression(m, "meta", |m| {
        be32(m, 2, 16);
        be32(m, 1, REGISTER);
    });
    compare(m, EQUAL, TCP);
    // A byte of the transport header.
    expression(m, "payload", |m| {
        for (kind, value) in [(1, REGISTER), (2, 2), (3, FLAGS_AT), (4, 1)] {
            be32(m, kind, value);
        }
    });
    expression(m, "bitwise", |m| {
        for (kind, value) in [(1, REGISTER), (2, REGISTER), (3, 1)] {
            be32(m, kind, value);
        }
        data(m, 4, &[SYN]);
        data(m, 5, &[0]);
    });
    compare(m, NOT_EQUAL, 0);
    match mss {
        Some(mss) => expression(m, "immediate", |m| {
            be32(m, 1, REGISTER);
            data(m, 2, &mss.to_be_bytes());
        }),
        None => {
            // `NFT_RT_TCPMSS`, in host order.
            expression(m, "rt", |m| {
                be32(m, 2, 3);
                be32(m, 1, REGISTER);
            });
            // `NFT_BYTEORDER_HTON` of two bytes.
            expression(m, "byteorder", |m| {
                for (kind, value) in [(1, REGISTER), (2, REGISTER), (3, 1), (4, 2), (5, 2)] {
                    be32(m, kind, value);
                }
            });
        }
    }
    // `NFT_EXTHDR_OP_TCPOPT`: two bytes at offset 2 of option 2, the MSS (RFC 9293).
    expression(m, "exthdr", |m| {
        be32(m, 7, REGISTER);
        m.u8(2, 2);
        for (kind, value) in [(3, 2), (4, 2), (6, 1)] {
            be32(m, kind, value);
        }
    });
}

/// `NFT_CMP_EQ` and `NFT_CMP_NEQ`.
const EQUAL: u32 = 0;
const NOT_EQUAL: u32 = 1;

fn compare(m: &mut Message, how: u32, with: u8) {
    expression(m, "cmp", |m| {
        be32(m, 1, REGISTER);
        be32(m, 2, how);
        data(m, 3, &[with]);
    });
}

fn expression(m: &mut Message, name: &str, fill: impl FnOnce(&mut Message)) {
    m.nest_flagged(NFTA_LIST_ELEM, |m| {
        m.str(NFTA_EXPR_NAME, name);
        m.nest_flagged(NFTA_EXPR_DATA, fill);
    });
}

fn data(m: &mut Message, kind: u16, value: &[u8]) {
    m.nest_flagged(kind, |m| {
        m.attr(NFTA_DATA_VALUE, value);
    });
}

fn be32(m: &mut Message, kind: u16, value: u32) {
    m.attr(kind, &value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Netns;

    /// Compared with the listing of the program of the nf_tables project.
    #[test]
    fn nft_lists_the_rule_that_was_added_and_nothing_after_its_deletion() {
        let listed = |ns: &Netns| {
            let mut nft = std::process::Command::new("nft");
            let output = ns
                .run(|| nft.args(["list", "ruleset"]).output())
                .ok()?
                .ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            output.status.success().then_some(text)
        };
        let Ok(ns) = Netns::create() else {
            println!("skipped: network namespaces need root");
            return;
        };
        let opened = ns.run(open).ok().and_then(Result::ok);
        let (Some(mut nl), Some(_)) = (opened, listed(&ns)) else {
            println!("skipped: no nf_tables in this kernel, or no program nft");
            return;
        };
        for (mss, rule) in [
            (None, "tcp flags syn tcp option maxseg size set rt mtu"),
            (Some(1360), "tcp flags syn tcp option maxseg size set 1360"),
        ] {
            assert!(!has_table(&mut nl, "t").unwrap());
            add_clamp(&mut nl, "t", mss).unwrap();
            assert!(has_table(&mut nl, "t").unwrap());
            let text = listed(&ns).unwrap();
            assert!(text.contains(rule), "{text}");
            assert!(text.contains("hook forward priority mangle"), "{text}");
            assert!(add_clamp(&mut nl, "t", mss).is_err());
            delete_table(&mut nl, "t").unwrap();
            assert_eq!(listed(&ns).unwrap(), "");
        }
        assert!(delete_table(&mut nl, "t").is_err());
    }
}
