//! Native code for the moves of processes.
//!
//! The driver of [`crate::explore`] defines in which order moves are tried, and what claims, `timeout`
//! and dead ends mean. What costs the time, the moves of a process, is compiled here with
//! Cranelift, in milliseconds: for each local state of a process one function that appends to a list
//! all states that the process leads to from there, and one that appends those by which it answers an
//! offer of a rendezvous. Both may say that they do not know. Then the interpreter is asked, so this
//! code is never needed for an answer, and it reports nothing itself: wherever something goes wrong,
//! it says that it does not know.
//!
//! # Safety
//! Compiled code reads and writes the state it is given through addresses that it computes from
//! the layout of the program and the tables of the state's shape. So a state must be of its shape:
//! as long as [`Shape::bytes`](crate::shape::Shape::bytes), with the blocks of its processes and
//! channels where the shape says. Every state the machine makes is. Indexes and numbers of channels
//! and processes, which come out of the state, are compared with their bounds before they are used.
#![allow(unsafe_code)]

mod chains;
mod emit;
mod flow;
mod kinds;
mod walk;

use std::mem::ManuallyDrop;
use std::ops::{BitOr, Range};

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Signature, Type, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};
use spinward_program::Program;
use spinward_program::ir::{
    Action, Automaton, BodyId, BodyKind, ControlState, Transition, TransitionId,
};

use crate::shape::Header;
use crate::stop::Stop;
use emit::{Emitter, Helper, Target};
use kinds::Kinds;
pub(crate) use walk::Walk;

/// A local state with more transitions is left to the interpreter: compiling takes more than linear
/// time.
const MAX_TRANSITIONS: usize = 256;

/// Compiled code: what it works with, the state, the block of the process. Not 0: it does not know.
type Function = unsafe extern "C" fn(*mut Walk, *mut u8, *mut u8) -> u64;

/// How a process in a local state answers an offer.
#[derive(Clone, Copy, Debug)]
enum Answers {
    Never,
    /// On these channels, as bits by their number modulo 64.
    Compiled(Function, u64),
    Interpreted,
}

/// The code for a local state.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// None: the interpreter knows.
    moves: Option<Function>,
    answers: Answers,
}

/// The moves of a program's processes.
#[derive(Debug)]
pub(crate) struct Native {
    /// By local state, those of one body behind those of another.
    entries: Vec<Entry>,
    /// By body: where its local states start.
    starts: Vec<usize>,
    /// By body: on which channels it may take an offered message, as bits by their number modulo 64.
    receives: Vec<u64>,
    /// By transition: whether a cycle inside of an atomic sequence may end with it.
    closes_cycle: Vec<bool>,
    /// Which of the watched conditions hold.
    values: Option<Function>,
    /// How many fields a message, and how many arguments a process can have.
    fields: usize,
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
        watched: &[u32],
        stop: &Stop,
    ) -> Result<Self, Failed> {
        let kinds = Kinds::new(program, header);
        let target = Target { program, header, kinds: &kinds, traced };
        let mut compiler = Compiler::new(target)?;
        let mut starts = Vec::with_capacity(program.automata.len());
        let mut declared = Vec::new();
        for automaton in &program.automata {
            starts.push(declared.len());
            for state in &automaton.states {
                if stop.is_told() {
                    return Err(Failed);
                }
                let compiled = is_compiled(program, automaton, state);
                let moves = compiled.then(|| compiler.moves(automaton, state)).transpose()?;
                let mut answers = Answer::Never;
                if state.reachable && kinds.any_rendezvous() && may_answer_in(program, state) {
                    answers = match compiled {
                        true => Answer::Declared(
                            compiler.answers(automaton, state)?,
                            channels_of(program, &kinds, state),
                        ),
                        false => Answer::Interpreted,
                    };
                }
                declared.push((moves, answers));
            }
        }
        let values = match watched {
            [] => None,
            watched if watched.iter().any(|&it| program.conditions[it as usize].asks_timeout) => {
                None
            }
            watched => Some(compiler.values(watched)?),
        };
        let module = compiler.finish()?;
        let function = |id: FuncId| {
            let code = module.get_finalized_function(id);
            // SAFETY: every function was declared with the signature that this type says.
            unsafe { std::mem::transmute::<*const u8, Function>(code) }
        };
        let entry = |(moves, answers): (Option<FuncId>, Answer)| Entry {
            moves: moves.map(function),
            answers: match answers {
                Answer::Never => Answers::Never,
                Answer::Declared(id, channels) => Answers::Compiled(function(id), channels),
                Answer::Interpreted => Answers::Interpreted,
            },
        };
        let messages = program.channels.iter().map(|kind| kind.fields.len());
        let arguments = program.automata.iter().map(|automaton| automaton.params.len());
        Ok(Self {
            entries: declared.into_iter().map(entry).collect(),
            starts,
            receives: received(program, &kinds),
            closes_cycle: chains::closing(program),
            values: values.map(function),
            fields: messages.chain(arguments).max().unwrap_or(0),
            _kinds: kinds,
            _code: Code(ManuallyDrop::new(module)),
        })
    }

    /// The code for a local state of a process.
    fn entry(&self, body: BodyId, control: u16) -> &Entry {
        &self.entries[self.starts[body.0 as usize] + usize::from(control)]
    }
}

/// Likewise, before there is code.
enum Answer {
    Never,
    Declared(FuncId, u64),
    Interpreted,
}

/// Whether the moves of processes in a local state are compiled. Not those that need what only the
/// driver knows: priorities, whether something else was possible in a deterministic process, escapes,
/// a condition for the process that may go wrong.
fn is_compiled(program: &Program, automaton: &Automaton, state: &ControlState) -> bool {
    matches!(automaton.kind, BodyKind::Proctype | BodyKind::Init)
        && state.reachable
        && state.transitions.len() <= MAX_TRANSITIONS
        && !program.uses.priorities
        && !automaton.deterministic
        && automaton.provided.as_ref().is_none_or(emit::is_harmless)
        && state.transition_ids().all(|id| program.transition(id).escape == 0)
}

/// Whether a transition of a local state may take an offered message.
fn may_answer_in(program: &Program, state: &ControlState) -> bool {
    state.transition_ids().any(|id| may_answer(program, program.transition(id)))
}

fn may_answer(program: &Program, transition: &Transition) -> bool {
    match &transition.action {
        Action::Receive { .. } => true,
        Action::DStep { entry } => {
            may_answer_in(program, program.automaton(transition.body).state(*entry))
        }
        _ => false,
    }
}

/// By body: on which channels it may take an offered message, as bits by their number modulo 64.
fn received(program: &Program, kinds: &Kinds) -> Vec<u64> {
    let of_body = |automaton: &Automaton| {
        let channels = automaton.states.iter().map(|state| channels_of(program, kinds, state));
        channels.fold(0, BitOr::bitor)
    };
    program.automata.iter().map(of_body).collect()
}

/// Who may take messages that are offered.
#[derive(Debug)]
pub(crate) struct Receivers(Vec<u64>);

impl Receivers {
    pub fn new(program: &Program, header: &Header) -> Self {
        Self(received(program, &Kinds::new(program, header)))
    }

    /// Whether a process may take a message that is offered on a channel.
    pub fn may_receive(&self, body: BodyId, channel: i32) -> bool {
        self.0[body.0 as usize] & walk::channel_bit(channel) != 0
    }
}

/// On which channels a local state may take an offered message, as bits by their number modulo 64.
fn channels_of(program: &Program, kinds: &Kinds, state: &ControlState) -> u64 {
    let channels = |id| {
        let transition = program.transition(id);
        match &transition.action {
            // That a rendezvous is only to be looked at is an error whatever is offered, as in SPIN.
            Action::Receive { channel, keep: true, .. } if kinds.is_rendezvous(channel) => u64::MAX,
            Action::Receive { channel, .. } => {
                kinds.known(channel).map_or(u64::MAX, |known| walk::channel_bit(known.number))
            }
            Action::DStep { entry } => {
                channels_of(program, kinds, program.automaton(transition.body).state(*entry))
            }
            _ => 0,
        }
    };
    state.transition_ids().map(channels).fold(0, |all, channels| all | channels)
}

struct Compiler<'a> {
    target: Target<'a>,
    module: JITModule,
    signature: Signature,
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
        let pointer = module.isa().pointer_type();
        let signature = signature(&module, &[pointer; 3], Some(types::I64));
        let context = module.make_context();
        let builders = FunctionBuilderContext::new();
        Ok(Self { target, module, signature, context, builders })
    }

    /// A function with a body, which returns 0 at its end.
    fn function(&mut self, body: impl FnOnce(&mut Emitter<'a, '_>)) -> Result<FuncId, Failed> {
        let id = self.module.declare_anonymous_function(&self.signature)?;
        self.context.func.signature = self.signature.clone();
        self.context.func.name = UserFuncName::user(0, id.as_u32());
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builders);
        let pointer = self.module.isa().pointer_type();
        let helpers = Helper::ALL.map(|helper| {
            let (parameters, result) = helper.signature(pointer);
            builder.import_signature(signature(&self.module, &parameters, result))
        });
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let slow = builder.create_block();
        let [env, state, block] = builder.block_params(entry) else {
            unreachable!("the signature has three parameters");
        };
        let (env, state, block) = (*env, *state, *block);
        let target = self.target;
        let mut emitter = Emitter { target, builder, env, state, block, slow, pointer, helpers };
        body(&mut emitter);
        emitter.finish();
        emitter.builder.seal_all_blocks();
        emitter.builder.finalize(self.module.target_config());
        self.module.define_function(id, &mut self.context)?;
        self.module.clear_context(&mut self.context);
        Ok(id)
    }

    /// The function that appends all moves from a local state.
    fn moves(&mut self, automaton: &Automaton, state: &ControlState) -> Result<FuncId, Failed> {
        let ids = state.transitions.clone();
        let transitions = self.transitions(ids.clone());
        self.function(|e| {
            e.stop_unless_provided(automaton);
            e.note_tried(ids);
            e.moves(&transitions);
        })
    }

    /// The function that appends all answers to an offer.
    fn answers(&mut self, automaton: &Automaton, state: &ControlState) -> Result<FuncId, Failed> {
        let mut transitions = self.transitions(state.transitions.clone());
        transitions.retain(|(_, transition)| may_answer(self.target.program, transition));
        self.function(|e| {
            e.stop_unless_provided(automaton);
            for (id, transition) in transitions {
                e.take_offered(id, transition);
            }
        })
    }

    /// The function that tells which of some conditions hold.
    fn values(&mut self, watched: &[u32]) -> Result<FuncId, Failed> {
        let conditions = &self.target.program.conditions;
        let watched: Vec<_> = watched.iter().map(|&it| &conditions[it as usize].expr).collect();
        self.function(|e| e.values(&watched))
    }

    fn transitions(&self, ids: Range<u32>) -> Vec<(TransitionId, &'a Transition)> {
        let program = self.target.program;
        ids.map(TransitionId).map(|id| (id, program.transition(id))).collect()
    }

    fn finish(mut self) -> Result<JITModule, Failed> {
        self.module.finalize_definitions()?;
        Ok(self.module)
    }
}

fn signature(module: &JITModule, parameters: &[Type], result: Option<Type>) -> Signature {
    let mut signature = module.make_signature();
    signature.params = parameters.iter().copied().map(AbiParam::new).collect();
    signature.returns = result.into_iter().map(AbiParam::new).collect();
    signature
}
