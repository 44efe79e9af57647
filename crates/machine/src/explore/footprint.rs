//! What the moves of one process depend on.
//!
//! *Idea*: the moves of a process depend on few bytes of a state: its own, and some that it shares.
//! Two states that agree in these have the same moves, to states that differ from them in the same way
//! (the caching of transitions in LTSmin; Blom, van de Pol, Weber, *Bridging the gap between
//! enumerative and symbolic model checkers*, 2009). Which bytes these are is seen when the interpreter
//! takes the moves: it notes what it looks at and what it changes.

use super::{Frame, Scratch};
use crate::Machine;
use crate::exec::Work;
use crate::system::{Actor, Footprint};

/// Atomic sequences with more steps are not followed.
const MAX_FRAMES: usize = 64;

/// So much room to note what is touched is kept.
const MAX_KEPT: usize = 8;

/// Nor are processes with more moves.
const MAX_MOVES: usize = 256;

impl Machine {
    /// What the moves of a process depend on, and where they lead. The state is one between moves
    /// of a system in which nothing but moves is looked at.
    pub(crate) fn footprint(
        &self,
        state: &[u8],
        process: usize,
        scratch: &mut Scratch,
        out: &mut Footprint,
    ) -> Actor {
        out.read.clear();
        out.read.resize(state.len(), 0);
        out.order.iter_mut().for_each(Vec::clear);
        out.states.clear();
        out.effort = 0;
        out.written.clear();
        out.lengths.clear();
        scratch.clean();
        let shape = self.shapes.get(self.shape_of(state));
        self.enter(scratch, None, |work| {
            work.state.clear();
            work.state.extend_from_slice(state);
            work.shape = shape;
        });
        let mut touched = scratch.touched.pop().unwrap_or_default();
        touched.begin(state.len());
        let first = scratch.frames.last_mut().expect("just entered");
        first.work.touched = Some(touched);
        first.lowest = process;
        if let Some(next) = &mut scratch.next {
            next.touched = scratch.touched.pop();
        }
        first.scan.process = process + 1;
        out.alone = self.independence.as_ref().is_some_and(|independence| {
            let context = self.context(&first.work, Some(process), false);
            self.may_go_alone(independence, &context, false)
        });
        let known = self.follow(scratch, out);
        scratch.findings.forget();
        let Scratch { frames, spare, next, touched, .. } = scratch;
        let works = frames.iter_mut().chain(spare).flat_map(|frame| {
            let Frame { work, offer, .. } = frame;
            [work, &mut offer.offered]
        });
        touched.extend(works.chain(next).filter_map(|work| work.touched.take()));
        touched.truncate(MAX_KEPT);
        known
    }

    /// Follows the moves from the first frame.
    fn follow(&self, scratch: &mut Scratch, out: &mut Footprint) -> Actor {
        let mut moves = 0;
        // By frame: how many steps lead to it.
        let mut lengths = vec![0];
        while let Some(frame) = scratch.frames.last_mut() {
            let next = scratch.next.get_or_insert_with(|| frame.work.clone());
            let Some(taken) = self.next_move(frame, next, &mut scratch.findings) else {
                out.note_read(&frame.work);
                let length = lengths.pop().expect("each frame has one");
                if frame.exclusive.is_some() && !frame.any && !out.note_move(&frame.work, length) {
                    return Actor::Unknown;
                }
                self.drop_frame(scratch);
                continue;
            };
            if !taken.alive || taken.count == 0 || !scratch.findings.violations.is_empty() {
                return Actor::Wrong;
            }
            out.note_read(&frame.work);
            out.note_read(&frame.offer.offered);
            out.note_read(next);
            moves += 1;
            if moves > MAX_MOVES {
                return Actor::Unknown;
            }
            let length = lengths.last().expect("each frame has one") + taken.count as u32;
            match taken.exclusive {
                None => {
                    if !out.note_move(next, length) {
                        return Actor::Unknown;
                    }
                }
                Some(_) if scratch.frames.len() > MAX_FRAMES => return Actor::Unknown,
                Some(process) => {
                    let work = scratch.next.take();
                    self.enter(scratch, work, |_| ());
                    let frame = scratch.frames.last_mut().expect("just entered");
                    frame.exclusive = Some(process);
                    frame.rewind();
                    lengths.push(length);
                }
            }
        }
        Actor::Known
    }
}

impl Footprint {
    fn note_read(&mut self, work: &Work) {
        if let Some(touched) = &work.touched {
            self.effort = self.effort.max(touched.effort());
            for (all, order) in self.order.iter_mut().zip(&*touched.order()) {
                if all.len() < order.len() {
                    all.clone_from(order);
                }
            }
            self.read.iter_mut().zip(touched.all_read()).for_each(|(all, read)| *all |= read);
        }
    }

    /// Notes where a move of so many steps leads; false if the shape of the state changed on the way.
    fn note_move(&mut self, work: &Work, length: u32) -> bool {
        let Some(touched) = work.touched.as_ref().filter(|touched| !touched.reshaped) else {
            return false;
        };
        self.states.extend_from_slice(&work.state);
        self.written.extend_from_slice(touched.all_written());
        self.lengths.push(length);
        true
    }
}

impl Frame {
    /// Notes what an offer that was answered by nobody, or by all, looked at.
    pub(super) fn note_offer(&self) {
        if let (Some(touched), Some(offered)) = (&self.work.touched, &self.offer.offered.touched) {
            touched.add_read(offered);
        }
    }
}
