//! `spinward completions`, `man` and `schema`: what is made from the definitions of the command itself, for shells,
//! for `man`, and for programs that read its output.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_complete::Shell;
use spinward::Report;
use spinward_promela::suggest::nearest;

use crate::Cli;
use crate::terminal::{Failure, print, say};

const COMPLETIONS: &str = "\
Examples:
  spinward completions bash > ~/.local/share/bash-completion/completions/spinward
  spinward completions zsh > ~/.zfunc/_spinward      with ~/.zfunc in $fpath
  spinward completions fish > ~/.config/fish/completions/spinward.fish";

const MAN: &str = "\
Examples:
  spinward man check | man -l -                       the page of a command
  spinward man --out ~/.local/share/man/man1          all pages, for man spinward-check";

const SCHEMA: &str = "\
Examples:
  spinward schema > check-1.json
  spinward check --format json m.pml | check-jsonschema --schemafile check-1.json -";

/// Print what a shell needs to complete commands and options.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Print a manual page, or write all of them to a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = MAN)]
pub struct Man {
    /// The command [default: spinward itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Option<String>,

    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Print the JSON schema of `spinward check --format json`.
///
/// Fields may be added in later versions; those that are there keep their names and meanings as long as `schema` is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = SCHEMA)]
pub struct Schema {}

/// Runs `spinward completions`.
pub fn completions(args: &Completions) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "spinward", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Runs `spinward man`.
pub fn man(args: &Man) -> Result<u8, Failure> {
    let mut root = Cli::command();
    root.build();
    if let Some(folder) = &args.out {
        return write_all(&root, folder);
    }
    let command = match &args.command {
        None => &root,
        Some(name) => {
            let names = || root.get_subcommands().map(clap::Command::get_name);
            root.find_subcommand(name).ok_or_else(|| {
                let meant = nearest(name, names());
                let meant = meant.map_or(String::new(), |it| format!("; did you mean '{it}'?"));
                let all = names().collect::<Vec<_>>().join(", ");
                Failure::usage(format!("there is no command '{name}'{meant} (there are: {all})"))
            })?
        }
    };
    print(&page(command)?)?;
    Ok(0)
}

fn write_all(root: &clap::Command, folder: &Path) -> Result<u8, Failure> {
    let failed = |path: &Path, problem: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot write {}: {problem}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|problem| failed(folder, &problem))?;
    let mut number = 0;
    let mut commands = vec![root];
    while let Some(command) = commands.pop() {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page(command)?).map_err(|problem| failed(&path, &problem))?;
        number += 1;
        commands.extend(command.get_subcommands().filter(|it| it.get_name() != "help"));
    }
    say(&format!("{number} pages are in {}", folder.display()));
    Ok(0)
}

/// The page of a command, as `man` reads it.
fn page(command: &clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone())
        .source(concat!("Spinward ", env!("CARGO_PKG_VERSION")))
        .manual("Spinward");
    page.render(&mut text).map_err(Failure::internal)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Runs `spinward schema`.
pub fn schema(_: &Schema) -> Result<u8, Failure> {
    print(&Report::json_schema())?;
    Ok(0)
}
