// Starts the VS Code server with a throw-away profile and opens a browser on it.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'security.workspace.trust.enabled': false,
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

/** Runs the workbench's server; `settings` are the user's, `vsix` an extension to install. */
export async function startWorkbench({ vscode, settings, vsix }) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'vscode-'));
  for (const folder of ['User', 'Machine']) {
    fs.mkdirSync(path.join(profile, 'data', folder), { recursive: true });
    fs.writeFileSync(path.join(profile, 'data', folder, 'settings.json'), JSON.stringify({ ...SETTINGS, ...settings }));
  }
  const main = path.join(vscode, 'lib/vscode/out/server-main.js');
  const folders = ['--server-data-dir', profile, '--user-data-dir', path.join(profile, 'data'), '--extensions-dir', path.join(profile, 'ext'),
    '--accept-server-license-terms'];
  const env = { ...process.env, EXTENSIONS_GALLERY: '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":""}' };
  if (vsix) {
    const done = spawnSync(process.execPath, [main, ...folders, '--install-extension', vsix], { env, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(done.stdout + done.stderr);
  }
  const port = await freePort();
  const server = spawn(process.execPath, [main, ...folders, '--host', '127.0.0.1', '--port', String(port), '--without-connection-token',
    '--enable-smoke-test-driver', '--telemetry-level', 'off', '--disable-workspace-trust'], { env, stdio: 'ignore' });
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
