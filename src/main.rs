//! Countersign: the window, or a headless command.

fn main() {}
