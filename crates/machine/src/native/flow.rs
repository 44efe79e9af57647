//! Moves: one after the other as the automaton has them, whole `d_step` sequences, offers of a
//! rendezvous and answers to them.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types};
use rustc_hash::FxHashMap;
use spinward_program::ir::{
    Action, Automaton, Expr, MessageField, Place, ReceiveArg, StateId, Transition, TransitionId,
};

use super::emit::{Emitter, Helper, flags, largest_power};
use super::walk::Env;

/// After so many steps of a `d_step` the interpreter takes over, which notices if it never ends.
const PATIENCE: i64 = 10_000;

/// So many bytes are set to 0 by code without a call.
const RESET_INLINE: u32 = 64;

/// The local states of a `d_step`, each with its block.
type Blocks = FxHashMap<StateId, Block>;

impl<'a> Emitter<'a, '_> {
    /// A process that may not move has no moves.
    pub fn stop_unless_provided(&mut self, automaton: &Automaton) {
        if let Some(provided) = &automaton.provided {
            let may_move = self.condition(provided);
            let [go_on, stop] = std::array::from_fn(|_| self.builder.create_block());
            self.builder.ins().brif(may_move, go_on, &[], stop, &[]);
            self.builder.switch_to_block(stop);
            let known = self.builder.ins().iconst(types::I64, 0);
            self.builder.ins().return_(&[known]);
            self.builder.switch_to_block(go_on);
        }
    }

    /// Appends all moves by transitions of a local state, of which an `else` is the last.
    pub fn moves(&mut self, transitions: &[(TransitionId, &Transition)]) {
        let mut moved = self.truth(false);
        for &(id, transition) in transitions {
            let next = self.builder.create_block();
            let also_moved = self.builder.append_block_param(next, types::I8);
            let possible = match &transition.action {
                Action::Else => self.builder.ins().bxor_imm_u(moved, 1),
                Action::Send { channel, args, .. } => match self.is_offer(channel) {
                    Some(offers) => {
                        let [offer, send] = std::array::from_fn(|_| self.builder.create_block());
                        self.builder.ins().brif(offers, offer, &[], send, &[]);
                        self.builder.switch_to_block(offer);
                        let answered = self.offer(id, channel, args);
                        let either = self.builder.ins().bor(moved, answered);
                        self.builder.ins().jump(next, &[either.into()]);
                        self.builder.switch_to_block(send);
                        self.guard(transition)
                    }
                    None => self.guard(transition),
                },
                _ => self.guard(transition),
            };
            let taken = self.builder.create_block();
            self.builder.ins().brif(possible, taken, &[], next, &[moved.into()]);
            self.builder.switch_to_block(taken);
            self.take(id, transition, |e| e.lasting_effect(transition));
            let yes = self.truth(true);
            self.builder.ins().jump(next, &[yes.into()]);
            self.builder.switch_to_block(next);
            moved = also_moved;
        }
    }

    /// Appends the move by a transition if it takes the message that is offered.
    pub fn take_offered(&mut self, id: TransitionId, transition: &Transition) {
        let takes = self.answer(transition);
        let [taken, next] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.ins().brif(takes, taken, &[], next, &[]);
        self.builder.switch_to_block(taken);
        self.note_tried(id.0..id.0 + 1);
        self.take(id, transition, |e| e.answer_effect(transition));
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Appends a copy of the state, with the effect of a transition and the process gone on.
    fn take(&mut self, id: TransitionId, transition: &Transition, effect: impl FnOnce(&mut Self)) {
        let number = self.number(id.0 as i32);
        let alone = self.number(transition.atomic.into());
        let copy = self.call(Helper::Fork, &[self.env, self.state, number, alone]);
        let room = self.builder.ins().icmp_imm_s(IntCC::NotEqual, copy, 0);
        self.go_on_if(room);
        let (state, block) = (self.state, self.block);
        let offset = self.builder.ins().isub(block, state);
        self.state = copy;
        self.block = self.builder.ins().iadd(copy, offset);
        effect(self);
        if !matches!(transition.action, Action::Die) {
            let to = self.number(transition.to.0.into());
            self.builder.ins().istore16(flags(), to, self.block, 0);
            self.reset(&transition.resets);
        }
        if let Some(last) = self.target.header.last {
            let pid = self.env_field(Env::PID);
            self.builder.ins().istore8(flags(), pid, self.state, last as i32);
        }
        (self.state, self.block) = (state, block);
    }

    /// Sets local variables of the process to 0.
    fn reset(&mut self, resets: &[Range<u32>]) {
        for &Range { start, end } in resets {
            let mut at = self.target.header.process as u32 + start;
            let end = self.target.header.process as u32 + end;
            if end - at > RESET_INLINE {
                let bytes = self.number((end - at) as i32);
                let from = self.builder.ins().iadd_imm_s(self.block, i64::from(at));
                self.call(Helper::CloseGap, &[from, bytes, bytes]);
                continue;
            }
            while at < end {
                let size = largest_power(end - at);
                let ty = Type::int(size as u16 * 8).expect("1, 2, 4 or 8 bytes");
                let zero = self.builder.ins().iconst(ty, 0);
                self.builder.ins().store(flags(), zero, self.block, at as i32);
                at += size;
            }
        }
    }

    /// What a transition does, outside of a `d_step`, where it may change the shape of the state.
    fn lasting_effect(&mut self, transition: &Transition) {
        match &transition.action {
            Action::Die => {
                self.call(Helper::Die, &[self.env, self.state]);
            }
            Action::Run { result, body, args, priority: None } => {
                let values: Vec<_> = args.iter().map(|arg| self.value(arg)).collect();
                self.set_fields(&values);
                let [body, count] = [body.0, args.len() as u32].map(|n| self.number(n as i32));
                let pid = self.call(Helper::Create, &[self.env, self.state, body, count]);
                let created =
                    self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, pid, 0);
                self.go_on_if(created);
                if let Some(place) = result {
                    self.set(place, pid);
                }
            }
            _ => self.effect(transition),
        }
    }

    /// Appends the answers to a message that is offered; whether there is one.
    fn offer(&mut self, id: TransitionId, channel: &Expr, args: &[Expr]) -> Value {
        let Some((kind, number)) =
            self.rendezvous(channel, args.len()).filter(|_| !self.target.traced)
        else {
            self.give_up();
            return self.truth(false);
        };
        let truncated = |e: &mut Self, (arg, field): (&Expr, &MessageField)| {
            let value = e.value(arg);
            e.truncated(field.scalar, value)
        };
        let values: Vec<_> =
            args.iter().zip(&kind.fields).map(|field| truncated(self, field)).collect();
        self.set_fields(&values);
        let count = self.number(values.len() as i32);
        self.builder.ins().store(flags(), number, self.env, Env::OFFERED as i32);
        self.builder.ins().store(flags(), count, self.env, Env::OFFERED_FIELDS as i32);
        let id = self.number(id.0 as i32);
        let bytes = self.call(Helper::Answer, &[self.env, self.state, id]);
        let known = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, bytes, 0);
        self.go_on_if(known);
        self.builder.ins().icmp_imm_s(IntCC::NotEqual, bytes, 0)
    }

    fn set_fields(&mut self, values: &[Value]) {
        let fields = self.builder.ins().load(self.pointer, flags(), self.env, Env::FIELDS as i32);
        for (i, &value) in values.iter().enumerate() {
            self.builder.ins().store(flags(), value, fields, (i * size_of::<i32>()) as i32);
        }
    }

    /// Notes that transitions were looked at.
    pub fn note_tried(&mut self, ids: Range<u32>) {
        let table = self.builder.ins().load(self.pointer, flags(), self.env, Env::TRIED as i32);
        let mut next = ids.start;
        while next < ids.end {
            let size = largest_power(ids.end - next);
            let ty = Type::int(size as u16 * 8).expect("1, 2, 4 or 8 bytes");
            let yes = self.builder.ins().iconst(ty, 0x0101_0101_0101_0101 >> (64 - 8 * size));
            self.builder.ins().store(flags(), yes, table, next as i32);
            next += size;
        }
    }

    fn inner(
        &self,
        transition: &Transition,
        state: StateId,
    ) -> Vec<(TransitionId, &'a Transition)> {
        let automaton: &'a Automaton = self.target.program.automaton(transition.body);
        let ids = automaton.state(state).transition_ids();
        ids.map(|id| (id, self.target.program.transition(id))).collect()
    }

    /// Whether one of the first transitions of a `d_step` is possible.
    pub fn d_step_guard(&mut self, transition: &Transition, entry: StateId) -> Value {
        let mut possible = self.truth(false);
        for (_, inner) in self.inner(transition, entry) {
            let next = self.guard_inside(inner);
            possible = self.builder.ins().bor(possible, next);
        }
        possible
    }

    /// Inside of a `d_step` transitions are looked at in order, and an `else` is the last.
    fn guard_inside(&mut self, transition: &Transition) -> Value {
        match transition.action {
            Action::Else => self.truth(true),
            _ => self.guard(transition),
        }
    }

    /// Runs a `d_step`; if it begins with an answer to an offer, then with that.
    pub fn d_step(&mut self, transition: &Transition, entry: StateId, offered: bool) {
        let exit = self.builder.create_block();
        let mut blocks = Blocks::default();
        let mut waiting = Vec::new();
        let none = self.number(0);
        if offered {
            self.local_state(transition, entry, true, none, exit, &mut blocks, &mut waiting);
        } else {
            let block = self.block_of(entry, &mut blocks, &mut waiting);
            self.builder.ins().jump(block, &[none.into()]);
        }
        while let Some((state, block)) = waiting.pop() {
            self.builder.switch_to_block(block);
            let steps = self.builder.block_params(block)[0];
            let patience = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, steps, PATIENCE);
            self.go_on_if(patience);
            let steps = self.builder.ins().iadd_imm_s(steps, 1);
            self.local_state(transition, state, false, steps, exit, &mut blocks, &mut waiting);
        }
        self.builder.switch_to_block(exit);
    }

    fn block_of(
        &mut self,
        state: StateId,
        blocks: &mut Blocks,
        waiting: &mut Vec<(StateId, Block)>,
    ) -> Block {
        *blocks.entry(state).or_insert_with(|| {
            let block = self.builder.create_block();
            self.builder.append_block_param(block, types::I32);
            waiting.push((state, block));
            block
        })
    }

    /// Takes the first possible transition of a local state; that there is none is an error.
    #[allow(clippy::too_many_arguments)]
    fn local_state(
        &mut self,
        d_step: &Transition,
        state: StateId,
        offered: bool,
        steps: Value,
        exit: Block,
        blocks: &mut Blocks,
        waiting: &mut Vec<(StateId, Block)>,
    ) {
        for (id, transition) in self.inner(d_step, state) {
            let possible =
                if offered { self.answer(transition) } else { self.guard_inside(transition) };
            let [taken, next] = std::array::from_fn(|_| self.builder.create_block());
            if offered {
                self.builder.ins().brif(possible, taken, &[], next, &[]);
                self.builder.switch_to_block(taken);
                self.note_tried(id.0..id.0 + 1);
                self.answer_effect(transition);
            } else {
                self.note_tried(id.0..id.0 + 1);
                self.builder.ins().brif(possible, taken, &[], next, &[]);
                self.builder.switch_to_block(taken);
                self.effect(transition);
            }
            if transition.to == d_step.to {
                self.builder.ins().jump(exit, &[]);
            } else {
                let to = self.block_of(transition.to, blocks, waiting);
                self.builder.ins().jump(to, &[steps.into()]);
            }
            self.builder.switch_to_block(next);
        }
        self.give_up();
        // Never reached, but a block must end.
        self.builder.ins().jump(exit, &[]);
    }

    /// Whether a transition takes the message that is offered.
    pub fn answer(&mut self, transition: &Transition) -> Value {
        match &transition.action {
            Action::Receive { channel, args, keep: false, .. } => {
                let known = self.target.kinds.known(channel);
                let number = match known {
                    Some(known) => self.number(known.number),
                    None => self.value(channel),
                };
                let offered = self.env_field(Env::OFFERED);
                let same = self.builder.ins().icmp(IntCC::Equal, number, offered);
                self.choose(
                    same,
                    types::I8,
                    |e| e.matches(args),
                    |e| {
                        if known.is_none() {
                            // To wait for a channel that does not exist is an error.
                            let index = e.builder.ins().iadd_imm_s(number, -1);
                            let count = e.env_field(Env::CHANNEL_COUNT);
                            let exists =
                                e.builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
                            e.go_on_if(exists);
                        }
                        e.truth(false)
                    },
                )
            }
            Action::Receive { .. } => {
                self.give_up();
                self.truth(false)
            }
            Action::DStep { entry } => {
                let mut answers = self.truth(false);
                for (_, inner) in self.inner(transition, *entry) {
                    let next = self.answer(inner);
                    answers = self.builder.ins().bor(answers, next);
                }
                answers
            }
            _ => self.truth(false),
        }
    }

    /// Whether the offered message fits.
    fn matches(&mut self, args: &[ReceiveArg]) -> Value {
        let count = self.env_field(Env::OFFERED_FIELDS);
        let length = args.len() as i64;
        let right = self.builder.ins().icmp_imm_s(IntCC::Equal, count, length);
        self.go_on_if(right);
        let mut fits = self.truth(true);
        for (i, arg) in args.iter().enumerate() {
            if let ReceiveArg::Match(value) = arg {
                fits = self.and_then(fits, value, |e, value| {
                    let has = e.offered_field(i);
                    e.builder.ins().icmp(IntCC::Equal, value, has)
                });
            }
        }
        fits
    }

    fn offered_field(&mut self, field: usize) -> Value {
        let fields = self.builder.ins().load(self.pointer, flags(), self.env, Env::FIELDS as i32);
        self.builder.ins().load(types::I32, flags(), fields, (field * size_of::<i32>()) as i32)
    }

    /// What a transition that takes the offered message does.
    pub fn answer_effect(&mut self, transition: &Transition) {
        match &transition.action {
            Action::Receive { args, .. } if !self.target.traced => {
                let stores: Vec<(&Place, Value)> = args
                    .iter()
                    .enumerate()
                    .filter_map(|(i, arg)| match arg {
                        ReceiveArg::Store(place) => Some((place, self.offered_field(i))),
                        _ => None,
                    })
                    .collect();
                for (place, value) in stores {
                    self.set(place, value);
                }
            }
            Action::DStep { entry } => self.d_step(transition, *entry, true),
            _ => self.give_up(),
        }
    }
}
