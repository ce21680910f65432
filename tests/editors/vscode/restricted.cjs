// Runs inside the extension host of a window in restricted mode; see restricted.mjs.
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');
const { step, until } = require('./steps.cjs');

async function run() {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const uri = vscode.Uri.file(path.join(folder, 'config.json'));
  const ran = name => fs.existsSync(path.join(folder, name, 'was-run'));
  const found = () => vscode.languages.getDiagnostics(uri).filter(item => item.source === 'neurarch');

  assert.strictEqual(vscode.workspace.isTrusted, false);
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  await until('diagnostics in restricted mode', () => found().length > 0);
  for (const name of ['.venv/bin', 'on-path', 'setting']) assert(!ran(name), `${name} of an untrusted workspace was run`);
  step('restricted', { rules: found().map(item => item.code.value ?? item.code) });

  await until('trust', () => vscode.workspace.isTrusted);
  await until('the server that the trusted workspace names', () => ran('setting'));
  await until('diagnostics in the trusted workspace', () => found().length > 0);
  step('done');
}

module.exports = { run };
