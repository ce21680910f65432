"""The server object: the state of one session, and nothing else."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from neurarch_lsp.features.python_models import PythonModels, Reading, read
from neurarch_lsp.lsp import parent_process
from neurarch_lsp.lsp.client_features import ClientFeatures
from neurarch_lsp.lsp.folders import FolderCache
from neurarch_lsp.lsp.interpreter_process import InterpreterProcess
from neurarch_lsp.lsp.loop_turn import LoopTurn
from neurarch_lsp.lsp.open_documents import OpenDocuments
from neurarch_lsp.lsp.protocol import NeurarchProtocol
from neurarch_lsp.lsp.scheduler import Scheduler, Ticket
from neurarch_lsp.lsp.session_settings import SessionSettings
from neurarch_lsp.lsp.workspace_scan import WorkspaceScan
from neurarch_schemas import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygls.server import ServerErrors

    from neurarch_lsp.lsp.job import Analysed, Job
    from neurarch_lsp.lsp.open_documents import OpenDocument
    from neurarch_schemas.documents.json_document import JsonDocument
    from neurarch_schemas.documents.line_index import PositionEncoding

logger = logging.getLogger(__name__)

WORKERS = 4
"""Threads for analyses: one long Python file must not keep the hover on another document waiting."""


PYTHON_CELLS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")], notebook="*")
    ]
)


class NeurarchServer(LanguageServer):
    """State: open documents, the workspace's settings, and results of analyses by document version."""

    protocol: NeurarchProtocol

    def __init__(self) -> None:
        super().__init__(
            "neurarch-lsp", __version__, notebook_document_sync=PYTHON_CELLS, protocol_cls=NeurarchProtocol
        )
        self.client = ClientFeatures()
        self.documents = OpenDocuments("utf-16")
        self.turn = LoopTurn()
        self.pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="neurarch-request")
        """For what single requests compute, so that they never wait behind analyses."""
        self.scheduler: Scheduler[Job, Analysed] = Scheduler(
            ThreadPoolExecutor(WORKERS, thread_name_prefix="neurarch-analysis"), self._work
        )
        self.settings = SessionSettings()
        self.parsed: dict[str, JsonDocument] = {}
        self.folders = FolderCache()
        self.interpreter = InterpreterProcess()
        self.python_models = PythonModels(self._read_python)
        self.interpreting = ThreadPoolExecutor(1, thread_name_prefix="neurarch-interpreter")
        """Its one thread waits for the interpreter: a dozen requests about Python take no other request's thread."""
        self.publishing: set[str] = set()
        self.scan = WorkspaceScan()
        self.pushed: set[str] = set()
        """URIs of files that are not open for which diagnostics were pushed."""
        self.changed_files: set[str] = set()
        self.reload_timer: asyncio.TimerHandle | None = None
        self._told: set[str] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._end: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def begin(self, client: ClientFeatures, params: types.InitializeParams) -> None:
        """Called first thing in ``initialize``."""
        from neurarch_lsp.lsp import configuration

        self.client = client
        self.documents = OpenDocuments(cast("PositionEncoding", client.position_encoding))
        if params.initialization_options:
            self.settings.replace(configuration.from_options(params.initialization_options))
        if params.process_id is not None:
            parent_process.watch(params.process_id, asyncio.get_running_loop(), lambda: self.end(1))

    def unstructured(self, value: object) -> object:
        """An LSP value as plain JSON."""
        return self.protocol._converter.unstructure(value)

    def job(self, document: OpenDocument) -> Job:
        from neurarch_lsp.lsp.job import Job

        return Job(
            document, self.settings.of(document.uri), self.client.name, self.parsed, self.folders, self.interpreter
        )

    def _work(self, job: Job, ticket: Ticket) -> Analysed:
        from neurarch_lsp.lsp import job as jobs

        def poll() -> None:
            self.turn.poll()
            ticket.poll()

        return jobs.run(job, poll)

    def _read_python(self, path: str, text: str, search_paths: Sequence[str], only_sound: bool) -> Reading:
        reading: Reading = self.interpreter(read, path, text, list(search_paths), only_sound)
        return reading

    def end(self, code: int) -> None:
        """End the session; the first code given counts."""
        if not self._end.done():
            self._end.set_result(code)

    async def ended(self) -> int:
        """The exit code, once the session is over."""
        return await self._end

    def spawn(self, coroutine: object, name: str) -> None:
        """Run a coroutine beside the requests; a failure is logged."""
        task: asyncio.Task[object] = asyncio.get_running_loop().create_task(coroutine, name=name)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._spawned_ended)

    def _spawned_ended(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s failed", task.get_name(), exc_info=error)

    def tell_once(self, message: str) -> None:
        """Show an error to the person, once a session for each message: the log holds the rest."""
        if message not in self._told:
            self._told.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"neurarch-lsp: {message}"))

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """pygls would pop up a message for each; the handlers have logged theirs already."""
        logger.debug("reported by pygls as %s", source, exc_info=error)
