//! Random walks: what states look like, before many of them are known.
//!
//! *Idea*: a sweep goes deep before it goes wide, so that for long it sees states that are much alike. Some
//! walks from the start see more of the bits that change, for the price of few states; and each time that
//! more of them turn out to change, all that was learned of moves is lost.

use spinward_machine::{Flow, Sink, Step, System, Violation};

use crate::limits::{Limit, Memory};

/// How many walks, and how many steps each has.
const WALKS: u32 = 8;
const STEPS: u32 = 128;

/// Fewer, if states have so many successors in all: these walks shall not take longer than what they spare.
const SUCCESSORS: u32 = 1 << 12;

/// Calls with states that can be reached. Before each step it is asked whether to go on.
pub(crate) fn walk<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    memory: &Memory,
    call: impl FnMut(&[u8]),
    mut go_on: impl FnMut() -> Result<(), Limit>,
) -> Result<(), Limit> {
    let mut walk = Walk { call, memory, seed: 1, left: SUCCESSORS, count: 0, next: Vec::new() };
    let mut state = Vec::new();
    for _ in 0..WALKS {
        system.initial(&mut state);
        for _ in 0..STEPS {
            go_on()?;
            walk.count = 0;
            // If a limit was hit, whoever goes on is told.
            if system.expand(&state, scratch, &mut walk).is_break() {
                return Ok(());
            }
            if walk.count == 0 {
                break;
            }
            std::mem::swap(&mut state, &mut walk.next);
        }
    }
    Ok(())
}

/// Goes on to any of the successors of a state.
struct Walk<'a, C> {
    call: C,
    memory: &'a Memory,
    seed: u64,
    /// How many successors may follow.
    left: u32,
    /// How many there were so far, and one of them.
    count: u64,
    next: Vec<u8>,
}

impl<C: FnMut(&[u8])> Sink for Walk<'_, C> {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        (self.call)(state);
        self.count += 1;
        // By Knuth's generator; each of so many is as likely.
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if (self.seed >> 33).is_multiple_of(self.count) {
            self.next.clear();
            self.next.extend_from_slice(state);
        }
        self.left -= 1;
        if self.left == 0 { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        Flow::Continue(())
    }

    fn needs_steps(&self) -> bool {
        false
    }

    fn working(&mut self, bytes: usize) -> Flow {
        if self.memory.lend(bytes as u64).is_ok() { Flow::Continue(()) } else { Flow::Break(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Numbers, each of which leads to the next and to twice itself, up to a limit.
    struct Numbers(u8);

    impl System for Numbers {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, out: &mut Vec<u8>) {
            out.clear();
            out.push(1);
        }

        fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
            assert!(state[0] < self.0);
            for next in [state[0] + 1, state[0].saturating_mul(2)] {
                if next < self.0 {
                    sink.successor(&[next], &[])?;
                }
            }
            Flow::Continue(())
        }
    }

    #[test]
    fn walks_go_far() {
        let mut seen = HashSet::new();
        let note = |state: &[u8]| seen.extend(state.iter().copied());
        walk(&Numbers(200), &mut (), &Memory::new(None), note, || Ok(())).unwrap();
        assert!(seen.len() > 30 && seen.contains(&199), "{seen:?}");
        let note = |_: &[u8]| panic!("there is no other one");
        walk(&Numbers(2), &mut (), &Memory::new(None), note, || Ok(())).unwrap();
    }

    /// Bytes, of which each leads to all.
    struct Wide;

    impl System for Wide {
        type Scratch = u32;

        fn scratch(&self) -> u32 {
            0
        }

        fn initial(&self, out: &mut Vec<u8>) {
            out.clear();
            out.push(0);
        }

        fn expand(&self, _: &[u8], expanded: &mut u32, sink: &mut dyn Sink) -> Flow {
            *expanded += 1;
            (0..=u8::MAX).try_for_each(|next| sink.successor(&[next], &[]))
        }
    }

    #[test]
    fn many_successors_make_them_short() {
        let (mut expanded, mut seen) = (0, 0);
        walk(&Wide, &mut expanded, &Memory::new(None), |_| seen += 1, || Ok(())).unwrap();
        assert_eq!((expanded, seen), (SUCCESSORS / 256, SUCCESSORS));
    }

    #[test]
    fn a_limit_ends_them() {
        let mut steps = 0;
        let go_on = || {
            steps += 1;
            if steps > 5 { Err(Limit::Time) } else { Ok(()) }
        };
        let memory = Memory::new(None);
        assert_eq!(walk(&Numbers(200), &mut (), &memory, |_| (), go_on), Err(Limit::Time));
        assert_eq!(steps, 6);
    }
}
