// Runs inside the extension host where no server is to be found; see absent.mjs.
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');
const { step, until } = require('./steps.cjs');

async function run() {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const uri = vscode.Uri.file(path.join(folder, 'config.json'));
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  const extension = vscode.extensions.getExtension('neurarch.neurarch-lsp');
  await until('activation, which does not wait for the message', () => extension.isActive);
  for (let number = 0; number < 5; number++) {
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(1, 0), '  \n');
    await vscode.workspace.applyEdit(edit);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  step('edited');
  await until('the message', () => fs.existsSync(path.join(folder, 'seen')));
  await vscode.workspace.getConfiguration('neurarch').update('server.path', process.env.SERVER, vscode.ConfigurationTarget.Global);
  await until('diagnostics', () => vscode.languages.getDiagnostics(uri).some(item => item.source === 'neurarch'));
  step('done');
}

module.exports = { run };
