// What a person finds around the editor, with the packaged extension installed: walkthrough, settings, status item.
// usage: node window.mjs VSCODE_FOLDER SERVER_COMMAND VSIX [FOLDER_FOR_SCREENSHOTS]
import assert from 'node:assert';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBrowser, startWorkbench } from './workbench.mjs';

const [vscode, command, vsix, output] = process.argv.slice(2).map(item => path.resolve(item));
const here = path.dirname(fileURLToPath(import.meta.url));
const workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'window-'));
fs.copyFileSync(path.join(here, 'config.json'), path.join(workspace, 'config.json'));

const workbench = await startWorkbench({ vscode, vsix, settings: { 'neurarch.server.path': command, 'workbench.welcomePage.walkthroughs.openOnInstall': false } });
const { page, close } = await openBrowser(`http://127.0.0.1:${workbench.port}/?folder=${encodeURIComponent(workspace)}`);
const wait = (selector, options = {}) => page.waitForSelector(selector, { timeout: 60000, ...options });
const step = async (name, value = {}) => {
  if (output) await page.screenshot({ path: path.join(output, `window-${name}.png`) });
  console.log(JSON.stringify({ step: name, ...value }));
};
/** Runs a command by its title, as a person does. */
const run = async title => {
  await page.keyboard.press('F1');
  await wait('.quick-input-widget input');
  await page.keyboard.type(title);
  await page.click(`.quick-input-list .monaco-list-row:has-text("${title}")`);
};

let failed = 0;
try {
  await wait('.explorer-folders-view .monaco-list-row[aria-label*="config.json"]');
  await page.dblclick('.explorer-folders-view .monaco-list-row[aria-label*="config.json"]');
  await wait('.monaco-editor .squiggly-error');
  await wait('.codelens-decoration a');

  await page.hover('#status\\.languageStatus');
  const status = await (await wait('.monaco-hover:not(.hidden) .hover-language-status:has-text("parameters")')).innerText();
  assert.match(status, /46\.6B parameters[^]*Report/);
  await step('status', { text: status.replace(/\s+/g, ' ') });
  await page.mouse.move(600, 500);

  await run('Welcome: Open Walkthrough...');
  await page.click('.quick-input-list .monaco-list-row:has-text("Model configs with Neurarch")');
  await wait('.gettingStartedContainer .step-title:has-text("Install the server")');
  const steps = await page.locator('.gettingStartedContainer .getting-started-step .step-title').allInnerTexts();
  assert.deepStrictEqual(steps, ['Install the server', 'Open a config.json', 'Say how you serve it']);
  await page.frameLocator('iframe.webview.ready').frameLocator('iframe').locator('text=pipx install neurarch-lsp').waitFor({ timeout: 30000 });
  await step('walkthrough', { steps });

  await run('Preferences: Open Settings (UI)');
  await wait('.settings-editor .suggest-input-container');
  await page.click('.settings-editor .suggest-input-container .view-lines');
  await page.keyboard.type('@ext:neurarch.neurarch-lsp');
  await wait('.settings-editor .setting-item-label:has-text("Diagnostic Mode")');
  const labels = await page.locator('.settings-editor .setting-item-label').allInnerTexts();
  assert(labels.includes('Syntax Errors'), labels.join());
  await step('settings', { labels });
  await step('done');
} catch (error) {
  console.error(String(error));
  await page.screenshot({ path: process.env.FAILURE_SHOT ?? path.join(os.tmpdir(), 'vscode-failure.png') });
  failed = 1;
} finally {
  await close();
  await workbench.stop();
  fs.rmSync(workspace, { recursive: true, force: true });
}
process.exit(failed);
