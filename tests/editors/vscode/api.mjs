// The features, through the vscode API: suite.cjs in the real workbench, with the extension under development.
// usage: node api.mjs VSCODE_FOLDER SERVER_COMMAND        exit code of the suite; 124 when it does not end in time
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSuite, startWorkbench } from './workbench.mjs';

const [vscode, command] = process.argv.slice(2).map(item => path.resolve(item));
const here = path.dirname(fileURLToPath(import.meta.url));
const workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'neurarch ws-'));
fs.mkdirSync(path.join(workspace, 'app'));
fs.writeFileSync(path.join(workspace, 'app', 'config.json'), '{"name": "app", "port": 8080}\n');
fs.copyFileSync(path.join(here, 'config.json'), path.join(workspace, 'config.json'));

const workbench = await startWorkbench({ vscode, settings: { 'neurarch.server.path': command } });
const code = await runSuite({ workbench, workspace, suite: 'suite.cjs' });
fs.rmSync(workspace, { recursive: true, force: true });
process.exit(code);
