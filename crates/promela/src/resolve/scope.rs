//! Where names are known.
//!
//! SPIN has one table of names. Every brace opens a block, and a name is known from its declaration
//! to the end of its block; but no name may be declared where it already means something, so
//! nothing is ever hidden. Labels live in the same table: a jump or a label makes its name known in
//! the block where it stands.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::Name;
use crate::source::Span;
use crate::symbols::{BodyId, BodyKind, Predefined, Symbol, Symbols, VarId};

/// What a name was declared as.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    /// What it stands for; none if its declaration was wrong, and has been reported.
    pub meaning: Option<Symbol>,
    /// Where; none for what every model has.
    pub span: Option<Span>,
}

/// The variables every model has.
const PREDEFINED: [(&str, Predefined); 5] = [
    ("_", Predefined::Scratch),
    ("_pid", Predefined::Pid),
    ("_nr_pr", Predefined::ProcessCount),
    ("_last", Predefined::Last),
    ("_priority", Predefined::Priority),
];

/// The names known everywhere.
#[derive(Debug)]
pub(super) struct Globals {
    names: FxHashMap<String, Declared>,
}

impl Globals {
    /// Just the predefined ones.
    pub fn new() -> Self {
        let names = PREDEFINED
            .iter()
            .map(|&(name, predefined)| {
                let declared =
                    Declared { meaning: Some(Symbol::Predefined(predefined)), span: None };
                (name.to_owned(), declared)
            })
            .collect();
        Self { names }
    }

    /// All of a whole model.
    pub fn of_model(symbols: &Symbols) -> Self {
        let mut globals = Self::new();
        for &id in &symbols.globals {
            let variable = symbols.variable(id);
            globals.declare(&variable.name, Some(Symbol::Variable(id)), variable.span);
        }
        for (set, id) in symbols.mtypes.iter().zip(0..) {
            for (name, value) in &set.values {
                let meaning = Symbol::Mtype(crate::symbols::MtypeId(id), *value);
                let declared = Declared { meaning: Some(meaning), span: None };
                globals.names.insert(name.clone(), declared);
            }
        }
        for (body, id) in symbols.bodies.iter().zip(0..) {
            if body.kind == BodyKind::Proctype {
                globals.declare(&body.name, Some(Symbol::Body(BodyId(id))), body.span);
            }
        }
        globals
    }

    /// Makes a name known.
    pub fn declare(&mut self, name: &str, meaning: Option<Symbol>, span: Span) {
        let declared = Declared { meaning, span: Some(span) };
        self.names.insert(name.to_owned(), declared);
    }

    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<Declared> {
        self.names.get(name).copied()
    }

    /// All names with their meanings.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Symbol)> {
        self.names.iter().filter_map(|(name, declared)| Some((name.as_str(), declared.meaning?)))
    }
}

/// What a name stands for inside a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Local {
    /// A variable.
    Variable(VarId),
    /// A label, or what a jump says is one.
    Label,
    /// A variable whose declaration was wrong.
    Wrong,
}

/// A block inside a body.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The numbers of the braces around it, without the body's own.
    pub path: Arc<[u32]>,
    /// What is declared in it.
    pub names: FxHashMap<String, (Local, Span)>,
    /// The counter of the loops over channels in it.
    pub for_counter: Option<VarId>,
}

/// Counts braces as SPIN does: each level of nesting has a counter that is never set back, so that
/// the numbers of the open braces name a block of the model.
#[derive(Debug, Default)]
pub(super) struct Braces {
    counters: Vec<u32>,
    open: Vec<u32>,
}

impl Braces {
    /// `{`
    pub fn open(&mut self) {
        let level = self.open.len();
        if self.counters.len() == level {
            self.counters.push(0);
        }
        self.counters[level] += 1;
        self.open.push(self.counters[level]);
    }

    /// `}`
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// Braces that hold no statements.
    pub fn pass(&mut self) {
        self.open();
        self.close();
    }

    /// The numbers of the open braces.
    pub fn path(&self) -> &[u32] {
        &self.open
    }
}

/// Where a label stands.
#[derive(Debug)]
pub(super) struct LabelPlace<'m> {
    /// Its name.
    pub name: &'m Name,
    /// The block its name is known in.
    pub block: Arc<[u32]>,
    /// The outermost `d_step` around it.
    pub d_step: Option<u32>,
    /// The inline it came from.
    pub inline: Option<&'m str>,
}

/// The labels of one name in a body, by their numbers.
#[derive(Debug, Default)]
pub(super) struct SameName<'m> {
    /// The last one.
    pub newest: usize,
    /// The first and the last one in each block.
    pub blocks: FxHashMap<Arc<[u32]>, (usize, usize)>,
    /// The first one in each block that came from each inline.
    pub twins: FxHashMap<(Arc<[u32]>, Option<&'m str>), usize>,
}

/// The body that is being read.
#[derive(Debug)]
pub(super) struct Body<'m> {
    /// Which.
    pub id: BodyId,
    /// Its kind.
    pub kind: BodyKind,
    /// The open blocks, the outermost first.
    pub blocks: Vec<Block>,
    /// Whether no statement was seen yet, so that declarations count as the process's beginning.
    pub beginning: bool,
    /// The outermost `d_step` around, by number.
    pub d_step: Option<u32>,
    /// How many `d_step`s were seen.
    pub d_steps: u32,
    /// How many loops are open inside the `d_step`.
    pub loops_in_d_step: u32,
    /// The innermost inline around.
    pub inline: Option<&'m str>,
    /// Labels, in the order of the text.
    pub labels: Vec<LabelPlace<'m>>,
    /// The labels of each name.
    pub labels_by_name: FxHashMap<&'m str, SameName<'m>>,
    /// Jumps.
    pub jumps: Vec<LabelPlace<'m>>,
}

impl<'m> Body<'m> {
    /// A body of which nothing was read yet.
    pub fn new(id: BodyId, kind: BodyKind) -> Self {
        Self {
            id,
            kind,
            blocks: vec![Block::default()],
            beginning: true,
            d_step: None,
            d_steps: 0,
            loops_in_d_step: 0,
            inline: None,
            labels: Vec::new(),
            labels_by_name: FxHashMap::default(),
            jumps: Vec::new(),
        }
    }

    /// What a name stands for in the open blocks, with the block that knows it.
    pub fn get(&self, name: &str) -> Option<(&Block, Local, Span)> {
        self.blocks.iter().rev().find_map(|block| {
            let &(local, span) = block.names.get(name)?;
            Some((block, local, span))
        })
    }

    /// The innermost block.
    pub fn innermost(&mut self) -> &mut Block {
        self.blocks.last_mut().expect("a body has a block")
    }

    /// Makes a name known in the innermost block.
    pub fn declare(&mut self, name: &str, local: Local, span: Span) {
        self.innermost().names.insert(name.to_owned(), (local, span));
    }

    /// The names of the variables in sight.
    pub fn variables(&self) -> impl Iterator<Item = (&str, VarId)> {
        self.blocks.iter().flat_map(|block| {
            block.names.iter().filter_map(|(name, &(local, _))| match local {
                Local::Variable(id) => Some((name.as_str(), id)),
                Local::Label | Local::Wrong => None,
            })
        })
    }
}
