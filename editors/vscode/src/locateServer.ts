/** Finds the server: setting, the workspace's interpreter, PATH, uvx. */
import * as fs from 'fs';
import * as path from 'path';
import * as vscode from 'vscode';

export interface ServerCommand {
  command: string;
  args: string[];
  origin: string;
}

const WINDOWS = process.platform === 'win32';
const NAME = WINDOWS ? 'neurarch-lsp.exe' : 'neurarch-lsp';

export async function locateServer(log: vscode.LogOutputChannel): Promise<ServerCommand | undefined> {
  const settings = vscode.workspace.getConfiguration('neurarch');
  const args = settings.get<string[]>('server.args', []);
  const chosen = settings.get<string>('server.path', '').trim();
  if (chosen) {
    return { command: expand(chosen), args, origin: 'the setting neurarch.server.path' };
  }
  // In restricted mode nothing that lies in the workspace is executed.
  if (vscode.workspace.isTrusted) {
    for (const folder of await interpreterFolders(log)) {
      const candidate = path.join(folder, NAME);
      if (isExecutable(candidate)) {
        return { command: candidate, args, origin: 'the Python environment of the workspace' };
      }
    }
  }
  const onPath = which(NAME);
  if (onPath) {
    return { command: onPath, args, origin: 'PATH' };
  }
  const uvx = which(WINDOWS ? 'uvx.exe' : 'uvx');
  if (uvx) {
    return { command: uvx, args: ['neurarch-lsp', ...args], origin: 'uvx' };
  }
  return undefined;
}

function expand(text: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  const home = process.env.HOME ?? process.env.USERPROFILE ?? '';
  return text.replace(/\$\{workspaceFolder\}/g, folder).replace(/^~(?=[/\\])/, home);
}

/** Folders of scripts: of the interpreter selected in the Python extension, then of a .venv in the workspace. */
async function interpreterFolders(log: vscode.LogOutputChannel): Promise<string[]> {
  const folders: string[] = [];
  const python = vscode.extensions.getExtension('ms-python.python');
  if (python) {
    try {
      const api = python.isActive ? python.exports : await python.activate();
      const interpreter: string | undefined = api?.environments?.getActiveEnvironmentPath?.()?.path;
      if (interpreter && path.isAbsolute(interpreter)) {
        folders.push(WINDOWS ? path.join(path.dirname(interpreter), 'Scripts') : path.dirname(interpreter));
        folders.push(path.dirname(interpreter));
      }
    } catch (error) {
      log.warn(`the Python extension did not tell its interpreter: ${error}`);
    }
  }
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    for (const name of ['.venv', 'venv']) {
      folders.push(path.join(folder.uri.fsPath, name, WINDOWS ? 'Scripts' : 'bin'));
    }
  }
  return folders;
}

function which(name: string): string | undefined {
  const home = process.env.HOME ?? process.env.USERPROFILE ?? '';
  // An editor started from a desktop often lacks the folder that uv and pipx install into.
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), path.join(home, '.local', 'bin')];
  return folders.filter(mayRunFrom).map(folder => path.join(folder, name)).find(isExecutable);
}

/** PATH may lead into the workspace: by a relative entry, or because its environment was active when VS Code started. */
function mayRunFrom(folder: string): boolean {
  if (!path.isAbsolute(folder)) {
    return false;
  }
  return vscode.workspace.isTrusted || !(vscode.workspace.workspaceFolders ?? []).some(workspace => {
    const inside = path.relative(workspace.uri.fsPath, folder);
    return inside === '' || (!inside.startsWith('..') && !path.isAbsolute(inside));
  });
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
