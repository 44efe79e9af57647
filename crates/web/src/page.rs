//! The page: its files are part of the program.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

const INDEX: &str = include_str!("../page/index.html");

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Names, types and contents.
const FILES: [(&str, &str, &str); 12] = [
    ("style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
    ("api.js", SCRIPT, include_str!("../page/api.js")),
    ("automata.js", SCRIPT, include_str!("../page/automata.js")),
    ("check.js", SCRIPT, include_str!("../page/check.js")),
    ("compare.js", SCRIPT, include_str!("../page/compare.js")),
    ("dom.js", SCRIPT, include_str!("../page/dom.js")),
    ("editor.js", SCRIPT, include_str!("../page/editor.js")),
    ("highlight.js", SCRIPT, include_str!("../page/highlight.js")),
    ("main.js", SCRIPT, include_str!("../page/main.js")),
    ("plot.js", SCRIPT, include_str!("../page/plot.js")),
    ("simulate.js", SCRIPT, include_str!("../page/simulate.js")),
];

/// The page itself.
pub async fn index() -> Html<&'static str> {
    Html(INDEX)
}

/// One of its files.
pub async fn file(Path(wanted): Path<String>) -> Response {
    match FILES.iter().find(|(name, ..)| *name == wanted) {
        Some((_, kind, contents)) => ([(header::CONTENT_TYPE, *kind)], *contents).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
