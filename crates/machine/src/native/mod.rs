//! Native code for guards and effects.
//!
//! The driver of [`crate::explore`] defines in which order moves are tried, and what atomic
//! sequences, rendezvous, `else`, `timeout` and claims mean. What costs the time, computing guards and
//! effects, is compiled here with Cranelift, in milliseconds: a *scan* tells for (up to 32)
//! transitions of a local state at once which are possible, an *effect* changes a copy of the state.
//! Both may answer that they do not know. Then the interpreter is asked, so this code is never
//! needed for an answer, and it reports nothing itself: wherever something goes wrong, it says that it
//! does not know.
//!
//! # Safety
//! Compiled code reads and writes the state it is given through addresses that it computes from
//! the layout of the program and the tables of the state's shape. So a state must be of its shape:
//! as long as [`Shape::bytes`], with the blocks of its processes and channels where the shape says.
//! Every state the machine makes is. Indexes and numbers of channels and processes, which come out of
//! the state, are compared with their bounds before they are used.
#![allow(unsafe_code)]

mod emit;
mod flow;
mod kinds;

use std::mem::{ManuallyDrop, offset_of};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, UserFuncName, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};
use spinward_program::Program;
use spinward_program::ir::{
    Action, BodyId, BodyKind, ChannelTypeId, Expr, Transition, TransitionId,
};

use crate::exec::Message;
use crate::shape::{Header, Placed, Shape};
use emit::{Emitter, Target};
use kinds::Kinds;

/// How many transitions a scan looks at.
pub(crate) const SCANNED: u32 = 32;

/// What compiled code is told besides the state.
#[repr(C)]
#[derive(Debug)]
struct Env {
    channels: *const Placed<ChannelTypeId>,
    processes: *const Placed<BodyId>,
    /// By transition: whether it was looked at. Only the inside of a `d_step` is noted here.
    tried: *mut bool,
    /// The fields of a message that is offered.
    message: *mut i32,
    channel_count: u32,
    process_count: u32,
    pid: u32,
    timeout: u32,
    /// The number of the channel on which a message is offered.
    offered: i32,
    offered_fields: u32,
}

impl Env {
    const CHANNELS: usize = offset_of!(Self, channels);
    const PROCESSES: usize = offset_of!(Self, processes);
    const TRIED: usize = offset_of!(Self, tried);
    const MESSAGE: usize = offset_of!(Self, message);
    const CHANNEL_COUNT: usize = offset_of!(Self, channel_count);
    const PROCESS_COUNT: usize = offset_of!(Self, process_count);
    const PID: usize = offset_of!(Self, pid);
    const TIMEOUT: usize = offset_of!(Self, timeout);
    const OFFERED: usize = offset_of!(Self, offered);
    const OFFERED_FIELDS: usize = offset_of!(Self, offered_fields);
}

/// Compiled code: the environment, the state, the block of the process.
type Function = unsafe extern "C" fn(*mut Env, *mut u8, *mut u8) -> u64;

/// Who moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover<'a> {
    /// The shape of the state.
    pub shape: &'a Shape,
    /// The number of the process.
    pub process: usize,
    /// What `timeout` is.
    pub timeout: bool,
}

/// What is possible, one bit for each transition.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scanned {
    /// Possible; if it is also unknown, then if somebody takes the message that it offers.
    pub possible: u32,
    /// The interpreter must say it.
    pub unknown: u32,
}

/// How the effect of a transition is computed.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// There is none.
    None,
    Compiled(Function),
    Interpreted,
}

/// A program's guards and effects.
#[derive(Debug)]
pub(crate) struct Native {
    /// By transition, for the first of those that are looked at together.
    scans: Vec<Option<Function>>,
    /// Likewise; none if no transition among them ever takes an offered message.
    answers: Vec<Option<Function>>,
    /// By transition.
    effects: Vec<Effect>,
    /// By transition, for those that may take an offered message.
    answer_effects: Vec<Option<Function>>,
    /// By transition, for sends that may offer a message: with the number of its fields.
    offers: Vec<Option<(Function, usize)>>,
    /// Tables that the code has the addresses of.
    _kinds: Kinds,
    _code: Code,
}

/// Compiling was not possible; the interpreter goes on.
#[derive(Debug)]
pub(crate) struct Failed;

impl From<ModuleError> for Failed {
    fn from(_: ModuleError) -> Self {
        Self
    }
}

/// The memory of the compiled functions.
struct Code(ManuallyDrop<JITModule>);

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").finish_non_exhaustive()
    }
}

// SAFETY: nothing is asked of the module any more but to be freed, by the last owner; the code it
// holds does not change and has no state of its own.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: taken once; the functions lie beside it in `Native`, which nobody can use any more.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() }
    }
}

impl Native {
    /// Whether there is a compiler for this computer.
    pub fn is_available() -> bool {
        cfg!(target_endian = "little") && cranelift_native::builder().is_ok()
    }

    /// Compiles a program; fails if told to stop.
    pub fn new(
        program: &Program,
        header: &Header,
        traced: bool,
        stop: &AtomicBool,
    ) -> Result<Self, Failed> {
        let kinds = Kinds::new(program, header);
        let target = Target { program, header, kinds: &kinds, traced };
        let mut compiler = Compiler::new(target)?;
        let count = program.transitions.len();
        let none = || -> Vec<Option<FuncId>> { vec![None; count] };
        let (mut scans, mut answers, mut offers) = (none(), none(), none());
        let (mut effects, mut answer_effects) = (none(), none());
        let rendezvous = program.channels.iter().any(|kind| kind.capacity == 0);
        for automaton in program.automata.iter().filter(|a| is_process(a.kind)) {
            for state in automaton.states.iter().filter(|s| s.reachable) {
                if stop.load(Ordering::Relaxed) {
                    return Err(Failed);
                }
                let ids = state.transitions.clone();
                for first in ids.clone().step_by(SCANNED as usize) {
                    let together = first..ids.end.min(first + SCANNED);
                    let takes = |id| may_answer(program, program.transition(TransitionId(id)));
                    if rendezvous && together.clone().any(takes) {
                        answers[first as usize] = Some(compiler.answers(together.clone())?);
                    }
                    scans[first as usize] = Some(compiler.scan(together)?);
                }
                for id in ids {
                    let transition = &program.transitions[id as usize];
                    let id = id as usize;
                    if is_compiled(&transition.action) {
                        effects[id] = Some(compiler.effect(transition)?);
                    }
                    if rendezvous && may_answer(program, transition) {
                        answer_effects[id] = Some(compiler.answer_effect(transition)?);
                    }
                    if let Action::Send { channel, args, .. } = &transition.action
                        && rendezvous
                    {
                        offers[id] = Some(compiler.offer(channel, args)?);
                    }
                }
            }
        }
        let module = compiler.finish()?;
        let function = |id: Option<FuncId>| {
            let code = module.get_finalized_function(id?);
            // SAFETY: every function was declared with the signature that this type says.
            Some(unsafe { std::mem::transmute::<*const u8, Function>(code) })
        };
        let functions = |ids: Vec<Option<FuncId>>| ids.into_iter().map(function).collect();
        let effect = |(id, transition): (Option<FuncId>, &Transition)| match function(id) {
            Some(function) => Effect::Compiled(function),
            None if has_no_effect(&transition.action) => Effect::None,
            None => Effect::Interpreted,
        };
        let offer = |(id, transition): (Option<FuncId>, &Transition)| match &transition.action {
            Action::Send { args, .. } => function(id).map(|function| (function, args.len())),
            _ => None,
        };
        Ok(Self {
            scans: functions(scans),
            answers: functions(answers),
            effects: effects.into_iter().zip(&program.transitions).map(effect).collect(),
            answer_effects: functions(answer_effects),
            offers: offers.into_iter().zip(&program.transitions).map(offer).collect(),
            _kinds: kinds,
            _code: Code(ManuallyDrop::new(module)),
        })
    }

    /// Which of the transitions from `first` on are possible for a process.
    pub fn scan(&self, first: TransitionId, state: &[u8], mover: Mover<'_>) -> Scanned {
        match self.scans[first.0 as usize] {
            Some(function) => Scanned::from(look(function, state, mover, &mut Env::new(mover))),
            None => Scanned { possible: 0, unknown: u32::MAX },
        }
    }

    /// Which of the transitions from `first` on take an offered message.
    pub fn scan_answers(
        &self,
        first: TransitionId,
        state: &[u8],
        mover: Mover<'_>,
        message: &Message,
    ) -> Scanned {
        match self.answers[first.0 as usize] {
            Some(function) => {
                Scanned::from(look(function, state, mover, &mut Env::offering(mover, message)))
            }
            None => Scanned::default(),
        }
    }

    /// Makes the message that a send offers. False: the interpreter must do it.
    pub fn offer(
        &self,
        id: TransitionId,
        state: &[u8],
        mover: Mover<'_>,
        message: &mut Message,
    ) -> bool {
        let Some((function, fields)) = self.offers[id.0 as usize] else {
            return false;
        };
        message.fields.resize(fields, 0);
        let mut env = Env { message: message.fields.as_mut_ptr(), ..Env::new(mover) };
        let done = look(function, state, mover, &mut env) == 0;
        message.channel = env.offered;
        done
    }

    /// Whether [`effect`](Self::effect) may do what a transition does.
    pub fn has_effect(&self, id: TransitionId) -> bool {
        !matches!(self.effects[id.0 as usize], Effect::Interpreted)
    }

    /// Does what a possible transition does, without moving the process on. False: the interpreter
    /// must do it, from the start; the state may have changed.
    pub fn effect(
        &self,
        id: TransitionId,
        state: &mut [u8],
        mover: Mover<'_>,
        tried: &mut [bool],
    ) -> bool {
        match self.effects[id.0 as usize] {
            Effect::None => true,
            Effect::Interpreted => false,
            Effect::Compiled(function) => change(function, state, mover, Env::new(mover), tried),
        }
    }

    /// Does what a transition that takes an offered message does, likewise.
    pub fn answer_effect(
        &self,
        id: TransitionId,
        state: &mut [u8],
        mover: Mover<'_>,
        message: &Message,
        tried: &mut [bool],
    ) -> bool {
        self.answer_effects[id.0 as usize].is_some_and(|function| {
            change(function, state, mover, Env::offering(mover, message), tried)
        })
    }
}

impl Env {
    fn new(mover: Mover<'_>) -> Self {
        Self {
            channels: mover.shape.channels.as_ptr(),
            processes: mover.shape.processes.as_ptr(),
            tried: std::ptr::null_mut(),
            message: std::ptr::null_mut(),
            channel_count: mover.shape.channels.len() as u32,
            process_count: mover.shape.processes.len() as u32,
            pid: mover.process as u32,
            timeout: u32::from(mover.timeout),
            offered: 0,
            offered_fields: 0,
        }
    }

    /// Whoever is told of an offer only reads it.
    fn offering(mover: Mover<'_>, message: &Message) -> Self {
        Self {
            message: message.fields.as_ptr().cast_mut(),
            offered: message.channel,
            offered_fields: message.fields.len() as u32,
            ..Self::new(mover)
        }
    }
}

impl From<u64> for Scanned {
    fn from(answer: u64) -> Self {
        Self { possible: answer as u32, unknown: (answer >> 32) as u32 }
    }
}

/// Calls code that does not change the state.
fn look(function: Function, state: &[u8], mover: Mover<'_>, env: &mut Env) -> u64 {
    assert_eq!(state.len(), mover.shape.bytes, "a state is as long as its shape says");
    let state = state.as_ptr().cast_mut();
    // SAFETY: the state is of its shape (see the module's comment), the process one of its processes.
    unsafe { function(env, state, state.add(mover.shape.processes[mover.process].offset)) }
}

/// Calls code that changes the state. False: it was not done.
fn change(
    function: Function,
    state: &mut [u8],
    mover: Mover<'_>,
    mut env: Env,
    tried: &mut [bool],
) -> bool {
    assert_eq!(state.len(), mover.shape.bytes, "a state is as long as its shape says");
    env.tried = tried.as_mut_ptr();
    let state = state.as_mut_ptr();
    // SAFETY: as in `look`; `tried` has an element for each transition of the program.
    unsafe {
        function(&mut env, state, state.add(mover.shape.processes[mover.process].offset)) == 0
    }
}

fn is_process(kind: BodyKind) -> bool {
    matches!(kind, BodyKind::Proctype | BodyKind::Init)
}

fn has_no_effect(action: &Action) -> bool {
    matches!(action, Action::Skip | Action::Condition(_) | Action::Else)
}

/// Whether effects of this kind are compiled.
fn is_compiled(action: &Action) -> bool {
    match action {
        Action::Assign(..)
        | Action::AssignAll(_)
        | Action::Assert(_)
        | Action::Print { .. }
        | Action::PrintMtype(..)
        | Action::DStep { .. } => true,
        Action::Send { sorted, .. } => !sorted,
        Action::Receive { random, .. } => !random,
        _ => false,
    }
}

/// Whether a transition may take an offered message.
fn may_answer(program: &Program, transition: &Transition) -> bool {
    match &transition.action {
        Action::Receive { .. } => true,
        Action::DStep { entry } => program
            .automaton(transition.body)
            .state(*entry)
            .transition_ids()
            .any(|id| may_answer(program, program.transition(id))),
        _ => false,
    }
}

/// Moves what follows the first `first` of `bytes` bytes to their start, and puts zeros at the end.
unsafe extern "C" fn move_bytes(at: *mut u8, first: u32, bytes: u32) {
    let (first, bytes) = (first as usize, bytes as usize);
    // SAFETY: the compiled code gives the messages of a channel, `bytes` long, of which `first` is
    // one.
    let all = unsafe { std::slice::from_raw_parts_mut(at, bytes) };
    all.copy_within(first.., 0);
    all[bytes - first..].fill(0);
}

struct Compiler<'a> {
    target: Target<'a>,
    module: JITModule,
    signature: Signature,
    move_signature: Signature,
    context: Context,
    builders: FunctionBuilderContext,
}

impl<'a> Compiler<'a> {
    fn new(target: Target<'a>) -> Result<Self, Failed> {
        let mut flags = settings::builder();
        for (name, value) in [("opt_level", "speed"), ("enable_verifier", "false")] {
            flags.set(name, value).map_err(|_| Failed)?;
        }
        let isa = cranelift_native::builder().map_err(|_| Failed)?;
        let isa = isa.finish(settings::Flags::new(flags)).map_err(|_| Failed)?;
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let pointer = AbiParam::new(module.isa().pointer_type());
        let number = AbiParam::new(types::I32);
        let mut signature = module.make_signature();
        signature.params = vec![pointer, pointer, pointer];
        signature.returns = vec![AbiParam::new(types::I64)];
        let mut move_signature = module.make_signature();
        move_signature.params = vec![pointer, number, number];
        let context = module.make_context();
        let builders = FunctionBuilderContext::new();
        Ok(Self { target, module, signature, move_signature, context, builders })
    }

    /// A function with a body.
    fn function(&mut self, body: impl FnOnce(&mut Emitter<'a, '_>)) -> Result<FuncId, Failed> {
        let id = self.module.declare_anonymous_function(&self.signature)?;
        self.context.func.signature = self.signature.clone();
        self.context.func.name = UserFuncName::user(0, id.as_u32());
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builders);
        let move_bytes = builder.import_signature(self.move_signature.clone());
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let slow = builder.create_block();
        let [env, state, block] = builder.block_params(entry) else {
            unreachable!("the signature has three parameters");
        };
        let (env, state, block) = (*env, *state, *block);
        let pointer = self.module.isa().pointer_type();
        let target = self.target;
        let mut emitter = Emitter { target, builder, env, state, block, slow, pointer, move_bytes };
        body(&mut emitter);
        emitter.builder.seal_all_blocks();
        emitter.builder.finalize(self.module.target_config());
        self.module.define_function(id, &mut self.context)?;
        self.module.clear_context(&mut self.context);
        Ok(id)
    }

    /// A function that tells which of some transitions are possible.
    fn scan(&mut self, transitions: Range<u32>) -> Result<FuncId, Failed> {
        self.bits(transitions, |e, transition| e.status(transition))
    }

    /// A function that tells which of some transitions take an offered message.
    fn answers(&mut self, transitions: Range<u32>) -> Result<FuncId, Failed> {
        self.bits(transitions, |e, transition| e.answer(transition))
    }

    /// A function that returns for each of some transitions the two bits of its status, the higher
    /// one 32 bits up; if the interpreter must say it, the higher one only is set.
    fn bits(
        &mut self,
        transitions: Range<u32>,
        status: impl Fn(&mut Emitter<'a, '_>, &Transition) -> Value,
    ) -> Result<FuncId, Failed> {
        self.function(|e| {
            let mut answer = e.builder.ins().iconst(types::I64, 0);
            for (bit, id) in transitions.enumerate() {
                let next = e.builder.create_block();
                let result = e.builder.append_block_param(next, types::I64);
                let transition = e.target.program.transition(TransitionId(id));
                let status = status(e, transition);
                let status = e.builder.ins().uextend(types::I64, status);
                let (before, mut possible) = (answer, status);
                if matches!(transition.action, Action::Send { .. }) {
                    possible = e.builder.ins().band_imm_u(status, 1);
                    let offers = e.builder.ins().band_imm_u(status, 2);
                    let offers = e.builder.ins().ishl_imm_u(offers, 31 + bit as i64);
                    answer = e.builder.ins().bor(answer, offers);
                }
                let possible = e.builder.ins().ishl_imm_u(possible, bit as i64);
                let known = e.builder.ins().bor(answer, possible);
                e.builder.ins().jump(next, &[known.into()]);
                e.builder.switch_to_block(e.slow);
                let unknown = e.builder.ins().bor_imm_u(before, 1 << (32 + bit));
                e.builder.ins().jump(next, &[unknown.into()]);
                e.slow = e.builder.create_block();
                e.builder.switch_to_block(next);
                answer = result;
            }
            e.builder.ins().return_(&[answer]);
            e.end_slow();
        })
    }

    /// A function that does what a transition does and returns 0, or 1 if it did not.
    fn effect(&mut self, transition: &Transition) -> Result<FuncId, Failed> {
        self.action(|e| e.effect(transition))
    }

    /// Likewise for a transition that takes an offered message.
    fn answer_effect(&mut self, transition: &Transition) -> Result<FuncId, Failed> {
        self.action(|e| e.answer_effect(transition))
    }

    /// A function that makes an offer and returns 0, or 1 if it did not.
    fn offer(&mut self, channel: &Expr, args: &[Expr]) -> Result<FuncId, Failed> {
        self.action(|e| e.offer(channel, args))
    }

    fn action(&mut self, body: impl FnOnce(&mut Emitter<'a, '_>)) -> Result<FuncId, Failed> {
        self.function(|e| {
            body(e);
            let done = e.builder.ins().iconst(types::I64, 0);
            e.builder.ins().return_(&[done]);
            e.end_slow();
        })
    }

    fn finish(mut self) -> Result<JITModule, Failed> {
        self.module.finalize_definitions()?;
        Ok(self.module)
    }
}
