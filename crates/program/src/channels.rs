//! Channels that are known before anything runs.

use std::collections::BTreeMap;

use crate::Program;
use crate::access::written;
use crate::ir::{ChannelTypeId, InitStep, Place, Space};
use crate::touches::overlap;

/// By the offset of a global variable that always holds the same channel: its number and its kind.
pub fn fixed_channels(program: &Program) -> BTreeMap<u32, (i32, ChannelTypeId)> {
    let mut fixed = BTreeMap::new();
    let mut number = 0;
    for step in &program.init {
        if let InitStep::NewChannel(place, kind) = step {
            number += 1;
            // One in a hidden record is in another block.
            if place.space == Space::Global {
                fixed.insert(place.offset, (number, *kind));
            }
        }
    }
    let mut forget = |place: &Place| {
        if place.space == Space::Global {
            let written = place.span();
            fixed.retain(|&at, _| !overlap(&(at..at + 1), &written));
        }
    };
    for step in &program.init {
        if let InitStep::Store(place, _) = step {
            forget(place);
        }
    }
    for transition in &program.transitions {
        written(&transition.action, &mut |place, _| forget(place));
    }
    fixed
}
