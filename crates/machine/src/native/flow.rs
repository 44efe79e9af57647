//! Whole `d_step` sequences, and answers to the offer of a rendezvous.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use rustc_hash::FxHashMap;
use spinward_program::ir::{
    Action, Automaton, Expr, Place, ReceiveArg, StateId, Transition, TransitionId,
};

use super::Env;
use super::emit::{Emitter, flags};

/// After so many steps of a `d_step` the interpreter takes over, which notices if it never ends.
const PATIENCE: i64 = 10_000;

/// The local states of a `d_step`, each with its block.
type Blocks = FxHashMap<StateId, Block>;

impl<'a> Emitter<'a, '_> {
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
                self.note_tried(id);
                self.answer_effect(transition);
            } else {
                self.note_tried(id);
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

    fn note_tried(&mut self, id: TransitionId) {
        let table = self.builder.ins().load(self.pointer, flags(), self.env, Env::TRIED as i32);
        let yes = self.builder.ins().iconst(types::I8, 1);
        self.builder.ins().store(flags(), yes, table, id.0 as i32);
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
        let fields = self.builder.ins().load(self.pointer, flags(), self.env, Env::MESSAGE as i32);
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

    /// Puts an offered message where it belongs.
    pub fn offer(&mut self, channel: &Expr, args: &[Expr]) {
        let Some((kind, number)) = self.rendezvous(channel, args.len()) else {
            return self.give_up();
        };
        self.builder.ins().store(flags(), number, self.env, Env::OFFERED as i32);
        let fields = self.builder.ins().load(self.pointer, flags(), self.env, Env::MESSAGE as i32);
        for (i, (arg, field)) in args.iter().zip(&kind.fields).enumerate() {
            let value = self.value(arg);
            let value = self.truncated(field.scalar, value);
            let at = (i * size_of::<i32>()) as i32;
            self.builder.ins().store(flags(), value, fields, at);
        }
    }
}
