//! Files as the protocol names them: `file:///home/me/a%20model.pml`. On Windows a path begins behind
//! the third slash, with its drive.

use std::path::{Path, PathBuf};

use lsp_types::Uri;
use spinward_promela::preprocess::identity;

const SCHEME: &str = "file://";

/// The file that a URI names, by [`identity`]; for what is no file, a path that is none either.
pub fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_ref();
    let Some(path) = text.strip_prefix(SCHEME) else {
        return PathBuf::from(text);
    };
    // The name of a computer may stand before the path.
    let path = &path[path.find('/').unwrap_or(0)..];
    let path = decoded(path);
    let path = if cfg!(windows) { path.trim_start_matches('/').to_owned() } else { path };
    identity(Path::new(&path))
}

/// The URI of a file; none for a path that does not say where it is.
pub fn uri_of(path: &Path) -> Option<Uri> {
    let text = path.to_str().filter(|_| path.is_absolute())?;
    let text =
        if cfg!(windows) { format!("/{}", text.replace('\\', "/")) } else { text.to_owned() };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte);
    let mut uri = SCHEME.to_owned();
    for byte in text.bytes() {
        if plain(byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    Some(Uri(uri))
}

/// A text with `%20` and the like replaced by what they stand for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.filter(|_| *first == b'%').and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn files_have_names_in_both_worlds() {
        let both = [
            ("/no/such/a.pml", "file:///no/such/a.pml"),
            ("/no/a model é%.pml", "file:///no/a%20model%20%C3%A9%25.pml"),
        ];
        for (path, uri) in both {
            assert_eq!(uri_of(Path::new(path)), Some(Uri(uri.to_owned())));
            assert_eq!(path_of(&Uri(uri.to_owned())), Path::new(path));
        }
        assert_eq!(path_of(&Uri("file://here/no/a.pml".to_owned())), Path::new("/no/a.pml"));
        assert_eq!(path_of(&Uri("file:///no/%zz%4".to_owned())), Path::new("/no/%zz%4"));
        assert_eq!(path_of(&Uri("untitled:1".to_owned())), Path::new("untitled:1"));
        assert_eq!(uri_of(Path::new("<command line>")), None);
    }
}
