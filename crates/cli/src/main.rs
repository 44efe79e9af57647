//! The spinward command.
fn main() {}
