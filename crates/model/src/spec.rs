//! Spec grammar.
