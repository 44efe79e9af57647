//! Where variables live: offsets of globals, locals, fields of records and of messages.
//!
//! Records and arrays are flattened: a variable has an offset in its block, a field one in its
//! record, and an element follows the one before it without a gap.

use spinward_promela::ast::Visibility;
use spinward_promela::symbols::{Symbols, Type, TypedefId, VarId, Variable};
use spinward_promela::{Code, Diagnostic, Span};

use crate::ir::{Block, MessageField, Place, Scalar, Slot, Space};

/// No block of variables is larger; SPIN's own limit for a whole state is 1 KiB unless raised.
const MAX_BLOCK: u64 = 1 << 20;

/// All blocks together.
const MAX_BLOCKS: u64 = 4 * MAX_BLOCK;

/// Names of all variables and their parts, in bytes.
const MAX_NAME_BYTES: usize = 256 << 20;

/// Where a variable, or some part of it, is.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// In which block.
    pub space: Space,
    /// Where in it.
    pub offset: u32,
}

/// Places of all variables.
pub(super) struct Layout<'a> {
    symbols: &'a Symbols,
    /// By variable; for a field its place in the record.
    offsets: Vec<u32>,
    hidden: Vec<bool>,
    /// By record type.
    record_bytes: Vec<Option<u64>>,
    /// By record type: how many scalars it has.
    record_scalars: Vec<u64>,
    /// Bytes of all blocks so far.
    total: u64,
    /// Bytes of the names of all slots so far.
    name_bytes: usize,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Layout<'a> {
    /// Starts with the fields of all records.
    pub fn new(symbols: &'a Symbols) -> Self {
        let hidden = symbols
            .variables
            .iter()
            .map(|variable| variable.visibility == Some(Visibility::Hidden))
            .collect();
        let mut layout = Self {
            symbols,
            offsets: vec![0; symbols.variables.len()],
            hidden,
            record_bytes: vec![None; symbols.typedefs.len()],
            record_scalars: vec![0; symbols.typedefs.len()],
            total: 0,
            name_bytes: 0,
            diagnostics: Vec::new(),
        };
        for i in 0..symbols.typedefs.len() {
            layout.record(TypedefId(i as u32));
        }
        layout
    }

    fn record(&mut self, id: TypedefId) -> u64 {
        if let Some(bytes) = self.record_bytes[id.0 as usize] {
            return bytes;
        }
        // Seen again before it is done, a record would hold itself; it then counts as empty.
        self.record_bytes[id.0 as usize] = Some(0);
        let mut bytes: u64 = 0;
        let mut scalars: u64 = 0;
        for &field in &self.symbols.typedef(id).fields {
            self.offsets[field.0 as usize] = u32::try_from(bytes).unwrap_or(u32::MAX);
            bytes = bytes.saturating_add(self.bytes(field));
            let elements = u64::from(self.symbols.variable(field).array.unwrap_or(1));
            scalars = scalars.saturating_add(elements.saturating_mul(self.scalars(field)));
        }
        self.record_bytes[id.0 as usize] = Some(bytes);
        self.record_scalars[id.0 as usize] = scalars;
        bytes
    }

    /// Bytes of a whole variable.
    fn bytes(&mut self, id: VarId) -> u64 {
        let variable = self.symbols.variable(id);
        let one = match variable.ty {
            Type::Struct(record) => self.record(record),
            _ => u64::from(self.scalar(id).bytes()),
        };
        one.saturating_mul(u64::from(variable.array.unwrap_or(1)))
    }

    /// How many scalars a variable, or an element of an array, has.
    pub fn scalars(&self, id: VarId) -> u64 {
        self.scalars_of(self.symbols.variable(id).ty)
    }

    /// How many scalars a value of a type has.
    pub fn scalars_of(&self, ty: Type) -> u64 {
        match ty {
            Type::Struct(record) => self.record_scalars[record.0 as usize],
            _ => 1,
        }
    }

    /// How a scalar variable, or an element of an array, is stored. SPIN keeps 8 bits of an
    /// element of a bit array and of a hidden variable of few bits.
    pub fn scalar(&self, id: VarId) -> Scalar {
        let variable = self.symbols.variable(id);
        let whole_byte = self.hidden[id.0 as usize];
        match variable.ty {
            Type::Bit | Type::Bool if variable.array.is_some() || whole_byte => Scalar::U8,
            Type::Unsigned(_) if whole_byte => Scalar::U8,
            ty => scalar(ty),
        }
    }

    /// Bytes from one element of an array to the next.
    pub fn stride(&self, id: VarId) -> u32 {
        match self.symbols.variable(id).ty {
            Type::Struct(record) => {
                let bytes = self.record_bytes[record.0 as usize].unwrap_or(0);
                u32::try_from(bytes).unwrap_or(u32::MAX)
            }
            _ => self.scalar(id).bytes(),
        }
    }

    /// Where a variable starts; for a field, where in its record.
    pub fn offset(&self, id: VarId) -> u32 {
        self.offsets[id.0 as usize]
    }

    /// The block a global is in.
    pub fn is_hidden(&self, id: VarId) -> bool {
        self.hidden[id.0 as usize]
    }

    /// Lays out variables one after the other.
    pub fn block(&mut self, variables: impl Iterator<Item = VarId>, span: Option<Span>) -> Block {
        let variables: Vec<_> = variables.collect();
        let mut bytes: u64 = 0;
        for &id in &variables {
            self.offsets[id.0 as usize] = u32::try_from(bytes).unwrap_or(u32::MAX);
            bytes = bytes.saturating_add(self.bytes(id));
            if self.total > MAX_BLOCKS {
                // It was told.
                return Block::default();
            }
            let total = self.total.saturating_add(bytes);
            let (needed, note) = if bytes > MAX_BLOCK {
                let whose = "the variables of one process, and the global ones,";
                (bytes, format!("{whose} may take {MAX_BLOCK} bytes"))
            } else if total > MAX_BLOCKS {
                self.total = total;
                (total, format!("the variables of all process types may take {MAX_BLOCKS} bytes"))
            } else {
                continue;
            };
            let at = self.symbols.variable(id).span;
            let diagnostic =
                Diagnostic::new(Code::ModelTooLarge, at, "the variables are too large")
                    .label(format!("up to here they need {needed} bytes"))
                    .note(note);
            self.diagnostics.push(match span {
                Some(span) => diagnostic.related(span, "in this process"),
                None => diagnostic,
            });
            return Block::default();
        }
        self.total += bytes;
        let mut slots = Vec::new();
        for &id in &variables {
            let variable = self.symbols.variable(id);
            self.slots(id, variable, &variable.name, self.offset(id), &mut slots);
            if self.name_bytes > MAX_NAME_BYTES {
                let message = "the names of the variables are too long";
                let label = "each element of an array and each field has a name";
                self.diagnostics.push(
                    Diagnostic::new(Code::ModelTooLarge, variable.span, message).label(label),
                );
                return Block::default();
            }
        }
        Block { bytes: bytes as u32, slots }
    }

    /// The scalars of `part` (a variable or field), named and placed, for the variable `whole`.
    fn slots(
        &mut self,
        part: VarId,
        whole: &Variable,
        name: &str,
        offset: u32,
        out: &mut Vec<Slot>,
    ) {
        let variable = self.symbols.variable(part);
        let stride = self.stride(part);
        for i in 0..variable.array.unwrap_or(1) {
            self.name_bytes += name.len();
            if self.name_bytes > MAX_NAME_BYTES {
                return;
            }
            let name = match variable.array {
                Some(_) => format!("{name}[{i}]"),
                None => name.to_owned(),
            };
            let offset = offset + i * stride;
            match variable.ty {
                Type::Struct(record) => {
                    for &field in &self.symbols.typedef(record).fields {
                        let name = format!("{name}.{}", self.symbols.variable(field).name);
                        self.slots(field, whole, &name, offset + self.offset(field), out);
                    }
                }
                ty => out.push(Slot {
                    name,
                    offset,
                    scalar: self.scalar(part),
                    ty,
                    span: whole.span,
                    synthetic: whole.synthetic,
                }),
            }
        }
    }

    /// The scalars of one element of a variable or field, as SPIN expands a record in a message.
    pub fn expand(&self, id: VarId, at: &Place, out: &mut Vec<(Place, Type)>) {
        match self.symbols.variable(id).ty {
            Type::Struct(record) => {
                for &field in &self.symbols.typedef(record).fields {
                    let count = self.symbols.variable(field).array.unwrap_or(1);
                    for i in 0..count {
                        let mut place = at.clone();
                        place.offset += self.offset(field) + i * self.stride(field);
                        self.expand(field, &place, out);
                    }
                }
            }
            ty => out.push((Place { scalar: self.scalar(id), ..at.clone() }, ty)),
        }
    }

    /// The scalars of a message. A lone bit keeps 8 of them.
    pub fn message(&self, types: &[Type]) -> Vec<MessageField> {
        let mut scalars = Vec::new();
        for &ty in types {
            self.message_types(ty, &mut scalars);
        }
        let lone = scalars.len() == 1;
        let mut offset = 0;
        scalars
            .into_iter()
            .map(|ty| {
                let scalar = match ty {
                    Type::Bit | Type::Bool if lone => Scalar::U8,
                    ty => scalar(ty),
                };
                let field = MessageField { scalar, offset, ty };
                offset += scalar.bytes();
                field
            })
            .collect()
    }

    fn message_types(&self, ty: Type, out: &mut Vec<Type>) {
        // What is too large for a channel is reported there; it need not be listed.
        if out.len() > MAX_BLOCK as usize {
            return;
        }
        match ty {
            Type::Struct(record) => {
                for &field in &self.symbols.typedef(record).fields {
                    let variable = self.symbols.variable(field);
                    for _ in 0..variable.array.unwrap_or(1).min(MAX_BLOCK as u32) {
                        self.message_types(variable.ty, out);
                    }
                }
            }
            ty => out.push(ty),
        }
    }

    /// Whether a channel of so many messages fits into a state.
    pub fn check_channel(&mut self, capacity: u32, message_bytes: u32, span: Span) {
        if capacity > u32::from(u16::MAX) {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::ModelTooLarge,
                    span,
                    "a channel for more than 65535 messages",
                )
                .label(format!("room for {capacity} messages")),
            );
        } else if u64::from(capacity) * u64::from(message_bytes) > MAX_BLOCK {
            self.diagnostics.push(
                Diagnostic::new(Code::ModelTooLarge, span, "the channel is too large")
                    .label(format!("{capacity} messages of {message_bytes} bytes")),
            );
        }
    }
}

/// How a lone variable of a type is stored.
fn scalar(ty: Type) -> Scalar {
    match ty {
        Type::Bit | Type::Bool => Scalar::Bit,
        Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => Scalar::U8,
        Type::Short => Scalar::I16,
        Type::Int => Scalar::I32,
        Type::Unsigned(width) => Scalar::Unsigned(width),
        // Never asked for: a record is taken apart first.
        Type::Struct(_) => Scalar::U8,
    }
}
