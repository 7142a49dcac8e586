//! What a cell needs of a kernel.
