//! Models of a folder named by `SPINWARD_CORPUS`: each is parsed, printed and parsed again. The
//! models themselves are not part of the project, so without the variable there is nothing to do.

use std::path::{Path, PathBuf};

use spinward_promela::preprocess::{self, Options, preprocess};
use spinward_promela::{Diagnostic, SourceMap, parser, pretty};

/// Models that SPIN rejects too, with the reason.
const REJECTED: [(&str, &str); 1] = [("chan_op.prom", "cannot be part of this expression")];

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            models(&path, found);
        } else if path
            .extension()
            .is_some_and(|e| ["pml", "prom", "pr", "prm"].iter().any(|known| e == *known))
        {
            found.push(path);
        }
    }
}

/// A text's canonical form and the first error in it.
fn printed(path: &Path, text: String) -> (String, Option<Diagnostic>) {
    let mut source = SourceMap::default();
    let file = source.add_file(path.to_owned(), text, None);
    let (tokens, mut diagnostics) = preprocess(&mut source, file, &Options::default());
    let (model, found) = parser::parse(tokens, &mut source);
    diagnostics.extend(found);
    let error = diagnostics.into_iter().find(Diagnostic::is_error);
    (pretty::model(&model), error)
}

#[test]
fn real_models_are_parsed_and_printed() {
    let Some(folder) = std::env::var_os("SPINWARD_CORPUS") else {
        return;
    };
    let mut paths = Vec::new();
    models(Path::new(&folder), &mut paths);
    assert!(!paths.is_empty());
    for path in paths {
        let text = preprocess::read_file(&path).expect("a readable model");
        let (once, error) = printed(&path, text);
        let known = REJECTED.iter().find(|(name, _)| path.ends_with(name));
        match (error, known) {
            (None, None) => {
                let (twice, error) = printed(&path, once.clone());
                assert!(error.is_none(), "{path:?}: {error:?}");
                assert_eq!(once, twice, "{path:?}");
            }
            (Some(error), Some((_, reason))) => assert!(error.message.contains(reason)),
            (error, _) => panic!("{path:?}: {error:?}"),
        }
    }
}
