//! Verdicts from figures, in the order of the questions in docs/reference/observe.md.

use analysis::flow;
use model::observation::{Because, Figure, ObservedSocket, Verdict};

use super::moved::Moved;

/// Fewest samples for a verdict: two intervals, so that one odd moment does not decide.
pub const MIN_SAMPLES: usize = 3;
/// Shortest time for a verdict, µs: the kernel counts the times in ticks of up to 10
/// ms (HZ = 100), and twenty of them keep the error of a share at 5 %.
pub const MIN_OBSERVED_US: u64 = 200_000;
/// A window or buffer limits when it limited the sender for more than this share of the busy time.
/// Chosen here; the classes of the Network Diagnostic Tool are based on the same shares.
pub const WINDOW_OVER: f64 = 0.15;
/// A connection with data to send for a smaller share of the time waits for its application.
pub const BUSY_AT_LEAST: f64 = 0.5;
/// Share of the samples, or of a buffer, that is most of it.
pub const MOSTLY: f64 = 0.5;
/// A connection that sends a smaller share of its payload than this only responds. A request for
/// each response, such as a download over HTTP, stays far below.
pub const SENT_AT_LEAST: f64 = 0.05;
/// A pacing rate limits when goodput uses this share of it; the rest is headers and the pauses of
/// the pacing itself.
pub const PACING_AT_LEAST: f64 = 0.85;
/// Busy time during which neither window nor buffer limits.
pub const CWND_AT_LEAST: f64 = 1.0 - 2.0 * WINDOW_OVER;

/// The reason before there is any figure.
pub(super) fn nothing() -> Because {
    because(Figure::Samples, Some(0.0), MIN_SAMPLES as f64)
}

/// The limit of a connection, and the figure that shows it.
pub(super) fn of(socket: &ObservedSocket, moved: &Moved) -> (Verdict, Because) {
    too_little(socket)
        .or_else(|| at_rest(socket, moved))
        .or_else(|| receiver(socket, moved))
        .unwrap_or_else(|| sender(socket))
}

fn because(figure: Figure, value: Option<f64>, threshold: f64) -> Because {
    Because {
        figure,
        value,
        threshold,
    }
}

fn too_little(socket: &ObservedSocket) -> Option<(Verdict, Because)> {
    let samples = socket.samples as f64;
    let observed = socket.observed_us as f64;
    let because = if socket.samples < MIN_SAMPLES {
        because(Figure::Samples, Some(samples), MIN_SAMPLES as f64)
    } else if socket.observed_us < MIN_OBSERVED_US {
        because(Figure::ObservedUs, Some(observed), MIN_OBSERVED_US as f64)
    } else {
        return None;
    };
    Some((Verdict::CannotTell, because))
}

/// No payload was transferred. If there was data to send, the connection is stalled, which the
/// sender's counters explain.
fn at_rest(socket: &ObservedSocket, moved: &Moved) -> Option<(Verdict, Because)> {
    let (Some(acked), Some(received)) = (moved.acked, moved.received) else {
        let reason = because(Figure::MovedBytes, None, 1.0);
        return Some((Verdict::CannotTell, reason));
    };
    let bytes = acked.saturating_add(received);
    let waits = socket.busy.is_some_and(|busy| busy > 0.0) || unread(socket) > MOSTLY;
    (bytes == 0 && !waits).then(|| {
        let reason = because(Figure::MovedBytes, Some(0.0), 1.0);
        (Verdict::Idle, reason)
    })
}

fn receiver(socket: &ObservedSocket, moved: &Moved) -> Option<(Verdict, Because)> {
    let unread = unread(socket);
    if unread > MOSTLY {
        let reason = because(Figure::ReceiveBufferUsed, Some(unread), MOSTLY);
        return Some((Verdict::NotRead, reason));
    }
    let (acked, received) = (moved.acked? as f64, moved.received? as f64);
    let sent_share = flow::sent_share(acked, received)?;
    (received > 0.0 && sent_share < SENT_AT_LEAST).then(|| {
        let reason = because(Figure::SentShare, Some(sent_share), SENT_AT_LEAST);
        (Verdict::ReceivingOnly, reason)
    })
}

fn sender(socket: &ObservedSocket) -> (Verdict, Because) {
    let busy = because(Figure::Busy, socket.busy, BUSY_AT_LEAST);
    match socket.busy {
        None => return (Verdict::CannotTell, busy),
        Some(share) if share < BUSY_AT_LEAST => return (Verdict::Application, busy),
        Some(_) => {}
    }
    let rwnd = socket.rwnd_limited.unwrap_or(0.0);
    let sndbuf = socket.sndbuf_limited.unwrap_or(0.0);
    if rwnd > WINDOW_OVER && rwnd >= sndbuf {
        let reason = because(Figure::RwndLimited, Some(rwnd), WINDOW_OVER);
        return (Verdict::ReceiveWindow, reason);
    }
    if sndbuf > WINDOW_OVER {
        let reason = because(Figure::SndbufLimited, Some(sndbuf), WINDOW_OVER);
        return (Verdict::SendBuffer, reason);
    }
    if let Some(used) = pacing_used(socket).filter(|&used| used >= PACING_AT_LEAST) {
        let reason = because(Figure::PacingLimitUsed, Some(used), PACING_AT_LEAST);
        return (Verdict::PacingLimit, reason);
    }
    if let Some(limited) = socket.app_limited.filter(|&limited| limited > MOSTLY) {
        let reason = because(Figure::AppLimited, Some(limited), MOSTLY);
        return (Verdict::Application, reason);
    }
    // An application that writes bursts is busy while the last of a burst is in flight.
    if let Some(share) = socket.all_sent.filter(|&share| share > MOSTLY) {
        let reason = because(Figure::AllSent, Some(share), MOSTLY);
        return (Verdict::Application, reason);
    }
    let reason = because(Figure::CwndLimited, socket.cwnd_limited, CWND_AT_LEAST);
    (Verdict::LossOrPath, reason)
}

fn unread(socket: &ObservedSocket) -> f64 {
    socket.receive_buffer_used.unwrap_or(0.0)
}

fn pacing_used(socket: &ObservedSocket) -> Option<f64> {
    flow::pacing_used(socket.goodput_out_bps?, socket.pacing_limit_bps?)
}
