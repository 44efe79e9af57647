// The words of Promela, one line at a time.

const WORDS = "active assert atomic break c_code c_decl c_expr c_state c_track D_proctype d_step do else empty enabled eval fi for full get_priority goto hidden if in init inline len ltl nempty never nfull notrace np_ od of pc_value priority proctype provided return run select set_priority show skip timeout trace typedef unless xr xs always eventually until weakuntil stronguntil release implies equivalent next print printf printm";
const TYPES = "bit bool byte chan int local mtype pid short unsigned true false";
const KINDS = new Map([
  ...WORDS.split(" ").map((word) => [word, "word"]),
  ...TYPES.split(" ").map((word) => [word, "type"]),
]);
const TOKEN = /(\/\*)|(\/\/.*)|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(\b\d\w*)|([A-Za-z_]\w*)/g;
const COMMENT = /\/\*|\*\/|"(?:[^"\\\n]|\\.)*"?|\/\/.*/g;

/** For each line whether it starts inside of a comment. */
export function comments(lines) {
  const inside = new Array(lines.length);
  let open = false;
  lines.forEach((line, index) => {
    inside[index] = open;
    if (!open && !line.includes("/*")) return;
    if (open && !line.includes("*/")) return;
    for (const [mark] of line.matchAll(COMMENT)) {
      if (open) open = mark !== "*/" && !(mark.includes("*/"));
      else open = mark === "/*";
    }
  });
  return inside;
}

/** The line in parts, `[text, kind]`. */
export function parts(line, inside) {
  const found = [];
  let at = 0;
  const add = (end, kind) => {
    if (end > at) found.push([line.slice(at, end), kind]);
    at = Math.max(at, end);
  };
  if (inside) {
    const end = line.indexOf("*/");
    if (end < 0) return line ? [[line, "comment"]] : [];
    add(end + 2, "comment");
  } else if (/^\s*#/.test(line)) {
    const cut = line.search(/\/[*/]/);
    add(cut < 0 ? line.length : cut, "macro");
  }
  TOKEN.lastIndex = at;
  for (let match = TOKEN.exec(line); match; match = TOKEN.exec(line)) {
    const [text, block, rest, string, number, word] = match;
    add(match.index, null);
    if (block) {
      const end = line.indexOf("*/", match.index + 2);
      add(end < 0 ? line.length : end + 2, "comment");
      TOKEN.lastIndex = at;
    } else {
      const kind = rest ? "comment" : string ? "text" : number ? "number" : KINDS.get(word);
      add(match.index + text.length, kind ?? null);
    }
  }
  add(line.length, null);
  return found;
}
