// Runs inside the extension host.
const assert = require('assert');
const path = require('path');
const vscode = require('vscode');

const { step, until } = require('./steps.cjs');

async function run() {
  const extension = vscode.extensions.getExtension('neurarch.neurarch-lsp');
  assert(extension, 'the extension is not there');
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const uri = vscode.Uri.file(path.join(folder, 'config.json'));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  const own = () => vscode.languages.getDiagnostics(uri).filter(item => item.source === 'neurarch');
  const wrong = () => own().find(item => item.code === 'kv-heads-indivisible' || item.code?.value === 'kv-heads-indivisible');
  const found = await until('diagnostics', wrong);
  assert.strictEqual(document.getText(found.range), '5');
  assert(found.code.target, 'the rule page is linked');
  step('diagnostics', { rules: own().map(item => item.code.value ?? item.code) });

  const line = document.lineAt(found.range.start.line).text;
  const key = new vscode.Position(found.range.start.line, line.indexOf('num_key_value_heads') + 3);
  const hovers = await vscode.commands.executeCommand('vscode.executeHoverProvider', uri, key);
  const text = hovers.flatMap(hover => hover.contents.map(content => content.value ?? content)).join('\n');
  assert(/num.{0,2}_key.{0,2}_value.{0,2}_heads/.test(text), text);
  step('hover');

  const lenses = await until('lens', async () => {
    const list = await vscode.commands.executeCommand('vscode.executeCodeLensProvider', uri, 10);
    return list?.find(lens => lens.command?.command === 'neurarch.report');
  });
  step('lens', { title: lenses.command.title });

  const all = new vscode.Range(0, 0, document.lineCount, 0);
  const hints = await vscode.commands.executeCommand('vscode.executeInlayHintProvider', uri, all);
  assert(hints.some(hint => String(hint.label).includes('head_dim 128')), JSON.stringify(hints.map(hint => hint.label)));
  assert(hints.some(hint => String(hint.label).includes('32k tokens')));
  step('hints', { labels: hints.map(hint => hint.label) });

  const symbols = await vscode.commands.executeCommand('vscode.executeDocumentSymbolProvider', uri);
  assert(symbols.some(symbol => symbol.name === 'num_hidden_layers'));
  step('symbols', { count: symbols.length });

  const actions = await vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, found.range);
  const fix = actions.find(action => action.edit && /num_key_value_heads/.test(action.title));
  assert(fix, JSON.stringify(actions.map(action => action.title)));
  assert(await vscode.workspace.applyEdit(fix.edit));
  await until('the fixed diagnostic to go', () => !wrong());
  step('fixed', { title: fix.title, lens: (await vscode.commands.executeCommand('vscode.executeCodeLensProvider', uri, 10))[0].command.title });

  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(1, 0), '  \n');
  await vscode.workspace.applyEdit(edit);
  const completions = await vscode.commands.executeCommand('vscode.executeCompletionItemProvider', uri, new vscode.Position(1, 2));
  assert(completions.items.some(item => (item.label.label ?? item.label) === 'sliding_window'), 'keys of the type are offered');
  step('completion', { count: completions.items.length });

  // JSON syntax errors are VS Code's own business: reported once.
  const broken = new vscode.WorkspaceEdit();
  broken.insert(uri, new vscode.Position(1, 0), '  // a comment\n');
  await vscode.workspace.applyEdit(broken);
  await until("VS Code's own comment diagnostic", () => vscode.languages.getDiagnostics(uri).some(item => /[Cc]omment/.test(item.message)));
  assert(!own().some(item => String(item.code.value ?? item.code).startsWith('json-')));
  step('syntax');

  await vscode.commands.executeCommand('neurarch.openReport');
  await until('the report', () => vscode.window.tabGroups.all.some(group => group.tabs.some(tab => /report/.test(tab.label))));
  step('report');

  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand('neurarch.showDebugInformation');
  await until('debug information', () => vscode.workspace.textDocuments.some(item => item.getText().includes('detected as: a config file')));
  step('debug');

  await vscode.commands.executeCommand('neurarch.restart');
  await until('diagnostics after a restart', () => own().length > 0);
  step('restarted');

  const foreign = await vscode.workspace.openTextDocument(vscode.Uri.file(path.join(folder, 'app', 'config.json')));
  await vscode.window.showTextDocument(foreign);
  await new Promise(resolve => setTimeout(resolve, 500));
  assert.deepStrictEqual(vscode.languages.getDiagnostics(foreign.uri).filter(item => item.source === 'neurarch'), []);
  step('done');
}

module.exports = { run };
