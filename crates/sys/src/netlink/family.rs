//! Generic netlink families by name (include/uapi/linux/genetlink.h, Linux 7.2).

use super::{Attrs, Message, Netlink, NetlinkError};

/// `GENL_ID_CTRL`: the family that resolves others.
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
/// Size of `struct genlmsghdr`.
pub(crate) const GENLMSG_LEN: usize = 4;

impl Netlink {
    /// The number of a generic netlink family; the socket is one of [`Netlink::generic`].
    ///
    /// # Errors
    /// The kernel has no such family, or its module is not loaded.
    pub fn family(&mut self, name: &str) -> Result<u16, NetlinkError> {
        let op = format!("find the generic netlink family {name}");
        let mut m = Message::new(GENL_ID_CTRL, 0);
        m.raw(&[CTRL_CMD_GETFAMILY, 1, 0, 0])
            .str(CTRL_ATTR_FAMILY_NAME, name);
        let mut family = None;
        self.get(&mut m, &op, |payload| {
            family = Attrs::after(payload, GENLMSG_LEN)
                .get(CTRL_ATTR_FAMILY_ID)
                .and_then(|a| a.u16());
        })?;
        family.ok_or_else(|| NetlinkError::malformed(op))
    }
}
