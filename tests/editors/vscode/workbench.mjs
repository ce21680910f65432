// Starts the VS Code server with a throw-away profile and opens a browser on it.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'security.workspace.trust.startupPrompt': 'never',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'telemetry.telemetryLevel': 'off',
  'git.enabled': false,
  'chat.disableAIFeatures': true,
  'json.schemaDownload.enable': false,
  'editor.cursorBlinking': 'solid',
  'editor.minimap.enabled': false,
  'workbench.colorTheme': 'Default Light Modern',
  'window.commandCenter': false,
};

const CHROMIUM = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--force-device-scale-factor=1'];

const freePort = () => new Promise((resolve, reject) => {
  const server = net.createServer();
  server.on('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

/**
 * Runs the workbench's server; `settings` are the user's, `vsix` an extension to install. With `restricted` no workspace
 * is trusted until somebody says so in the window, as in a desktop VS Code; `env` is laid over the environment.
 */
export async function startWorkbench({ vscode, settings, vsix, restricted = false, env: variables = {} }) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'vscode-'));
  for (const folder of ['User', 'Machine']) {
    fs.mkdirSync(path.join(profile, 'data', folder), { recursive: true });
    fs.writeFileSync(path.join(profile, 'data', folder, 'settings.json'), JSON.stringify({ ...SETTINGS, 'security.workspace.trust.enabled': restricted, ...settings }));
  }
  const main = path.join(vscode, 'lib/vscode/out/server-main.js');
  const folders = ['--server-data-dir', profile, '--user-data-dir', path.join(profile, 'data'), '--extensions-dir', path.join(profile, 'ext'),
    '--accept-server-license-terms'];
  const env = { ...process.env, ...variables, EXTENSIONS_GALLERY: '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":""}' };
  if (vsix) {
    const done = spawnSync(process.execPath, [main, ...folders, '--install-extension', vsix], { env, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(done.stdout + done.stderr);
  }
  const port = await freePort();
  const server = spawn(process.execPath, [main, ...folders, '--host', '127.0.0.1', '--port', String(port), '--without-connection-token',
    '--enable-smoke-test-driver', '--telemetry-level', 'off', ...(restricted ? [] : ['--disable-workspace-trust'])], { env, stdio: 'ignore' });
  const stop = () => new Promise(resolve => {
    server.once('exit', () => { fs.rmSync(profile, { recursive: true, force: true }); resolve(); });
    server.kill();
  });
  for (let tries = 0; tries < 600; tries++) {
    try {
      if ((await fetch(`http://127.0.0.1:${port}/version`)).ok) return { port, stop };
    } catch { /* not listening yet */ }
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error('the VS Code server does not answer');
}

/** Opens a page in a browser of its own; `before` prepares it before it is loaded. */
export async function openBrowser(url, { width = 1280, height = 800, before = async () => {} } = {}) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: CHROMIUM, viewport: { width, height },
  });
  const page = context.pages()[0] ?? await context.newPage();
  await before(page);
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  return { page, close: async () => { await context.close(); fs.rmSync(profile, { recursive: true, force: true }); } };
}

/**
 * Opens `workspace` with the extension under development and runs `suite` (a file beside this one) inside the extension
 * host. Its lines go to stdout; `onStep` is told each with the page. The suite's exit code; 124 when it takes too long.
 */
export async function runSuite({ workbench, workspace, suite, onStep = async () => {} }) {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const remote = file => `vscode-remote://127.0.0.1:${workbench.port}${file}`;
  const payload = JSON.stringify([
    ['extensionDevelopmentPath', remote(path.resolve(here, '../../../editors/vscode'))],
    ['extensionTestsPath', remote(path.join(here, suite))],
    ['skipWelcome', 'true'],
  ]);
  const url = `http://127.0.0.1:${workbench.port}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(payload)}`;
  let finish;
  const finished = new Promise(resolve => { finish = resolve; });
  const noise = [];
  const { page, close } = await openBrowser(url, {
    before: async page => {
      await page.exposeFunction('codeAutomationLog', () => {});
      await page.exposeFunction('codeAutomationExit', code => finish(code));
      page.on('console', message => {
        const text = message.text();
        const at = text.indexOf('STEP ');
        if (at >= 0 && !text.includes('[Extension Host]')) {
          console.log(text.slice(at + 5));
          onStep(JSON.parse(text.slice(at + 5)), page).catch(error => { console.error(error); finish(1); });
        } else if (message.type() === 'error') {
          noise.push(text.slice(0, 400));
        }
      });
    },
  });
  const limit = Number(process.env.VSCODE_SECONDS ?? 150) * 1000;
  const code = await Promise.race([finished, new Promise(resolve => setTimeout(() => resolve(124), limit))]);
  if (code) {
    console.error(noise.slice(-10).join('\n'));
    await page.screenshot({ path: process.env.FAILURE_SHOT ?? path.join(os.tmpdir(), 'vscode-failure.png') });
  }
  await close();
  await workbench.stop();
  return code;
}
