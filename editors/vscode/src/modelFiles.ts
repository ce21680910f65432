/** Whether a document is one the server has something to say about; the server itself decides finally. */
import * as vscode from 'vscode';

const JSON_NAMES = new Set(['config.json', 'generation_config.json', 'adapter_config.json', 'params.json']);
const JSON_MARKS = /"(model_type|architectures|peft_type|weight_map|transformers_version|num_hidden_layers)"/;
const PYTHON_MARKS =
  /nn\.Module|nnx\.Module|Pre[tT]rainedConfig|PreTrainedModel|AutoModel|TrainingArguments|AutoConfig|transformers import.*Config/;
const HEAD = 32_768;

export const SELECTOR: vscode.DocumentFilter[] = [
  { scheme: 'file', pattern: '**/*config*.json' },
  { scheme: 'file', pattern: '**/params.json' },
  { scheme: 'file', pattern: '**/*.index.json' },
  { scheme: 'file', pattern: '**/{neurarch-lsp,.neurarch-lsp}.toml' },
  { scheme: 'file', language: 'python' },
  { scheme: 'untitled', language: 'json' },
  { scheme: 'untitled', language: 'jsonc' },
  { scheme: 'untitled', language: 'python' },
];

export function isModelFile(document: vscode.TextDocument): boolean {
  if (vscode.languages.match(SELECTOR, document) === 0) {
    return false;
  }
  const name = document.uri.path.split('/').pop() ?? '';
  const end = document.positionAt(HEAD);
  const head = document.getText(new vscode.Range(new vscode.Position(0, 0), end));
  if (document.languageId === 'python') {
    return PYTHON_MARKS.test(head);
  }
  if (name.endsWith('.toml')) {
    return true;
  }
  // A new, empty config.json is offered a skeleton.
  return JSON_MARKS.test(head) || (JSON_NAMES.has(name) && head.length < 40);
}

/** Whether some folder of the workspace holds a model config; reads at most a few small files. */
export async function workspaceHasModels(limit = 20): Promise<boolean> {
  const found = await vscode.workspace.findFiles('**/{config,adapter_config}.json', '**/node_modules/**', limit);
  for (const uri of found) {
    try {
      const bytes = await vscode.workspace.fs.readFile(uri);
      if (JSON_MARKS.test(Buffer.from(bytes.subarray(0, HEAD)).toString('utf8'))) {
        return true;
      }
    } catch {
      // A file that vanished or cannot be read decides nothing.
    }
  }
  return false;
}
