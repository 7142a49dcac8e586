//! Programs of the host on the nodes of a path.
