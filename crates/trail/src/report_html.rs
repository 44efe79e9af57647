//! A run as one page that needs nothing else: chart, steps, source and state, to be read in any browser.
//!
//! The page is complete without its script, which only lets the reader go through the steps. All that comes from
//! the model goes through [`escape`], or through JSON in which no tag can end: names and strings of a model may be
//! anything.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use spinward_machine::{Machine, Step, View};
use spinward_program::Program;
use spinward_program::graph::escape;

use crate::chart::Chart;
use crate::chart_svg;
use crate::listing::line_of;
use crate::replay::{Misfit, replay};
use crate::run::{Keep, Run, StepLine, describe};
use crate::values::{plain_name, variables};
use crate::words::{counted, plural};

const PAGE_STYLE: &str = include_str!("report/page.css");
const SCRIPT: &str = include_str!("report/page.js");

/// To go through the steps.
const BUTTONS: &str = "<nav aria-label=\"Steps\">\n\
    <button id=\"first\" title=\"Start (Home)\" aria-label=\"To the start\">|◀</button>\n\
    <button id=\"back\" title=\"Back (left arrow, k)\" aria-label=\"One step back\">◀</button>\n\
    <input id=\"slider\" type=\"range\" min=\"0\" max=\"0\" value=\"0\" aria-label=\"Step\">\n\
    <button id=\"forward\" title=\"Forward (right arrow, j)\" aria-label=\"One step forward\">▶</button>\n\
    <button id=\"last\" title=\"End (End)\" aria-label=\"To the end\">▶|</button>\n\
    <span class=\"keys\"><kbd>←</kbd> <kbd>→</kbd> <kbd>Home</kbd> <kbd>End</kbd></span>\n\
    <output id=\"now\" aria-live=\"polite\"></output>\n</nav>\n";

/// Where the script shows the state.
const STATE: &str = "<div id=\"state\" tabindex=\"0\" aria-label=\"State\"><h2>State <span id=\"when\"></span></h2>\n\
    <label><input type=\"checkbox\" id=\"all\"> also what never changes</label>\n\
    <table><caption class=\"unseen\">Variables and their values</caption><tbody id=\"values\"></tbody></table>\n\
    <noscript><p>Without scripts the page shows no states.</p></noscript></div>\n";

/// What a page answers, as its colour tells from afar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Something is wrong.
    Wrong,
    /// Nothing is.
    Fine,
    /// Nobody knows: not everything was looked at.
    Unknown,
}

impl Answer {
    /// As the style sheet knows it.
    fn class(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Fine => "fine",
            Self::Unknown => "unknown",
        }
    }
}

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What replays the run.
    pub machine: &'a Machine,
    /// The run; that of an error in the initial state has no steps, and without an error there is none then.
    pub steps: &'a [Step],
    /// Where its cycle starts, if it goes on for ever: so many steps come before.
    pub cycle_start: Option<usize>,
    /// What the page is about: the model.
    pub title: &'a str,
    /// Whether something is wrong.
    pub answer: Answer,
    /// What is wrong, or that nothing is, in lines.
    pub verdict: &'a [String],
    /// What else the reader shall know.
    pub notes: &'a [String],
    /// By step: whether it makes no difference to what goes wrong; may be empty.
    pub dimmed: &'a [bool],
}

impl Report<'_> {
    /// The page. The run is replayed for it.
    pub fn html(&self) -> Result<String, Misfit> {
        let keep = Keep::for_picture(self.steps);
        let mut run = describe(self.machine, self.steps, self.cycle_start, keep)?;
        run.dim(self.dimmed);
        let chart = Chart::of(&run, false);
        let lines = run.first.iter().chain(&run.last);
        let lines: Vec<&StepLine> = lines.filter(|line| line.process.is_some()).collect();
        let program = self.machine.program();
        let mut body = self.header(&run, &chart);
        if self.has_run() {
            let mut states = self.states(&lines)?;
            states["rows"] = rows_for_script(program, &lines, states["rows"].take());
            let data = script_json(&states);
            body.push_str(&steps(&chart, &run, &lines));
            body.push_str(&panes(&sources(program, &lines), STATE));
            let _ = write!(
                body,
                "<script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n"
            );
        } else {
            body.push_str(&panes(&sources(program, &lines), ""));
        }
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <meta name=\"generator\" content=\"Spinward\">\n\
             <title>{}</title>\n<style>\n{}{PAGE_STYLE}</style>\n</head>\n<body>\n{body}\
             </body>\n</html>\n",
            escape(&format!("{} - Spinward", self.title)),
            chart_svg::STYLE,
        ))
    }

    /// Whether there is a run to be shown.
    fn has_run(&self) -> bool {
        !self.steps.is_empty() || self.answer == Answer::Wrong
    }

    fn header(&self, run: &Run, chart: &Chart) -> String {
        let mut out = format!("<header>\n<h1>{}</h1>\n", escape(self.title));
        let _ = write!(out, "<div class=\"verdict {}\">", self.answer.class());
        for line in self.verdict {
            let _ = write!(out, "<p>{}</p>", escape(line));
        }
        out.push_str("</div>\n");
        if self.has_run() {
            self.facts(run, chart, &mut out);
        }
        for note in self.notes {
            let _ = writeln!(out, "<p class=\"facts\">{}</p>", escape(note));
        }
        if self.has_run() {
            out.push_str(BUTTONS);
        }
        out.push_str("</header>\n");
        out
    }

    /// The run in a line.
    fn facts(&self, run: &Run, chart: &Chart, out: &mut String) {
        out.push_str("<p class=\"facts\">");
        let (steps, processes) = (run.length as u64, chart.lanes.len() as u64);
        let _ = write!(out, "{} of {}", counted(steps, "step"), counted(processes, "process"));
        if chart.idle > 0 {
            let seen = if chart.gap.is_some() { " in what is shown" } else { "" };
            let _ = write!(out, "; {} more do nothing{seen} and are not drawn", chart.idle);
        }
        match run.cycle_start {
            Some(start) if start < run.length => {
                let _ = write!(out, "; from step {} on they repeat for ever", start + 1);
            }
            Some(_) => out.push_str("; then nobody can move, for ever"),
            None => {}
        }
        let left_out = run.left_out_steps(false);
        if left_out > 0 {
            let _ = write!(out, "; {left_out} in the middle are not shown");
        }
        if lines_dimmed(run) {
            out.push_str("; steps that cannot have led to the error are pale");
        }
        out.push_str(".</p>\n");
    }

    /// All variables with their values at the start, and what each of the shown steps makes of them.
    fn states(&self, lines: &[&StepLine]) -> Result<Value, Misfit> {
        let program = self.machine.program();
        let mut known = Known::default();
        let start = self.machine.view(&self.machine.start().state);
        known.meet(program, &start);
        let initial: Vec<(usize, String)> = std::mem::take(&mut known.changed);
        let mut shown = lines.iter().map(|line| line.index).peekable();
        let mut rows: Vec<Value> = Vec::with_capacity(lines.len());
        replay(self.machine, self.steps, &mut |event| {
            let end = event.index + event.steps.len();
            let mut here = 0;
            while shown.next_if(|&index| index < end).is_some() {
                here += 1;
            }
            if here == 0 {
                return;
            }
            if let Some(after) = event.after {
                known.meet(program, &self.machine.view(&after.state));
            }
            let changed = std::mem::take(&mut known.changed);
            rows.extend((1..here).map(|_| json!([])));
            rows.push(json!(changed));
        })?;
        Ok(json!({ "keys": known.keys, "start": initial, "rows": rows }))
    }
}

fn lines_dimmed(run: &Run) -> bool {
    run.first.iter().chain(&run.last).any(|line| line.dimmed)
}

/// What is known of the state: variables by their owner and name.
#[derive(Default)]
struct Known {
    numbers: BTreeMap<(String, String), usize>,
    keys: Vec<(String, String)>,
    values: Vec<String>,
    /// The numbers in the order of the last state: most states have the same variables in the same order, and
    /// there may be very many.
    order: Vec<usize>,
    /// What changed since it was last asked; an empty value: it is gone.
    changed: Vec<(usize, String)>,
}

impl Known {
    fn meet(&mut self, program: &Program, view: &View) {
        let owners = view.processes.iter().enumerate().map(|(pid, process)| {
            format!("{}({pid})", plain_name(&program.automaton(process.body).name))
        });
        let owners: Vec<String> = owners.collect();
        let places = owners.iter().zip(&view.processes).map(|(owner, process)| {
            (owner.as_str(), "(line)".to_owned(), line_of(program, process).to_string())
        });
        let values = variables(program, view).into_iter().map(|it| {
            let owner = it.process.and_then(|pid| owners.get(usize::from(pid)));
            (owner.map_or("", String::as_str), it.name, it.value)
        });
        let mut seen = vec![false; self.values.len()];
        for (position, (owner, name, value)) in places.chain(values).enumerate() {
            let number = self.number(position, owner, name);
            if number == seen.len() {
                seen.push(false);
            }
            seen[number] = true;
            if self.values[number] != value {
                self.changed.push((number, value.clone()));
                self.values[number] = value;
            }
        }
        for (number, seen) in seen.iter().enumerate() {
            if !seen && !self.values[number].is_empty() {
                self.values[number].clear();
                self.changed.push((number, String::new()));
            }
        }
    }

    /// The number of a variable, the first ones of a state coming first.
    fn number(&mut self, position: usize, owner: &str, name: String) -> usize {
        let is_it = |&number: &usize| {
            let (its_owner, its_name) = &self.keys[number];
            its_owner == owner && *its_name == name
        };
        let before = self.order.get(position).copied();
        if let Some(number) = before.filter(is_it) {
            return number;
        }
        let key = (owner.to_owned(), name);
        let number = *self.numbers.entry(key.clone()).or_insert(self.keys.len());
        if number == self.keys.len() {
            self.keys.push(key);
            self.values.push(String::new());
        }
        match self.order.get_mut(position) {
            Some(place) => *place = number,
            None => self.order.push(number),
        }
        number
    }
}

/// For each step: its file and line, the words for it, what it changes, and its number.
fn rows_for_script(program: &Program, lines: &[&StepLine], changed: Value) -> Value {
    let Value::Array(changed) = changed else { return json!([]) };
    let files: Vec<_> = program.source.files().map(|(_, file)| &file.path).collect();
    let rows = lines.iter().zip(changed).map(|(line, changed)| {
        let file = files.iter().position(|path| **path == line.file).unwrap_or(0);
        json!([file, line.line, line.who(), line.statement, changed, line.number])
    });
    rows.collect()
}

/// JSON inside of a page: nothing in it looks like a tag.
fn script_json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The chart with the table of steps beside it, row by row.
fn steps(chart: &Chart, run: &Run, lines: &[&StepLine]) -> String {
    let mut out = format!(
        "<main id=\"run\" tabindex=\"0\" aria-label=\"The run, step by step\">\n<div class=\"picture\">\n\
         <div class=\"heads\">{}</div>\n{}</div>\n<table>\n<caption class=\"unseen\">Steps of the run</caption>\n\
         <thead><tr><th scope=\"col\"><span class=\"unseen\">Step and </span>Process</th>\
         <th scope=\"col\">Line</th><th scope=\"col\">Statement</th><th scope=\"col\">What it changes</th></tr></thead>\n<tbody>\n",
        chart_svg::heads(chart),
        chart_svg::inline(chart)
    );
    for (number, line) in lines.iter().enumerate() {
        if let Some((row, left_out)) = chart.gap
            && row == number
        {
            let _ = writeln!(
                out,
                "<tr class=\"gap\"><td colspan=\"4\">… {left_out} more {} …</td></tr>",
                plural(left_out as u64, "step")
            );
        }
        let last = number + 1 == lines.len();
        let classes = [
            (line.dimmed, "dim"),
            (chart.cycle.is_some_and(|start| number >= start), "cycle"),
            (last && !run.violations.is_empty(), "wrong"),
        ];
        let classes: Vec<&str> =
            classes.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
        let cycle = if chart.cycle == Some(number) {
            "<span class=\"unseen\">The steps from here on repeat for ever. </span>"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "<tr id=\"step-{number}\" class=\"{}\"><td><span class=\"unseen\">{cycle}{}: </span>{}</td><td>{}</td>\
             <td><code>{}</code></td><td>{}</td></tr>",
            classes.join(" "),
            line.number,
            escape(&line.who()),
            line.line,
            escape(&line.statement),
            changes(line)
        );
    }
    out.push_str("</tbody>\n</table>\n</main>\n");
    out
}

/// What a step changes, and what it prints.
fn changes(line: &StepLine) -> String {
    let mut parts: Vec<String> = line.changes_in_words().iter().map(|it| escape(it)).collect();
    let printed = line.output.iter().map(|text| format!("prints: {}", escape(text.trim_end())));
    parts.extend(printed);
    parts.join("; ")
}

/// The source and the state, if there is one.
fn panes(source: &str, state: &str) -> String {
    format!("<section id=\"panes\">\n{source}{state}</section>\n")
}

fn sources(program: &Program, lines: &[&StepLine]) -> String {
    let mut out = String::from("<div id=\"source\" tabindex=\"0\" aria-label=\"Source\">\n");
    for (number, (_, file)) in program.source.files().enumerate() {
        // A file that no step stands in says nothing about the run; the model itself comes first.
        if number > 0 && !lines.iter().any(|line| line.file == file.path) {
            continue;
        }
        let name = file.path.display().to_string();
        let _ = write!(
            out,
            "<section class=\"file\" id=\"file-{number}\"><h2>{}</h2>\n<pre>",
            escape(&name)
        );
        for (line, text) in file.text.lines().enumerate() {
            let text = text.replace('\t', "    ");
            // No line ends between them: each is a block.
            let _ = write!(out, "<span id=\"f{number}-{}\">{}</span>", line + 1, escape(&text));
        }
        out.push_str("</pre></section>\n");
    }
    out.push_str("</div>\n");
    out
}
