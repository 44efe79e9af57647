//! Macros and their definitions.

use std::cell::Cell;
use std::rc::Rc;

use crate::source::Span;
use crate::token::Punct;
use crate::{Code, Diagnostic};

use super::text::{Interner, RawKind, RawToken, Symbol};

/// Parameters of one macro.
const MAX_PARAMS: usize = 255;

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: Symbol,
    /// Its name in the definition; none for a predefined macro.
    pub(super) defined_at: Option<Span>,
    pub(super) body: Body,
    /// Its expansion is being read, so its name means itself.
    pub(super) busy: Cell<bool>,
}

#[derive(Debug)]
pub(super) enum Body {
    /// `#define N body`
    Object(Vec<BodyToken>),
    /// `#define F(x) body`
    Function {
        params: Vec<Symbol>,
        /// The last parameter takes all the arguments that are left.
        variadic: bool,
        body: Vec<BodyToken>,
    },
    Builtin(Builtin),
}

/// Macros every model has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Builtin {
    Line,
    File,
    BaseFile,
    IncludeLevel,
    Counter,
    Number(&'static str),
}

/// The predefined macros. GCC also has `linux` and `unix`, a trap for models that use the names.
const BUILTINS: &[(&str, Builtin)] = &[
    ("__LINE__", Builtin::Line),
    ("__FILE__", Builtin::File),
    ("__BASE_FILE__", Builtin::BaseFile),
    ("__INCLUDE_LEVEL__", Builtin::IncludeLevel),
    ("__COUNTER__", Builtin::Counter),
    ("__STDC__", Builtin::Number("1")),
    ("__STDC_HOSTED__", Builtin::Number("1")),
    ("__STDC_VERSION__", Builtin::Number("199901L")),
    ("__GNUC__", Builtin::Number("12")),
    ("__GNUC_MINOR__", Builtin::Number("2")),
    ("__GNUC_PATCHLEVEL__", Builtin::Number("0")),
];

/// A token of a macro's body, the operators `#` and `##` folded into the tokens they apply to.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyToken {
    pub(super) token: RawToken,
    /// It is this parameter of the macro.
    pub(super) param: Option<usize>,
    /// It becomes a string: `# param`.
    pub(super) stringify: bool,
    /// It is joined with the next one: `token ## next`.
    pub(super) paste_next: bool,
}

impl BodyToken {
    fn is_same(&self, other: &Self) -> bool {
        self.token.kind == other.token.kind
            && self.token.space_before == other.token.space_before
            && self.stringify == other.stringify
            && self.paste_next == other.paste_next
    }
}

impl Macro {
    /// Whether another definition says the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        fn same(a: &[BodyToken], b: &[BodyToken]) -> bool {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
        }
        match (&self.body, &other.body) {
            (Body::Object(a), Body::Object(b)) => same(a, b),
            (
                Body::Function { params: a_params, variadic: a_variadic, body: a },
                Body::Function { params: b_params, variadic: b_variadic, body: b },
            ) => a_params == b_params && a_variadic == b_variadic && same(a, b),
            _ => false,
        }
    }

    /// Reads the tokens after `#define`; `line` is the span of the directive.
    pub(super) fn parse(
        tokens: &[RawToken],
        line: Span,
        interner: &mut Interner,
    ) -> Result<Self, Diagnostic> {
        let (name_token, mut rest) = tokens.split_first().ok_or_else(|| {
            Diagnostic::new(Code::BadMacroDefinition, line, "`#define` without a name")
        })?;
        let name = macro_name(name_token, interner)?;
        let mut signature = None;
        if let Some(paren) = rest.first()
            && paren.kind.is(Punct::LParen)
            && !paren.space_before
        {
            let mut reader = Parameters { tokens: &rest[1..], last: paren.span, interner };
            signature = Some(reader.parse()?);
            rest = reader.tokens;
        }
        let params = signature.as_ref().map(|(params, _)| params.as_slice());
        let tokens = parse_body(rest, params, interner)?;
        let body = match signature {
            None => Body::Object(tokens),
            Some((params, variadic)) => Body::Function { params, variadic, body: tokens },
        };
        Ok(Self { name, defined_at: Some(name_token.span), body, busy: Cell::new(false) })
    }
}

/// The name of a macro in a directive.
pub(super) fn macro_name(token: &RawToken, interner: &Interner) -> Result<Symbol, Diagnostic> {
    let RawKind::Ident(name) = token.kind else {
        let message = format!("`{}` cannot be the name of a macro", token.kind.text(interner));
        return Err(
            Diagnostic::new(Code::BadMacroDefinition, token.span, message).label("not a name")
        );
    };
    if interner.text(name) == "defined" {
        let message = "`defined` cannot be the name of a macro";
        return Err(Diagnostic::new(Code::BadMacroDefinition, token.span, message)
            .label("an operator of `#if`"));
    }
    Ok(name)
}

/// Reads the parameters of a macro, after the opening parenthesis.
struct Parameters<'t, 'i> {
    tokens: &'t [RawToken],
    last: Span,
    interner: &'i mut Interner,
}

impl Parameters<'_, '_> {
    fn next(&mut self) -> Option<RawToken> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        self.last = first.span;
        Some(*first)
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.tokens.first().is_some_and(|t| t.kind.is(punct));
        if found {
            self.next();
        }
        found
    }

    /// The parameters, and whether the last one takes all arguments that are left.
    fn parse(&mut self) -> Result<(Vec<Symbol>, bool), Diagnostic> {
        let mut params = Vec::new();
        if self.eat(Punct::RParen) {
            return Ok((params, false));
        }
        loop {
            let token = self.next();
            let (name, variadic) = match token.map(|token| token.kind) {
                Some(RawKind::Ident(name)) => (name, self.eat(Punct::DotDot)),
                Some(RawKind::Punct(Punct::DotDot)) => (self.interner.intern("__VA_ARGS__"), true),
                _ => return Err(self.expected("the name of a parameter")),
            };
            // Three dots are lexed as two and one.
            if variadic && !self.eat(Punct::Dot) {
                return Err(self.expected("`...`"));
            }
            if params.contains(&name) {
                let message =
                    format!("two parameters of the macro are named `{}`", self.interner.text(name));
                return Err(Diagnostic::new(Code::BadMacroDefinition, self.last, message));
            }
            if params.len() == MAX_PARAMS {
                let message = format!("the macro has more than {MAX_PARAMS} parameters");
                return Err(Diagnostic::new(Code::BadMacroDefinition, self.last, message));
            }
            params.push(name);
            if self.eat(Punct::RParen) {
                return Ok((params, variadic));
            }
            if variadic || !self.eat(Punct::Comma) {
                return Err(self.expected(if variadic { "`)`" } else { "`,` or `)`" }));
            }
        }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what} in the parameters of a macro");
        let span = self.tokens.first().map_or(self.last, |token| token.span);
        Diagnostic::new(Code::BadMacroDefinition, span, message)
    }
}

/// The body of a macro; `params` is none for a macro without a parameter list.
fn parse_body(
    tokens: &[RawToken],
    params: Option<&[Symbol]>,
    interner: &Interner,
) -> Result<Vec<BodyToken>, Diagnostic> {
    let mut body: Vec<BodyToken> = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.iter();
    while let Some(&token) = tokens.next() {
        let position = |token: RawToken| match token.kind {
            RawKind::Ident(name) => params?.iter().position(|&param| param == name),
            _ => None,
        };
        let mut item = BodyToken {
            token: RawToken {
                after_newline: false,
                space_before: token.space_before && !body.is_empty(),
                ..token
            },
            param: position(token),
            stringify: false,
            paste_next: false,
        };
        match token.kind {
            RawKind::HashHash => {
                let Some(left) = body.last_mut().filter(|_| tokens.len() > 0) else {
                    let message = "`##` stands at an end of the macro";
                    return Err(Diagnostic::new(Code::BadMacroDefinition, token.span, message)
                        .label("joins the word before it and the word after it"));
                };
                left.paste_next = true;
                continue;
            }
            RawKind::Hash if params.is_some() => {
                let operand = tokens.next().copied();
                item.param = operand.and_then(position);
                let (Some(operand), Some(_)) = (operand, item.param) else {
                    let name = operand.map_or("", |operand| operand.kind.text(interner));
                    return Err(Diagnostic::new(
                        Code::BadMacroDefinition,
                        token.span,
                        "`#` is not followed by a parameter of the macro",
                    )
                    .label("makes a string of the argument for a parameter")
                    .note(format!("`{name}` is not a parameter")));
                };
                item.token.kind = operand.kind;
                item.token.span = token.span.to(operand.span);
                item.stringify = true;
            }
            _ => {}
        }
        body.push(item);
    }
    Ok(body)
}

/// All macros by name.
pub(super) struct MacroTable {
    macros: Vec<Option<Rc<Macro>>>,
}

impl MacroTable {
    /// The predefined macros.
    pub(super) fn new(interner: &mut Interner) -> Self {
        let mut table = Self { macros: Vec::new() };
        for &(name, builtin) in BUILTINS {
            table.define(Macro {
                name: interner.intern(name),
                defined_at: None,
                body: Body::Builtin(builtin),
                busy: Cell::new(false),
            });
        }
        table
    }

    pub(super) fn get(&self, name: Symbol) -> Option<&Rc<Macro>> {
        self.macros.get(name.index())?.as_ref()
    }

    pub(super) fn is_defined(&self, name: Symbol) -> bool {
        self.get(name).is_some()
    }

    /// Returns the macro that had the name before.
    pub(super) fn define(&mut self, definition: Macro) -> Option<Rc<Macro>> {
        let index = definition.name.index();
        if index >= self.macros.len() {
            self.macros.resize(index + 1, None);
        }
        self.macros[index].replace(Rc::new(definition))
    }

    pub(super) fn undefine(&mut self, name: Symbol) {
        if let Some(slot) = self.macros.get_mut(name.index()) {
            *slot = None;
        }
    }
}
