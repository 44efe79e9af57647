//! What the user of an editor can set.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use spinward_promela::Options;
use spinward_promela::preprocess::define;

/// Settings, as `initializationOptions` or under `spinward` in the configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Macros, as `-D` takes them.
    pub defines: Vec<String>,
    /// Macros to forget, as `-U` takes them.
    pub undefines: Vec<String>,
    /// Folders to look for included files in, as `-I` takes them.
    pub include_dirs: Vec<PathBuf>,
    /// Options of checks that are started from the editor.
    pub check_arguments: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            defines: Vec::new(),
            undefines: Vec::new(),
            include_dirs: Vec::new(),
            // Nobody waits longer before a screen; a check without end belongs to a terminal.
            check_arguments: vec!["--time".to_owned(), "60".to_owned()],
        }
    }
}

impl Settings {
    /// Settings that a client sent, none if it sent nothing; or what is wrong with them.
    pub fn read(sent: Option<Value>) -> Result<Option<Self>, String> {
        let mut sent = match sent {
            None | Some(Value::Null) => return Ok(None),
            Some(sent) => sent,
        };
        if let Some(ours) = sent.get_mut("spinward") {
            sent = ours.take();
        }
        let read = serde_json::from_value(sent);
        read.map(Some).map_err(|problem| format!("the settings of spinward are wrong: {problem}"))
    }

    /// With folders that are the same wherever they are looked for: others than whole paths are in the workspace.
    pub fn within(mut self, workspace: &Path) -> Self {
        for folder in &mut self.include_dirs {
            *folder = workspace.join(&*folder);
        }
        self
    }

    /// How models are read.
    pub fn options(&self) -> Options {
        Options {
            defines: self.defines.iter().map(|text| define(text)).collect(),
            undefines: self.undefines.clone(),
            include_dirs: self.include_dirs.clone(),
            ..Options::default()
        }
    }

    /// The options of a check that reads models in the same way.
    pub fn check_options(&self) -> Vec<String> {
        let defines = self.defines.iter().map(|it| format!("-D{it}"));
        let undefines = self.undefines.iter().map(|it| format!("-U{it}"));
        let folders = self.include_dirs.iter().map(|it| format!("-I{}", it.display()));
        let own = self.check_arguments.iter().cloned();
        defines.chain(undefines).chain(folders).chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_wherever_they_stand() {
        let settings = Settings::read(Some(json!({ "defines": ["N=3", "BUG"] })));
        let settings = settings.expect("right").expect("some");
        let expected = [("N", "3"), ("BUG", "1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(settings.options().defines, expected);
        assert_eq!(settings.check_options(), ["-DN=3", "-DBUG", "--time", "60"]);
        let nested = Settings::read(Some(json!({ "spinward": { "defines": ["N=3", "BUG"] } })));
        assert_eq!(nested, Ok(Some(settings)));
        assert_eq!(Settings::read(Some(Value::Null)), Ok(None));
        assert!(Settings::read(Some(json!({ "defines": 3 }))).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn folders_are_those_of_the_workspace() {
        let folders = json!({ "includeDirs": ["lib", "/usr/lib"], "checkArguments": [] });
        let settings = Settings::read(Some(folders)).expect("right").expect("some");
        let settings = settings.within(Path::new("/home/me"));
        assert_eq!(
            settings.options().include_dirs,
            [Path::new("/home/me/lib"), Path::new("/usr/lib")]
        );
        assert_eq!(settings.check_options(), ["-I/home/me/lib", "-I/usr/lib"]);
    }
}
