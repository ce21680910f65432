/** The language status item: whether the file is analysed, its numbers, or why not. */
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { SELECTOR, isModelFile } from './modelFiles';

interface Status {
  analysed: boolean;
  text: string;
  detail: string;
}

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem('neurarch.status', SELECTOR);
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.item.name = 'Neurarch';
    this.subscriptions = [
      this.item,
      vscode.window.onDidChangeActiveTextEditor(() => this.later()),
      vscode.workspace.onDidChangeTextDocument(event => {
        if (event.document === vscode.window.activeTextEditor?.document) {
          this.later();
        }
      }),
    ];
  }

  later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.update(), 200);
  }

  show(text: string, severity: vscode.LanguageStatusSeverity, command?: vscode.Command, detail?: string): void {
    this.item.text = text;
    this.item.detail = detail;
    this.item.severity = severity;
    this.item.command = command;
  }

  private async update(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const client = this.client();
    const matches = document !== undefined && vscode.languages.match(SELECTOR, document) > 0;
    await vscode.commands.executeCommand('setContext', 'neurarch.isModelFile', matches && isModelFile(document));
    if (!document || !matches || !client?.isRunning()) {
      return;
    }
    try {
      const status = await client.sendRequest<Status | null>('workspace/executeCommand', {
        command: 'neurarch.status',
        arguments: [document.uri.toString()],
      });
      if (status && document === vscode.window.activeTextEditor?.document) {
        this.show(
          status.text,
          vscode.LanguageStatusSeverity.Information,
          status.analysed
            ? { command: 'neurarch.openReport', title: 'Report' }
            : { command: 'neurarch.showDebugInformation', title: 'Why?' },
          status.detail,
        );
      }
    } catch {
      // The server is going down or restarting; the next change asks again.
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscriptions.forEach(subscription => subscription.dispose());
  }
}
