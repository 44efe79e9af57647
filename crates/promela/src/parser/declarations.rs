//! Declarations of variables and of names for values.

use super::keywords::is_type;
use super::{Parser, Result, fail};
use crate::ast::{Decl, Declarator, Expr, Initializer, MtypeDecl, TypeName, Visibility};
use crate::source::Span;
use crate::token::{Punct, TokenKind};
use crate::{Code, Diagnostic};

impl Parser<'_> {
    /// Whether a declaration of variables begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let word = self.word();
        matches!(word, "hidden" | "show" | "local")
            || is_type(word)
            || self.declared.typedefs.contains(word)
    }

    /// Whether `mtype = {`, `mtype {` or `mtype:set = {` begins here.
    pub(super) fn at_mtype_names(&self) -> bool {
        self.at_word("mtype") && self.mtype_names_follow(1)
    }

    /// Whether the rest of such a declaration stands `ahead`.
    pub(super) fn mtype_names_follow(&self, ahead: usize) -> bool {
        let ahead = if self.nth_is(ahead, Punct::Colon) { ahead + 2 } else { ahead };
        let ahead = ahead + usize::from(self.nth_is(ahead, Punct::Assign));
        self.nth_is(ahead, Punct::LBrace)
    }

    /// `mtype = { a, b }`; the commas are optional.
    pub(super) fn mtype_names(&mut self) -> Result<MtypeDecl> {
        let start = self.place();
        self.bump();
        let set = if self.eat(Punct::Colon) {
            Some(self.name("the name of a set of values")?)
        } else {
            None
        };
        self.eat(Punct::Assign);
        self.expect(Punct::LBrace)?;
        let mut names = vec![self.name("a name for a value")?];
        while !self.at(Punct::RBrace) {
            if !self.eat(Punct::Comma) {
                if self.at(Punct::Assign) {
                    return fail(
                        Diagnostic::new(
                            Code::BadMtypeDeclaration,
                            self.span(),
                            "values of an mtype are not chosen",
                        )
                        .label("no value can be given here")
                        .note("the names of a declaration are numbered from the last, from 1 on"),
                    );
                }
                names.push(self.name("a name for a value, or `}`")?);
            }
        }
        self.bump();
        Ok(MtypeDecl { set, names, span: self.since(start) })
    }

    /// Variables of one type.
    pub(super) fn declaration(&mut self) -> Result<Decl> {
        let start = self.place();
        let visibility = match self.word() {
            "hidden" => Some(Visibility::Hidden),
            "show" => Some(Visibility::Show),
            "local" => Some(Visibility::Local),
            _ => None,
        };
        if visibility.is_some() {
            self.bump();
        }
        let ty = self.type_name()?;
        let mut vars = vec![self.declarator()?];
        while self.eat(Punct::Comma) {
            if is_type(self.word()) {
                return fail(
                    self.unexpected("the name of a variable")
                        .help("declarations of different types are separated by `;`"),
                );
            }
            vars.push(self.declarator()?);
        }
        Ok(Decl { visibility, ty, vars, span: self.since(start) })
    }

    /// A type as written.
    fn type_name(&mut self) -> Result<TypeName> {
        let ty = match self.word() {
            "bit" => TypeName::Bit,
            "bool" => TypeName::Bool,
            "byte" => TypeName::Byte,
            "pid" => TypeName::Pid,
            "short" => TypeName::Short,
            "int" => TypeName::Int,
            "unsigned" => TypeName::Unsigned,
            "chan" => TypeName::Chan,
            "mtype" => {
                self.bump();
                let set = if self.eat(Punct::Colon) {
                    Some(self.name("the name of a set of values")?)
                } else {
                    None
                };
                return Ok(TypeName::Mtype(set));
            }
            word if self.declared.typedefs.contains(word) => {
                return Ok(TypeName::Named(self.any_word_as_name()));
            }
            word if self.nth_is_name(0) => return fail(self.unknown_type(word)),
            _ => return fail(self.unexpected("a type")),
        };
        self.bump();
        Ok(ty)
    }

    /// `a`, `a : 3`, `a[4]`, each with an initial value or without.
    fn declarator(&mut self) -> Result<Declarator> {
        let start = self.place();
        let name = self.name("the name of a variable")?;
        let width = if self.at(Punct::Colon) {
            self.bump();
            Some(self.width()?)
        } else {
            None
        };
        let array = if self.at(Punct::LBracket) {
            self.bump();
            let length = self.in_parens(|p| {
                if p.at(Punct::RBracket) {
                    fail(p.unexpected("the length of the array"))
                } else {
                    p.expression()
                }
            })?;
            self.expect(Punct::RBracket)?;
            if self.at(Punct::LBracket) {
                return fail(
                    Diagnostic::new(Code::TwoDimensions, self.span(), "an array has one dimension")
                        .label("a second one begins here")
                        .help("put an array into a `typedef`, and make an array of that type"),
                );
            }
            Some(length)
        } else {
            None
        };
        let init = if self.eat(Punct::Assign) { Some(self.initializer()?) } else { None };
        Ok(Declarator { name, width, array, init, span: self.since(start) })
    }

    /// The width of an `unsigned`.
    fn width(&mut self) -> Result<(i32, Span)> {
        match self.current().kind {
            TokenKind::Number(bits) => Ok((bits, self.bump().span)),
            _ => fail(self.unexpected("a number of bits")),
        }
    }

    fn initializer(&mut self) -> Result<Initializer> {
        if self.at(Punct::LBrace) {
            self.bump();
            let values = self.in_parens(Self::expressions)?;
            self.expect(Punct::RBrace)?;
            Ok(Initializer::List(values))
        } else if self.at(Punct::LBracket) {
            self.channel()
        } else {
            Ok(Initializer::Expr(self.expression()?))
        }
    }

    /// `[n] of { t, t }`
    fn channel(&mut self) -> Result<Initializer> {
        let start = self.place();
        self.bump();
        let capacity = self.in_parens(Self::expression)?;
        self.expect(Punct::RBracket)?;
        if !self.eat_word("of") {
            return fail(
                self.unexpected("`of`").help("a channel is written `[capacity] of { type, type }`"),
            );
        }
        self.expect(Punct::LBrace)?;
        let mut fields = vec![self.field_type()?];
        while self.at(Punct::Comma) || self.at(Punct::Semi) {
            if self.at(Punct::Semi) {
                let problem = self
                    .unexpected("`,` or `}`")
                    .help("the types of a message's fields are separated by `,`");
                self.report(problem);
            }
            self.bump();
            fields.push(self.field_type()?);
        }
        self.expect(Punct::RBrace)?;
        Ok(Initializer::Channel { capacity, fields, span: self.since(start) })
    }

    /// The type of a field of a message.
    fn field_type(&mut self) -> Result<TypeName> {
        if self.at(Punct::RBrace) {
            return fail(self.unexpected("the type of a field"));
        }
        if self.at_word("unsigned") {
            return fail(
                Diagnostic::new(
                    Code::UnsignedField,
                    self.span(),
                    "`unsigned` cannot be the type of a field of a message",
                )
                .help("use `byte`, `short` or `int`"),
            );
        }
        self.type_name()
    }

    /// One or more expressions with commas between them.
    pub(super) fn expressions(&mut self) -> Result<Vec<Expr>> {
        let mut values = vec![self.expression()?];
        while self.eat(Punct::Comma) {
            values.push(self.expression()?);
        }
        Ok(values)
    }
}
