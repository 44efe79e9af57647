// Talks to the workbench. Each request shows the token, which came behind the # of the address.

const KEY = "spinward-token";

function token() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    // So that nobody copies the address with the token in it.
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY);
}

const TOKEN = token();

/** Why the workbench did not answer as hoped. `marks` are mistakes of the model. */
export class Refused extends Error {
  constructor(message, marks = []) {
    super(message);
    this.marks = marks;
  }
}

async function send(path, body, signal) {
  let response;
  try {
    response = await fetch(`/api/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(body),
      signal,
    });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Refused("The workbench does not answer. Is `spinward serve` still running?");
  }
  if (response.ok) return response;
  const text = await response.text();
  let answer = { message: text };
  try {
    answer = JSON.parse(text);
  } catch {
    // It was told in plain words.
  }
  if (response.status === 413) answer.message = "The request is too large for the workbench.";
  throw new Refused(answer.message || `The workbench refused (${response.status}).`, answer.marks);
}

/** Asks, and gives the answer. */
export async function ask(path, body = {}, signal = undefined) {
  const response = await send(path, body, signal);
  return response.status === 204 ? null : response.json();
}

/** Asks, and hands each event of the answer to `hear(name, data)`. */
export async function listen(path, body, hear, signal) {
  const response = await send(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const field = (name) => {
        const found = event.split("\n").filter((line) => line.startsWith(`${name}:`));
        return found.map((line) => line.slice(name.length + 1).trimStart()).join("\n");
      };
      if (field("event")) hear(field("event"), JSON.parse(field("data")));
    }
  }
}
