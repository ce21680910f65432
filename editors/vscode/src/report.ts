/** The report of a model in a webview beside the file, refreshed while typing. */
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

interface Report {
  title: string;
  content: string;
}

const DELAY = 150;

export class ReportView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private uri: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private shown = 0;
  private readonly subscription: vscode.Disposable;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.subscription = vscode.workspace.onDidChangeTextDocument(event => {
      if (this.panel && event.document.uri.toString() === this.uri) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.refresh(), DELAY);
      }
    });
  }

  async open(uri: string): Promise<void> {
    this.uri = uri;
    if (!this.panel) {
      this.panel = vscode.window.createWebviewPanel(
        'neurarch.report',
        'Model report',
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: false, localResourceRoots: [] },
      );
      this.panel.onDidDispose(() => {
        this.panel = undefined;
        clearTimeout(this.timer);
      });
    } else {
      this.panel.reveal(undefined, true);
    }
    await this.refresh();
  }

  /** The model of a file beside another one, in a panel of its own that is drawn once. */
  async compare(uri: string, other: string): Promise<void> {
    const comparison = await this.client()?.sendRequest<Report | null>('workspace/executeCommand', {
      command: 'neurarch.compare',
      arguments: [uri, { with: other, format: 'html' }],
    });
    const panel = vscode.window.createWebviewPanel(
      'neurarch.compare',
      comparison?.title ?? 'Compare models',
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: false, localResourceRoots: [] },
    );
    panel.webview.html = comparison?.content ?? '<p>There is no model in this file.</p>';
  }

  private async refresh(): Promise<void> {
    const client = this.client();
    const panel = this.panel;
    if (!client || !panel || !this.uri) {
      return;
    }
    const turn = ++this.shown;
    const report = await client.sendRequest<Report | null>('workspace/executeCommand', {
      command: 'neurarch.report',
      arguments: [this.uri, { format: 'html' }],
    });
    // An answer that was overtaken by a newer one is not shown.
    if (turn === this.shown && this.panel === panel) {
      panel.title = report?.title ?? 'Model report';
      panel.webview.html = report?.content ?? '<p>There is no report for this file.</p>';
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscription.dispose();
    this.panel?.dispose();
  }
}
