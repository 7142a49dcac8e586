#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use std::io;

use model::text::Value;

use super::*;

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
        for attr in Attrs::new(&bytes) {
            let _ = (attr.u8(), attr.u16(), attr.u32(), attr.u64(), attr.str(), attr.ip());
            prop_assert!(attr.nested().count() <= bytes.len() / 4);
        }
        for reply in Replies::new(&bytes) {
            let _ = (reply.errno(), reply.kernel_message());
        }
    }

    #[test]
    fn built_messages_are_parsed_back(
        attrs in proptest::collection::vec(
            (0u16..0x3fff, proptest::collection::vec(any::<u8>(), 0..40)), 0..20),
    ) {
        let mut m = Message::new(16, 0);
        m.nest_flagged(7, |m| {
            for (kind, payload) in &attrs {
                m.attr(*kind, payload);
            }
        });
        let whole = m.finish(5).unwrap().to_vec();
        let reply = Replies::new(&whole).next().unwrap();
        prop_assert_eq!((reply.kind, reply.seq, reply.flags), (16, 5, NLM_F_REQUEST));
        let nest = Attrs::new(reply.payload).get(7).unwrap();
        let read: Vec<(u16, Vec<u8>)> = nest.nested().map(|a| (a.kind, a.payload.to_vec())).collect();
        prop_assert_eq!(read, attrs);
    }
}

#[test]
fn an_attribute_that_outgrows_its_length_is_not_sent() {
    let mut m = Message::new(16, 0);
    m.nest(1, |m| {
        for _ in 0..3 {
            m.attr(2, &[0; 30_000]);
        }
    });
    assert!(m.finish(1).is_none());
}

#[test]
fn an_error_carries_the_kernels_text() {
    // NLMSG_ERROR with NLM_F_CAPPED | NLM_F_ACK_TLVS, error -22, the request's header,
    // NLMSGERR_ATTR_MSG "no".
    let mut m = Message::new(2, 0x300);
    m.raw(&(-22i32).to_ne_bytes()).raw(&[0; 16]).str(1, "no");
    let bytes = m.finish(9).unwrap();
    let reply = Replies::new(bytes).next().unwrap();
    assert_eq!(
        (reply.errno(), reply.kernel_message().as_deref()),
        (22, Some("no"))
    );
}

#[test]
fn an_error_names_the_operation_and_its_object() {
    let mut error = NetlinkError::new("add qdisc netem to link 3", libc::EPERM);
    error.kernel_message = Some("words".to_owned());
    let text = error.to_string();
    assert!(
        text.starts_with("cannot add qdisc netem to link 3: "),
        "{text}"
    );
    assert!(
        text.contains("words") && text.contains("CAP_NET_ADMIN"),
        "{text}"
    );
}

/// EPERM is 1, EOPNOTSUPP 95 and ENODEV 19 (include/uapi/asm-generic/errno.h).
#[test]
fn a_refusal_of_the_kernel_is_a_text_that_can_be_translated() {
    let denied = NetlinkError::new("get device", 1).cause();
    let Value::Text(text) = &denied else {
        panic!("{denied:?}");
    };
    let named: Vec<_> = text.values().collect();
    let system = io::Error::from(io::ErrorKind::PermissionDenied);
    assert_eq!(named, [("error", &Value::from(&system))]);
    assert!(text.to_string().contains("CAP_NET_ADMIN"), "{text}");
    let lacking = NetlinkError::new("get device", 95).cause();
    let system = io::Error::from(io::ErrorKind::Unsupported);
    assert_eq!(lacking, Value::from(&system));
}

#[test]
fn the_kernels_message_of_a_refusal_is_kept() {
    let error = NetlinkError {
        kernel_message: Some("Unknown qdisc".to_owned()),
        ..NetlinkError::new("add qdisc", 19)
    };
    let text = error.to_string();
    assert!(
        text.ends_with("the kernel reports: Unknown qdisc"),
        "{text}"
    );
}
