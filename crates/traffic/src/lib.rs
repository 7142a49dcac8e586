//! Flows and probes as halves: what sends, what receives, what is recorded
