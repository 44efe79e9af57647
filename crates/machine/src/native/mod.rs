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
mod kinds;

use std::mem::{ManuallyDrop, offset_of};

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};
use spinward_program::Program;
use spinward_program::ir::{Action, BodyId, BodyKind, ChannelTypeId, TransitionId};

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
    channel_count: u32,
    process_count: u32,
    pid: u32,
    timeout: u32,
}

impl Env {
    const CHANNELS: usize = offset_of!(Self, channels);
    const PROCESSES: usize = offset_of!(Self, processes);
    const CHANNEL_COUNT: usize = offset_of!(Self, channel_count);
    const PROCESS_COUNT: usize = offset_of!(Self, process_count);
    const PID: usize = offset_of!(Self, pid);
    const TIMEOUT: usize = offset_of!(Self, timeout);

    fn new(shape: &Shape, process: usize, timeout: bool) -> Self {
        Self {
            channels: shape.channels.as_ptr(),
            processes: shape.processes.as_ptr(),
            channel_count: shape.channels.len() as u32,
            process_count: shape.processes.len() as u32,
            pid: process as u32,
            timeout: u32::from(timeout),
        }
    }
}

/// Compiled code: the environment, the state, the block of the process.
type Function = unsafe extern "C" fn(*const Env, *mut u8, *mut u8) -> u64;

/// What is possible.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scanned {
    /// One bit for each transition that is possible.
    pub possible: u32,
    /// One bit for each of which the interpreter must say it.
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
    /// By transition.
    effects: Vec<Effect>,
    /// Tables that the code has the addresses of.
    _kinds: Kinds,
    _code: Code,
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
    /// Compiles a program.
    pub fn new(program: &Program, header: &Header, traced: bool) -> Result<Self, Box<ModuleError>> {
        let kinds = Kinds::new(program, header);
        let target = Target { program, header, kinds: &kinds, traced };
        let mut compiler = Compiler::new(target)?;
        let count = program.transitions.len();
        let mut scans = vec![None; count];
        let mut effects: Vec<Option<FuncId>> = vec![None; count];
        for automaton in program.automata.iter().filter(|a| is_process(a.kind)) {
            for state in automaton.states.iter().filter(|s| s.reachable) {
                let mut first = state.transitions.start;
                while first < state.transitions.end {
                    let end = state.transitions.end.min(first + SCANNED);
                    scans[first as usize] = Some(compiler.scan(first..end)?);
                    first = end;
                }
                for id in state.transitions.clone() {
                    let action = &program.transitions[id as usize].action;
                    if is_compiled(action) {
                        effects[id as usize] = Some(compiler.effect(action)?);
                    }
                }
            }
        }
        let module = compiler.finish()?;
        let function = |id: FuncId| {
            let code = module.get_finalized_function(id);
            // SAFETY: every function was declared with the signature that this type says.
            unsafe { std::mem::transmute::<*const u8, Function>(code) }
        };
        let scans = scans.into_iter().map(|id| id.map(function)).collect();
        let effects = effects
            .into_iter()
            .zip(&program.transitions)
            .map(|(id, transition)| match (id, &transition.action) {
                (Some(id), _) => Effect::Compiled(function(id)),
                (None, Action::Skip | Action::Condition(_) | Action::Else) => Effect::None,
                (None, _) => Effect::Interpreted,
            })
            .collect();
        Ok(Self { scans, effects, _kinds: kinds, _code: Code(ManuallyDrop::new(module)) })
    }

    /// Which of the transitions from `first` on are possible for a process.
    pub fn scan(
        &self,
        first: TransitionId,
        state: &[u8],
        shape: &Shape,
        process: usize,
        timeout: bool,
    ) -> Scanned {
        let Some(function) = self.scans[first.0 as usize] else {
            return Scanned { possible: 0, unknown: u32::MAX };
        };
        assert_eq!(state.len(), shape.bytes, "a state is as long as its shape says");
        let env = Env::new(shape, process, timeout);
        let state = state.as_ptr().cast_mut();
        // SAFETY: the state is of its shape (see the module's comment), the process one of its
        // processes; a scan writes nothing.
        let answer = unsafe { function(&env, state, state.add(shape.processes[process].offset)) };
        Scanned { possible: answer as u32, unknown: (answer >> 32) as u32 }
    }

    /// Does what a possible transition does, without moving the process on. False: the interpreter
    /// must do it, from the start; the state may have changed.
    pub fn effect(
        &self,
        id: TransitionId,
        state: &mut [u8],
        shape: &Shape,
        process: usize,
        timeout: bool,
    ) -> bool {
        let function = match self.effects[id.0 as usize] {
            Effect::None => return true,
            Effect::Interpreted => return false,
            Effect::Compiled(function) => function,
        };
        assert_eq!(state.len(), shape.bytes, "a state is as long as its shape says");
        let env = Env::new(shape, process, timeout);
        let state = state.as_mut_ptr();
        // SAFETY: the state is of its shape (see the module's comment), the process one of its
        // processes.
        unsafe { function(&env, state, state.add(shape.processes[process].offset)) == 0 }
    }
}

fn is_process(kind: BodyKind) -> bool {
    matches!(kind, BodyKind::Proctype | BodyKind::Init)
}

fn is_compiled(action: &Action) -> bool {
    match action {
        Action::Assign(..)
        | Action::AssignAll(_)
        | Action::Assert(_)
        | Action::Print { .. }
        | Action::PrintMtype(..) => true,
        Action::Send { sorted, .. } => !sorted,
        Action::Receive { random, .. } => !random,
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
    fn new(target: Target<'a>) -> Result<Self, Box<ModuleError>> {
        let mut flags = settings::builder();
        for (name, value) in [("opt_level", "speed"), ("enable_verifier", "false")] {
            flags.set(name, value).map_err(|e| Box::new(backend(e)))?;
        }
        let isa = cranelift_native::builder().map_err(|e| Box::new(backend(e)))?;
        let isa =
            isa.finish(settings::Flags::new(flags)).map_err(|e| Box::new(ModuleError::from(e)))?;
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
    fn function(
        &mut self,
        body: impl FnOnce(&mut Emitter<'a, '_>),
    ) -> Result<FuncId, Box<ModuleError>> {
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
    fn scan(&mut self, transitions: std::ops::Range<u32>) -> Result<FuncId, Box<ModuleError>> {
        self.function(|e| {
            let mut answer = e.builder.ins().iconst(types::I64, 0);
            for (bit, id) in transitions.enumerate() {
                let next = e.builder.create_block();
                let result = e.builder.append_block_param(next, types::I64);
                let possible = e.guard(&e.target.program.transitions[id as usize].action);
                let possible = e.builder.ins().uextend(types::I64, possible);
                let possible = e.builder.ins().ishl_imm_u(possible, bit as i64);
                let known = e.builder.ins().bor(answer, possible);
                e.builder.ins().jump(next, &[known.into()]);
                e.builder.switch_to_block(e.slow);
                let unknown = e.builder.ins().bor_imm_u(answer, 1 << (32 + bit));
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
    fn effect(&mut self, action: &Action) -> Result<FuncId, Box<ModuleError>> {
        self.function(|e| {
            e.effect(action);
            let done = e.builder.ins().iconst(types::I64, 0);
            e.builder.ins().return_(&[done]);
            e.end_slow();
        })
    }

    fn finish(mut self) -> Result<JITModule, Box<ModuleError>> {
        self.module.finalize_definitions()?;
        Ok(self.module)
    }
}

fn backend(message: impl std::fmt::Display) -> ModuleError {
    ModuleError::Backend(anyhow::anyhow!("{message}"))
}
