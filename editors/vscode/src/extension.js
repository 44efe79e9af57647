// Starts the language server of the spinward command and talks with it.

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  const { defines, undefines, includeDirs, checkArguments } = workspace.getConfiguration("spinward");
  return { defines, undefines, includeDirs, checkArguments };
}

async function start() {
  const command = workspace.getConfiguration("spinward").get("path");
  client = new LanguageClient(
    "spinward",
    "Spinward",
    { command, args: ["lsp"] },
    {
      // What other schemes show, such as another version of a file, is no text to work on.
      documentSelector: ["file", "untitled"].map((scheme) => ({ scheme, language: "promela" })),
      initializationOptions: settings(),
      synchronize: { configurationSection: "spinward" },
    },
  );
  try {
    await client.start();
  } catch (problem) {
    window.showErrorMessage(
      `Cannot start ${command}: ${problem.message}. Is it installed? The setting spinward.path says where it is.`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  // A server that did not start has nothing to stop.
  await running?.dispose().catch(() => {});
}

exports.activate = async (context) => {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    commands.registerCommand("spinward.restart", restart),
    workspace.onDidChangeConfiguration((change) =>
      change.affectsConfiguration("spinward.path") ? restart() : undefined,
    ),
  );
  await start();
};

exports.deactivate = stop;
