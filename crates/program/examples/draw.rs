//! Draws the automata of a model: `draw MODEL [svg|dot|json]`.

use std::path::Path;
use std::process::ExitCode;

use spinward_program::graph;
use spinward_promela::{Options, load, render};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(path), form) = (args.next(), args.next()) else {
        eprintln!("usage: draw MODEL [svg|dot|json]");
        return ExitCode::from(2);
    };
    let loaded = load(Path::new(&path), &Options::default());
    let mut diagnostics = loaded.diagnostics.clone();
    let mut program = None;
    if !loaded.has_errors() {
        let (lowered, found) = spinward_program::lower(&loaded);
        diagnostics.extend(found);
        program = lowered;
    }
    eprint!("{}", render::render_all(&loaded.source, &diagnostics, false));
    let Some(program) = program else {
        return ExitCode::FAILURE;
    };
    match form.as_deref() {
        Some("dot") => print!("{}", graph::dot(&program)),
        Some("json") => println!("{:#}", graph::json(&program)),
        _ => print!("{}", graph::svg(&program)),
    }
    ExitCode::SUCCESS
}
