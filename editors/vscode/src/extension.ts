/** Starts the server for workspaces that hold models, and nothing for the others. */
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  LanguageClientOptions,
  RevealOutputChannelOn,
  StaticFeature,
} from 'vscode-languageclient/node';
import { locateServer } from './locateServer';
import { SELECTOR, isModelFile, workspaceHasModels } from './modelFiles';
import { ReportView } from './report';
import { StatusItem } from './status';

let client: LanguageClient | undefined;
let starting: Promise<void> | undefined;
let crashes: number[] = [];
/** Said once, until somebody asks again: documents are opened and edited all the time. */
let toldOfAbsence = false;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('Neurarch', { log: true });
  const status = new StatusItem(() => client);
  const report = new ReportView(() => client);
  const start = (): Promise<void> => (starting ??= startServer(log, status, report).finally(() => (starting = undefined)));

  context.subscriptions.push(
    log,
    status,
    report,
    vscode.commands.registerCommand('neurarch.showOutput', () => log.show()),
    vscode.commands.registerCommand('neurarch.restart', async () => {
      crashes = [];
      toldOfAbsence = false;
      await stopServer();
      await start();
    }),
    vscode.commands.registerCommand('neurarch.openReport', async () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document) {
        await start();
        await report.open(document.uri.toString());
      }
    }),
    vscode.commands.registerCommand('neurarch.compareWith', async () => {
      const document = vscode.window.activeTextEditor?.document;
      const picked = document && (await vscode.window.showOpenDialog({ canSelectMany: false, filters: { JSON: ['json'] } }));
      if (document && picked?.[0]) {
        await start();
        await report.compare(document.uri.toString(), picked[0].fsPath);
      }
    }),
    vscode.commands.registerCommand('neurarch.compareWithHead', async () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document) {
        await start();
        await report.compare(document.uri.toString(), 'HEAD');
      }
    }),
    vscode.commands.registerCommand('neurarch.showDebugInformation', async () => {
      await start();
      const uri = vscode.window.activeTextEditor?.document.uri.toString();
      const text = await client?.sendRequest<string | null>('workspace/executeCommand', {
        command: 'neurarch.debugInformation',
        arguments: uri ? [uri] : [],
      });
      if (text) {
        const document = await vscode.workspace.openTextDocument({ content: text, language: 'markdown' });
        await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
      }
    }),
    vscode.workspace.onDidOpenTextDocument(document => {
      if (!client && isModelFile(document)) {
        void start();
      }
    }),
    vscode.workspace.onDidChangeTextDocument(event => {
      if (!client && !starting && isModelFile(event.document)) {
        void start();
      }
    }),
    vscode.workspace.onDidChangeConfiguration(event => {
      if (event.affectsConfiguration('neurarch.server.path') || event.affectsConfiguration('neurarch.server.args')) {
        void vscode.commands.executeCommand('neurarch.restart');
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void vscode.commands.executeCommand('neurarch.restart')),
    { dispose: () => void stopServer() },
  );
  if (vscode.workspace.textDocuments.some(isModelFile) || (await workspaceHasModels())) {
    await start();
  }
}

export async function deactivate(): Promise<void> {
  await stopServer();
}

async function startServer(log: vscode.LogOutputChannel, status: StatusItem, report: ReportView): Promise<void> {
  if (client) {
    return;
  }
  const server = await locateServer(log);
  if (!server) {
    const message = 'neurarch-lsp was not found.';
    const advice = 'Install it with "uv tool install neurarch-lsp" or "pipx install neurarch-lsp", or say where it is.';
    status.show(message, vscode.LanguageStatusSeverity.Error, { command: 'neurarch.showOutput', title: 'Help' });
    log.error(`${message} Looked in the setting neurarch.server.path, the Python environment of the workspace, PATH, `
      + `~/.local/bin, and for uvx. ${advice} Then run "Neurarch: Restart Server".`);
    if (!toldOfAbsence) {
      toldOfAbsence = true;
      // Not waited for: the extension is ready, and the message may stay as long as it likes.
      void vscode.window.showWarningMessage(`${message} ${advice}`, 'Open Settings', 'Try Again').then(choice => {
        if (choice === 'Open Settings') {
          void vscode.commands.executeCommand('workbench.action.openSettings', 'neurarch.server.path');
        } else if (choice) {
          void vscode.commands.executeCommand('neurarch.restart');
        }
      });
    }
    return;
  }
  log.info(`server: ${[server.command, ...server.args].join(' ')} (from ${server.origin})`);
  const created = new LanguageClient(
    'neurarch',
    'Neurarch',
    { command: server.command, args: server.args },
    clientOptions(log, status, report),
  );
  created.registerFeature(announceOwnCommands());
  client = created;
  try {
    await created.start();
    status.later();
  } catch (error) {
    client = undefined;
    log.error(`the server did not start: ${error}`);
    status.show('Neurarch: the server did not start', vscode.LanguageStatusSeverity.Error,
      { command: 'neurarch.showOutput', title: 'Output' });
  }
}

async function stopServer(): Promise<void> {
  const running = client;
  client = undefined;
  try {
    await running?.dispose(2000);
  } catch {
    // It had ended already.
  }
}

function clientOptions(log: vscode.LogOutputChannel, status: StatusItem, report: ReportView): LanguageClientOptions {
  return {
    documentSelector: SELECTOR as LanguageClientOptions['documentSelector'],
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: { settings: vscode.workspace.getConfiguration('neurarch') },
    synchronize: { configurationSection: 'neurarch' },
    diagnosticPullOptions: { onChange: true, onTabs: true },
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue }),
      closed: () => {
        const now = Date.now();
        crashes = [...crashes.filter(time => now - time < 180_000), now];
        if (crashes.length < 4) {
          return { action: CloseAction.Restart };
        }
        status.show('Neurarch: the server keeps ending', vscode.LanguageStatusSeverity.Error,
          { command: 'neurarch.showOutput', title: 'Output' });
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    middleware: {
      // The lens on the first line opens the report in a view of its own.
      executeCommand: async (command, args, next) => {
        if (command === 'neurarch.report' && typeof args[0] === 'string') {
          return report.open(args[0]);
        }
        return next(command, args);
      },
    },
  };
}

/** Tells the server that `neurarch.restart` is the extension's own command. */
function announceOwnCommands(): StaticFeature {
  return {
    fillClientCapabilities: capabilities => {
      capabilities.experimental = { ...(capabilities.experimental as object | undefined), restartCommand: true, reportView: true };
    },
    initialize: () => undefined,
    getState: () => ({ kind: 'static' }),
    clear: () => undefined,
  };
}
