// The editor: a plain textarea, which browsers and screen readers know, over a layer with the colours. Only the lines
// in sight are drawn, so that long models cost no more than short ones.

import { byId, make } from "./dom.js";
import { comments, parts } from "./highlight.js";

const LINE = 20;
const SPARE = 4;

export class Editor {
  /** Calls `changed` after each change of the text. */
  constructor(changed) {
    this.area = byId("model");
    this.layer = byId("layer");
    this.numbers = byId("numbers");
    this.marks = new Map();
    this.lit = new Set();
    this.area.addEventListener("input", () => {
      this.split();
      changed();
    });
    this.area.addEventListener("scroll", () => this.paint());
    this.area.addEventListener("keydown", (event) => this.indent(event));
    new ResizeObserver(() => this.paint()).observe(this.area);
    this.split();
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.area.scrollTo(0, 0);
    this.split();
  }

  /** Shows mistakes in their lines. */
  mark(marks) {
    this.marks = new Map();
    let errors = false;
    for (const mark of marks) {
      errors ||= mark.severity === "error";
      if (mark.line == null || mark.file != null) continue;
      this.marks.set(mark.line, [...(this.marks.get(mark.line) ?? []), mark]);
    }
    this.area.setAttribute("aria-invalid", String(errors));
    this.paint();
  }

  /** Lights up the lines where processes are. */
  light(numbers) {
    this.lit = new Set(numbers);
    this.paint();
  }

  /** Puts the cursor somewhere: columns count characters, of which some are two units of a string. */
  go(line, column = 1) {
    const before = this.lines.slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0);
    const inLine = [...(this.lines[line - 1] ?? "")].slice(0, column - 1).join("");
    const at = Math.min(before + inLine.length, this.text.length);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.show(line);
  }

  /** Scrolls so that a line is in sight. */
  show(line) {
    const top = (line - 1) * LINE;
    const { scrollTop, clientHeight } = this.area;
    if (top < scrollTop || top + 2 * LINE > scrollTop + clientHeight) {
      this.area.scrollTop = Math.max(0, top - clientHeight / 3);
    }
    this.paint();
  }

  /** A new line begins below the one before it. */
  indent(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    const { selectionStart, value } = this.area;
    const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
    const space = /^[ \t]*/.exec(value.slice(start, selectionStart))[0];
    if (!space) return;
    event.preventDefault();
    // The only way to insert text that can be undone.
    document.execCommand("insertText", false, `\n${space}`);
  }

  split() {
    this.lines = this.text.split("\n");
    this.inside = comments(this.lines);
    this.paint();
  }

  paint() {
    const { scrollTop, scrollLeft, clientHeight } = this.area;
    const first = Math.max(0, Math.floor(scrollTop / LINE) - SPARE);
    const last = Math.min(this.lines.length, Math.ceil((scrollTop + clientHeight) / LINE) + SPARE);
    const rows = [];
    const numbers = [];
    for (let index = first; index < last; index += 1) {
      const marks = this.marks.get(index + 1) ?? [];
      rows.push(this.row(index, marks));
      const severity = marks.some((mark) => mark.severity === "error") ? "error" : "warning";
      numbers.push(make("div", marks.length ? { class: severity } : {}, String(index + 1)));
    }
    this.layer.replaceChildren(...rows);
    this.numbers.replaceChildren(...numbers);
    const top = first * LINE - scrollTop;
    this.layer.style.transform = `translate(${-scrollLeft}px, ${top}px)`;
    this.numbers.style.transform = `translateY(${top}px)`;
  }

  row(index, marks) {
    const row = make("div", this.lit.has(index + 1) ? { class: "row-lit" } : {});
    // Places are counted in characters, of which some are two units of a string.
    let column = 1;
    for (const [text, kind] of parts(this.lines[index], this.inside[index])) {
      for (const [piece, mark] of cut([...text], column, marks)) {
        const classes = [kind && `t-${kind}`, mark && `m-${mark.severity}`].filter(Boolean);
        row.append(classes.length ? make("span", { class: classes.join(" ") }, piece) : piece);
      }
      column += [...text].length;
    }
    if (!row.hasChildNodes()) row.append(" ");
    return row;
  }
}

/** Pieces of some characters that are marked, or not, as a whole. */
function cut(characters, column, marks) {
  const markAt = (at) => marks.find((mark) => mark.column <= at && at < mark.end_column);
  const pieces = [];
  characters.forEach((character, offset) => {
    const mark = markAt(column + offset);
    const last = pieces.at(-1);
    if (last && last[1] === mark) last[0] += character;
    else pieces.push([character, mark]);
  });
  return pieces;
}
