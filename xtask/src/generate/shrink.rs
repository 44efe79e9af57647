//! Takes parts away from a model: all models that are one step smaller.

use super::ast::{Expr, Model, Piece, Stmt, Unit};

/// All models with one part less, large parts first.
///
/// Many of them are not well formed, as when a variable is gone that is still used: whoever asks has
/// to find out.
pub fn smaller(model: &Model) -> Vec<Model> {
    let with = |units: Vec<Unit>| Model { units, ..model.clone() };
    let mut models = Vec::new();
    for at in 0..model.units.len() {
        let mut units = model.units.clone();
        units.remove(at);
        models.push(with(units));
    }
    for (at, unit) in model.units.iter().enumerate() {
        let Unit::Body { header, body } = unit else {
            continue;
        };
        for body in sequences(body) {
            let mut units = model.units.clone();
            units[at] = Unit::Body { header: header.clone(), body };
            models.push(with(units));
        }
    }
    models
}

/// All sequences with one part less.
fn sequences(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    if body.len() > 1 {
        for at in 0..body.len() {
            let mut less = body.to_vec();
            less.remove(at);
            all.push(less);
        }
    }
    for (at, stmt) in body.iter().enumerate() {
        for replacement in replacements(stmt) {
            let mut less = body.to_vec();
            less.splice(at..=at, replacement);
            all.push(less);
        }
    }
    all
}

/// Statements that can stand for one, each with less in it.
fn replacements(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    match stmt {
        Stmt::Leaf(pieces) => {
            all.extend(leaves(pieces).into_iter().map(|pieces| vec![Stmt::Leaf(pieces)]))
        }
        Stmt::Goto(_) => {}
        Stmt::Label(label, inner) => {
            all.push(vec![(**inner).clone()]);
            for mut replacement in replacements(inner) {
                if let Some(first) = replacement.first_mut() {
                    *first = Stmt::Label(label.clone(), Box::new(first.clone()));
                }
                all.push(replacement);
            }
        }
        Stmt::Choice { repeat, options } => {
            all.extend(options.iter().cloned());
            let with = |options| vec![Stmt::Choice { repeat: *repeat, options }];
            for (at, option) in options.iter().enumerate() {
                if options.len() > 1 {
                    let mut less = options.clone();
                    less.remove(at);
                    all.push(with(less));
                }
                for option in sequences(option) {
                    let mut less = options.clone();
                    less[at] = option;
                    all.push(with(less));
                }
            }
        }
        Stmt::Block { head, body } => {
            all.push(body.clone());
            let with = |head: &[Piece], body| vec![Stmt::Block { head: head.to_vec(), body }];
            all.extend(sequences(body).into_iter().map(|body| with(head, body)));
            all.extend(leaves(head).iter().map(|head| with(head, body.clone())));
        }
        Stmt::Unless { body, escape } => {
            all.push(body.clone());
            all.push(escape.clone());
            for body in sequences(body) {
                let escape = escape.clone();
                all.push(vec![Stmt::Unless { body, escape }]);
            }
            for escape in sequences(escape) {
                let body = body.clone();
                all.push(vec![Stmt::Unless { body, escape }]);
            }
        }
    }
    all
}

/// Simple statements with a smaller expression.
fn leaves(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut all = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Expr(expr) = piece else { continue };
        for expr in expressions(expr) {
            let mut less = pieces.to_vec();
            less[at] = Piece::Expr(expr);
            all.push(less);
        }
    }
    all
}

/// Expressions that are smaller: operands, numbers, and the same with a smaller operand.
fn expressions(expr: &Expr) -> Vec<Expr> {
    let mut all = Vec::new();
    match expr {
        Expr::Atom(text) => {
            if text.parse::<i64>().is_err() {
                all.extend(["0", "1"].map(Expr::atom));
            }
        }
        Expr::Unary(operator, operand) => {
            all.push((**operand).clone());
            let operands = expressions(operand);
            all.extend(
                operands.into_iter().map(|operand| Expr::Unary(operator, Box::new(operand))),
            );
        }
        Expr::Binary(operator, left, right) => {
            // A divisor or a count of a shift stays: it was made to be safe.
            let fixed = matches!(*operator, "/" | "%" | "<<" | ">>");
            all.push((**left).clone());
            all.push((**right).clone());
            for left in expressions(left) {
                all.push(Expr::binary(left, operator, (**right).clone()));
            }
            if !fixed {
                for right in expressions(right) {
                    all.push(Expr::binary((**left).clone(), operator, right));
                }
            }
        }
        Expr::Either(parts) => {
            all.extend(parts.iter().cloned());
            for at in 0..parts.len() {
                for part in expressions(&parts[at]) {
                    let mut less = parts.clone();
                    less[at] = part;
                    all.push(Expr::Either(less));
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(model: &Model) -> usize {
        model.to_string().len()
    }

    #[test]
    fn parts_are_taken_away_until_nothing_is_left() {
        let mut model = super::super::model(3);
        let mut steps = 0;
        while let Some(less) = smaller(&model).into_iter().find(|less| size(less) < size(&model)) {
            model = less;
            steps += 1;
            assert!(steps < 1000);
        }
        assert!(model.units.is_empty());
    }

    #[test]
    fn a_sum_shrinks_to_its_operands() {
        let sum = Expr::binary(Expr::atom("x"), "+", Expr::atom("2"));
        let texts: Vec<String> = expressions(&sum).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["x", "2", "(0 + 2)", "(1 + 2)"]);
    }
}
