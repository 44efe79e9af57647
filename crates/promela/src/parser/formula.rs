//! Temporal formulas, in the model and on the command line.

use super::errors::Opener;
use super::{Parser, Result, fail};
use crate::ast::{Expr, Ltl, Model, Unit};
use crate::token::{Punct, Token, TokenKind};
use crate::{Diagnostic, SourceMap};

/// A temporal formula that stands alone, about a model that has been parsed. Its names are numbered
/// after those of the model.
pub fn parse_formula(
    tokens: Vec<Token>,
    model: &mut Model,
    source: &mut SourceMap,
) -> std::result::Result<Expr, Diagnostic> {
    alone(tokens, model, source, |p| p.formula()).map_err(|problem| *problem)
}

/// A temporal formula about no model in particular. Whatever name can be that of a process type, in
/// `P[i]:x`, is taken for one.
pub fn parse_formula_alone(
    tokens: Vec<Token>,
    source: &mut SourceMap,
) -> std::result::Result<Expr, Diagnostic> {
    let names = tokens.iter().filter_map(|token| match &token.kind {
        TokenKind::Ident(name) => Some(name.clone()),
        _ => None,
    });
    let names = names.collect();
    let mut parser = Parser::new(tokens, source);
    parser.declared.all_proctypes = names;
    parser.whole(|p| p.formula()).map_err(|problem| *problem)
}

/// An expression that stands alone, about a model that has been parsed. Its names are numbered
/// after those of the model.
pub fn parse_expression(
    tokens: Vec<Token>,
    model: &mut Model,
    source: &mut SourceMap,
) -> std::result::Result<Expr, Diagnostic> {
    alone(tokens, model, source, |p| p.full_expression()).map_err(|problem| *problem)
}

fn alone(
    tokens: Vec<Token>,
    model: &mut Model,
    source: &mut SourceMap,
    parse: fn(&mut Parser<'_>) -> Result<Expr>,
) -> Result<Expr> {
    let mut parser = Parser::new(tokens, source);
    parser.names = std::mem::take(&mut model.names);
    for unit in &model.units {
        if let Unit::Proctype(proctype) = unit {
            let name = &proctype.name.text;
            parser.declared.proctypes.insert(name.clone());
            parser.declared.all_proctypes.insert(name.clone());
        }
    }
    let expr = parser.whole(parse);
    model.names = parser.names;
    expr
}

impl Parser<'_> {
    /// An expression or formula, after which nothing comes.
    fn whole(&mut self, parse: fn(&mut Self) -> Result<Expr>) -> Result<Expr> {
        let expr = parse(self)?;
        if !self.at_end() {
            return fail(self.unexpected("an operator or the end"));
        }
        Ok(expr)
    }

    /// A formula; outside of one its words are ordinary names. The caller says where that is.
    fn formula(&mut self) -> Result<Expr> {
        self.in_formula = true;
        self.full_expression()
    }

    /// `ltl name { formula }`
    pub(super) fn ltl(&mut self) -> Result<Ltl> {
        let start = self.place();
        self.bump();
        let name = if self.at(Punct::LBrace) {
            None
        } else {
            Some(self.name("the name of the property or `{`")?)
        };
        let open = self.expect(Punct::LBrace)?;
        let formula = self.formula()?;
        self.skip_separators();
        if !self.at(Punct::RBrace) {
            if self.at_end() {
                self.report_unclosed(Opener { word: "{", span: open });
            }
            return fail(self.unexpected("an operator or `}`"));
        }
        self.in_formula = false;
        self.bump();
        Ok(Ltl { name, formula, span: self.since(start) })
    }
}
