//! Pictures of the automata.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use spinward_machine::Stop;
use spinward_program::graph;

use crate::Shared;
use crate::problem::Problem;
use crate::source::Source;

/// The picture of an automaton.
#[derive(Debug, Serialize)]
pub struct Picture {
    title: String,
    svg: String,
}

/// Draws the automata of a model, in the order by which processes know them.
pub async fn automata(
    State(shared): State<Arc<Shared>>,
    Json(source): Json<Source>,
) -> Result<Json<Vec<Picture>>, Problem> {
    let files = Arc::clone(&shared);
    let work = move |stop: &Arc<Stop>| {
        let model = source.model(&files.files)?;
        let wanted = graph::pictures(&model.program).take_while(|_| !stop.is_told());
        Ok(wanted.map(|graph::Picture { title, svg }| Picture { title, svg }).collect())
    };
    shared.jobs.short(work).await.map(Json)
}
