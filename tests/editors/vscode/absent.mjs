// No server is installed: one message says so and what to do, however often files are edited; naming it helps at once.
// usage: node absent.mjs VSCODE_FOLDER SERVER_COMMAND
import assert from 'node:assert';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSuite, startWorkbench } from './workbench.mjs';

const [vscode, command] = process.argv.slice(2).map(item => path.resolve(item));
const here = path.dirname(fileURLToPath(import.meta.url));
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'home-'));
const workspace = path.join(home, 'workspace');
fs.mkdirSync(workspace);
fs.copyFileSync(path.join(here, 'config.json'), path.join(workspace, 'config.json'));

// Nothing of ours on PATH, which is taken as it is instead of asking a login shell.
const env = { PATH: [path.dirname(process.execPath), '/usr/bin', '/bin'].join(path.delimiter), VSCODE_CLI: '1', HOME: home };
const workbench = await startWorkbench({ vscode, settings: {}, env: { ...env, SERVER: command } });
const code = await runSuite({
  workbench, workspace, suite: 'absent.cjs',
  onStep: async ({ step }, page) => {
    if (step !== 'edited') return;
    const toast = page.locator('.notification-toast', { hasText: 'neurarch-lsp was not found' });
    await toast.first().waitFor({ timeout: 20000 });
    assert.strictEqual(await toast.count(), 1);
    assert.match(await toast.innerText(), /Open Settings[^]*Try Again/);
    fs.writeFileSync(path.join(workspace, 'seen'), '');
  },
});
fs.rmSync(home, { recursive: true, force: true });
process.exit(code);
