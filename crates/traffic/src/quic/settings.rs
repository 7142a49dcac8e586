//! The settings of the library.

use std::{sync::Arc, time::Duration};

use quinn_proto::{
    ServerConfig, TransportConfig, ValidationTokenConfig, VarInt, congestion::CubicConfig,
};

use super::session::{Far, NoTokens};

/// The library and its congestion control.
pub const LIBRARY: &str = "quinn-proto 0.11.19 cubic";

/// Maximum payload in flight, of a sender and for a receiver: the flow control window. A path with
/// a larger BDP is not filled.
pub(super) const WINDOW: u32 = 16 << 20;

/// Idle timeout of the peer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// `receives`: whether the peer may open its one stream.
pub(super) fn transport(receives: bool) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(receives.into()))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(WINDOW.into())
        .datagram_receive_buffer_size(None)
        .max_idle_timeout(TIMEOUT.try_into().ok())
        .congestion_controller_factory(Arc::new(CubicConfig::default()));
    config
}

pub(super) fn server(tls: Far, transport: Arc<TransportConfig>) -> Arc<ServerConfig> {
    let mut tokens = ValidationTokenConfig::default();
    tokens.sent(0);
    let mut config = ServerConfig::new(Arc::new(tls), Arc::new(NoTokens));
    config
        .transport_config(transport)
        .validation_token_config(tokens)
        .migration(false)
        // A single client, whose address is validated.
        .max_incoming(1)
        .incoming_buffer_size(64 << 10)
        .incoming_buffer_size_total(64 << 10);
    Arc::new(config)
}
