// Restricted mode: a workspace that nobody trusts brings a server, settings and a Python environment of its own.
// None of it may run until the person trusts the workspace, which is then done by clicks in the real window.
// usage: node restricted.mjs VSCODE_FOLDER SERVER_COMMAND
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSuite, startWorkbench } from './workbench.mjs';

const [vscode, command] = process.argv.slice(2).map(item => path.resolve(item));
const here = path.dirname(fileURLToPath(import.meta.url));
const workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'untrusted-'));
fs.copyFileSync(path.join(here, 'config.json'), path.join(workspace, 'config.json'));

/** A server of the workspace's own: it leaves a mark, then behaves like the real one. */
function plant(folder) {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'neurarch-lsp'),
    `#!/bin/sh\ntouch '${folder}/was-run'\nexec '${command}' "$@"\n`, { mode: 0o755 });
  return path.join(folder, 'neurarch-lsp');
}
plant(path.join(workspace, '.venv', 'bin'));
plant(path.join(workspace, 'on-path'));
fs.mkdirSync(path.join(workspace, '.vscode'));
fs.writeFileSync(path.join(workspace, '.vscode', 'settings.json'),
  JSON.stringify({ 'neurarch.server.path': plant(path.join(workspace, 'setting')) }));

// As when VS Code is started from a shell in which the workspace's environment is active.
const search = [path.join(workspace, 'on-path'), '.venv/bin', path.dirname(command), process.env.PATH].join(path.delimiter);
const workbench = await startWorkbench({ vscode, settings: {}, restricted: true, env: { PATH: search, VSCODE_CLI: '1' } });
const code = await runSuite({
  workbench, workspace, suite: 'restricted.cjs',
  onStep: async ({ step }, page) => {
    if (step !== 'restricted') return;
    await page.waitForSelector('#status\\.workspaceTrust', { timeout: 20000 });
    await page.screenshot({ path: process.env.RESTRICTED_SHOT ?? path.join(os.tmpdir(), 'vscode-restricted.png') });
    await page.click('#status\\.workspaceTrust');
    await page.click('.workspace-trust-editor .monaco-button:has-text("Trust") >> nth=0', { timeout: 20000 });
  },
});
fs.rmSync(workspace, { recursive: true, force: true });
process.exit(code);
