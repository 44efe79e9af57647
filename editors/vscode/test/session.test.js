// A session with the server by the protocol library that VS Code itself uses: open, edit, hover, rename, format.
// SPINWARD says where the command is, if it is not in the path.

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { test } = require("node:test");
const {
  createProtocolConnection,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentFormattingRequest,
  ExitNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  RenameRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} = require("vscode-languageserver-protocol/node");

const uri = "untitled:model.pml";
const text = "byte x;\nactive proctype P() {\ndo\n:: x<3 -> x++\n:: else -> break\nod\n}\n";

test("an editing session", { timeout: 30_000 }, async (t) => {
  const server = spawn(process.env.SPINWARD ?? "spinward", ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => server.kill());
  const ended = new Promise((resolve) => server.on("close", resolve));
  const client = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const news = [];
  const awaited = [];
  client.onNotification(PublishDiagnosticsNotification.type, (told) => {
    const next = awaited.shift();
    if (next) next(told);
    else news.push(told);
  });
  const diagnostics = () =>
    news.length > 0 ? Promise.resolve(news.shift()) : new Promise((resolve) => awaited.push(resolve));
  client.listen();

  const { capabilities, serverInfo } = await client.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  assert.equal(serverInfo.name, "spinward");
  assert.ok(capabilities.hoverProvider && capabilities.renameProvider);
  await client.sendNotification(InitializedNotification.type, {});

  await client.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "promela", version: 1, text },
  });
  assert.deepEqual((await diagnostics()).diagnostics, []);

  const change = (version, word) =>
    client.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [
        { range: { start: { line: 3, character: 10 }, end: { line: 3, character: 11 } }, text: word },
      ],
    });
  await change(2, "y");
  const wrong = (await diagnostics()).diagnostics;
  assert.equal(wrong.length, 1);
  assert.match(wrong[0].code, /^E\d+$/);
  await change(3, "x");
  assert.deepEqual((await diagnostics()).diagnostics, []);

  const here = { textDocument: { uri }, position: { line: 0, character: 5 } };
  const hover = await client.sendRequest(HoverRequest.type, here);
  assert.match(hover.contents.value, /byte x/);

  const renamed = await client.sendRequest(RenameRequest.type, { ...here, newName: "count" });
  assert.equal(renamed.changes[uri].length, 3);

  const options = { tabSize: 4, insertSpaces: true };
  const edits = await client.sendRequest(DocumentFormattingRequest.type, { textDocument: { uri }, options });
  assert.ok(edits.length > 0);

  await client.sendRequest(ShutdownRequest.type);
  await client.sendNotification(ExitNotification.type);
  assert.equal(await ended, 0);
});
