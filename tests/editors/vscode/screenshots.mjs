// Makes the pictures of docs/images with the packaged extension in the real VS Code workbench.
// usage: node screenshots.mjs VSCODE_FOLDER SERVER_COMMAND VSIX OUTPUT_FOLDER
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBrowser, startWorkbench } from './workbench.mjs';

const [vscode, command, vsix, output] = process.argv.slice(2).map(item => path.resolve(item));
const here = path.dirname(fileURLToPath(import.meta.url));
const workspace = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'shots-')), 'my-model');
fs.mkdirSync(workspace);
const config = fs.readFileSync(path.join(here, 'config.json'), 'utf8')
  .replace('  "_🤖": "混合專家",\n', '').replace('"_": "🧠", ', '').replace('"vocab_size"', '"vocab_sise"');
fs.writeFileSync(path.join(workspace, 'config.json'), config);
fs.mkdirSync(output, { recursive: true });

const workbench = await startWorkbench({
  vscode, vsix,
  settings: { 'neurarch.server.path': command, 'editor.fontSize': 14, 'workbench.activityBar.location': 'hidden', 'editor.hover.delay': 100,
    'breadcrumbs.enabled': false, 'editor.quickSuggestions': { strings: true, other: true } },
});
const { page, close } = await openBrowser(`http://127.0.0.1:${workbench.port}/?folder=${encodeURIComponent(workspace)}`, { width: 1200, height: 640 });
const shot = name => page.screenshot({ path: path.join(output, `vscode-${name}.png`) });
const line = text => page.locator('.view-lines .view-line', { hasText: text }).first();
const wait = (selector, options = {}) => page.waitForSelector(selector, { timeout: 60000, ...options });

let failed = 0;
try {
  await wait('.explorer-folders-view .monaco-list-row[aria-label*="config.json"]');
  await page.dblclick('.explorer-folders-view .monaco-list-row[aria-label*="config.json"]');
  await wait('.monaco-editor .squiggly-error, .monaco-editor .squiggly-warning');
  await wait('.codelens-decoration a');
  await page.waitForFunction(() => document.querySelector('.view-lines')?.textContent.includes('head_dim'), null, { timeout: 30000 });
  await page.keyboard.press('Control+B');
  await page.keyboard.press('Control+Shift+M');
  await wait('.markers-panel .monaco-list-row');
  await page.mouse.move(900, 300);
  await shot('diagnostics');

  await page.keyboard.press('Control+Shift+M');
  await line('num_hidden_layers').locator('span span', { hasText: 'num_hidden_layers' }).last().hover();
  await wait('.monaco-hover:not(.hidden) .hover-contents >> text=parameters');
  await page.waitForTimeout(300);
  await shot('hover');
  await page.mouse.move(900, 500);
  await page.keyboard.press('Escape');

  await line('num_key_value_heads').locator('span span', { hasText: '5' }).last().click();
  // Away from the text, or the hover covers it.
  await page.mouse.move(1000, 600);
  await page.waitForTimeout(500);
  await page.keyboard.press('Control+.');
  await wait('.action-widget .monaco-list-row');
  await page.waitForTimeout(300);
  await shot('quickfix-before');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /num_key_value_heads":.?4/.test(document.querySelector('.view-lines')?.textContent ?? ''), null, { timeout: 30000 });
  await page.waitForTimeout(700);
  await shot('quickfix-after');

  await line('output_router_logits').click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('"slid');
  await wait('.suggest-widget.visible .monaco-list-row >> text=sliding_window');
  await page.waitForTimeout(800);
  await shot('completion');
  await page.keyboard.press('Escape');
  for (let i = 0; i < 8; i++) await page.keyboard.press('Control+Z');

  await page.keyboard.press('F1');
  await page.keyboard.type('Neurarch: Open Report');
  await page.waitForTimeout(500);
  await page.keyboard.press('Enter');
  await wait('iframe.webview.ready');
  await page.waitForTimeout(1500);
  await shot('report');
} catch (error) {
  console.error(String(error));
  await page.screenshot({ path: process.env.FAILURE_SHOT ?? 'failure.png' });
  failed = 1;
} finally {
  await close();
  await workbench.stop();
  fs.rmSync(path.dirname(workspace), { recursive: true, force: true });
}
process.exit(failed);
