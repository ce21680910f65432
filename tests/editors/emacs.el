;;; Runs in a real Emacs (emacs --batch -Q -l emacs.el); every line on stdout is a JSON object.

(require 'package)
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa")
(package-initialize)
(add-to-list 'load-path (getenv "CLIENT"))
(require 'json)
(require 'neurarch-lsp)

(setq eglot-sync-connect 20 eglot-autoshutdown t make-backup-files nil auto-save-default nil create-lockfiles nil
      eglot-confirm-server-initiated-edits nil
      neurarch-lsp-command (append (json-parse-string (getenv "SERVER") :array-type 'list) nil))

(defun tell (&rest pairs) (princ (concat (json-encode pairs) "\n")))
(defun until (what condition)
  (let ((end (+ (float-time) 20)) value)
    (while (and (not (setq value (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.02))
    (or value (error "nothing within 20 s: %s" what))))

(condition-case failure
    (progn
      (find-file (getenv "FOREIGN"))
      (tell :step "foreign" :connected (if (eglot-current-server) t :json-false))
      (find-file (getenv "MODEL"))
      ;; eglot connects after the command that opened the file; a batch Emacs runs no commands.
      (run-hooks 'post-command-hook)
      (let ((server (until "a connection" #'eglot-current-server)))
        (flymake-mode 1)
        (let ((found (until "diagnostics" (lambda () (flymake-start) (flymake-diagnostics)))))
          (tell :step "diagnostics"
                :marked (vconcat (mapcar (lambda (item)
                                           (buffer-substring-no-properties (flymake-diagnostic-beg item)
                                                                           (flymake-diagnostic-end item)))
                                         found))))
        (goto-char (point-min))
        (search-forward "num_key_value_heads")
        (backward-char 3)
        (tell :step "hover"
              :text (plist-get (plist-get (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams))
                                          :contents)
                               :value))
        (set-buffer-modified-p nil)
        (eglot-shutdown server)
        (tell :step "done")))
  (error (tell :step "error" :message (format "%S" failure)) (kill-emacs 1)))
