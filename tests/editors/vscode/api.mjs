// Runs suite.cjs inside the extension host of the real workbench, with the extension under development.
// usage: node api.mjs VSCODE_FOLDER SERVER_COMMAND        exit code of the suite; 124 when it does not end in time
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBrowser, startWorkbench } from './workbench.mjs';

const [vscode, command] = process.argv.slice(2).map(item => path.resolve(item));
const here = path.dirname(fileURLToPath(import.meta.url));
const workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'neurarch ws-'));
fs.mkdirSync(path.join(workspace, 'app'));
fs.writeFileSync(path.join(workspace, 'app', 'config.json'), '{"name": "app", "port": 8080}\n');
fs.copyFileSync(path.join(here, 'config.json'), path.join(workspace, 'config.json'));

const workbench = await startWorkbench({ vscode, settings: { 'neurarch.server.path': command } });
let finish;
const finished = new Promise(resolve => { finish = resolve; });
const remote = file => `vscode-remote://127.0.0.1:${workbench.port}${file}`;
const payload = JSON.stringify([
  ['extensionDevelopmentPath', remote(path.resolve(here, '../../../editors/vscode'))],
  ['extensionTestsPath', remote(path.join(here, 'suite.cjs'))],
  ['skipWelcome', 'true'],
]);
const url = `http://127.0.0.1:${workbench.port}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(payload)}`;
const noise = [];
const { page, close } = await openBrowser(url, {
  before: async page => {
    await page.exposeFunction('codeAutomationLog', () => {});
    await page.exposeFunction('codeAutomationExit', code => finish(code));
    page.on('console', message => {
      const text = message.text();
      const at = text.indexOf('STEP ');
      if (at >= 0 && !text.includes('[Extension Host]')) console.log(text.slice(at + 5));
      else if (message.type() === 'error') noise.push(text.slice(0, 400));
    });
  },
});
const limit = Number(process.env.VSCODE_SECONDS ?? 120) * 1000;
const code = await Promise.race([finished, new Promise(resolve => setTimeout(() => resolve(124), limit))]);
if (code) {
  console.error(noise.slice(-10).join('\n'));
  await page.screenshot({ path: process.env.FAILURE_SHOT ?? 'failure.png' });
}
await close();
await workbench.stop();
fs.rmSync(workspace, { recursive: true, force: true });
process.exit(code);
