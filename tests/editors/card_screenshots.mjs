// Pictures of a card in Chromium, light and dark, wide and phone, and axe's verdict on each.
// Usage: node card_screenshots.mjs CARD.html OUT   (needs playwright-core, axe-core and /usr/bin/chromium)
import { chromium } from 'playwright-core';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [, , card, out] = process.argv;
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
let failed = false;
for (const colorScheme of ['light', 'dark']) {
  for (const [width, height] of [[1100, 1400], [390, 844]]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height } });
    const page = await context.newPage();
    const requests = [];
    page.on('request', request => requests.push(request.url()));
    await page.goto(`file://${path.resolve(card)}`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    failed ||= violations.length > 0 || requests.length > 1 || overflow;
    console.log(colorScheme, width, 'violations', violations.map(each => each.id), 'requests', requests.length, 'overflow', overflow);
    await page.screenshot({ path: path.join(out, `card-${colorScheme}-${width}.png`) });
    await context.close();
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
