;;; neurarch-lsp.el --- Model configs with eglot -*- lexical-binding: t; -*-

;; Put this file on your `load-path' and (require 'neurarch-lsp) in your init file.
;; A buffer is connected when it holds a model: by its name and content.
;; Works with Emacs 29 and newer, and with 27 and 28 where eglot is installed as a package.

;;; Code:

(require 'eglot)

(defgroup neurarch-lsp nil "Model configs." :group 'tools)

(defcustom neurarch-lsp-command '("neurarch-lsp")
  "The command that starts the server."
  :type '(repeat string))

(defcustom neurarch-lsp-settings nil
  "Settings, as a plist of those of neurarch-lsp.toml, for example (:serving (:context 32768))."
  :type 'plist)

(define-derived-mode neurarch-config-mode js-mode "Model"
  "A Hugging Face config.json or one of its relatives.")

;; What the server is told the buffer's language is.
(put 'neurarch-config-mode 'eglot-language-id "json")

(defconst neurarch-lsp--names
  (rx (or bos "/") (or (seq (* (not "/")) "config" (* (not "/")) ".json") "params.json"
                       (seq (* (not "/")) ".index.json"))
      eos))

(defconst neurarch-lsp--marks
  (rx "\"" (or "model_type" "architectures" "peft_type" "weight_map" "transformers_version" "num_hidden_layers") "\""))

(defun neurarch-lsp-model-file-p ()
  "Whether the current buffer holds a model config."
  (and buffer-file-name
       (string-match-p neurarch-lsp--names buffer-file-name)
       (or (and (< (buffer-size) 40) (string-suffix-p "/config.json" buffer-file-name))
           (save-excursion (goto-char (point-min)) (re-search-forward neurarch-lsp--marks 32768 t)))))

(defun neurarch-lsp-maybe ()
  "Switch to `neurarch-config-mode' and connect, if the buffer holds a model config."
  (when (and (not (derived-mode-p 'neurarch-config-mode)) (neurarch-lsp-model-file-p))
    (neurarch-config-mode)
    (eglot-ensure)))

(add-to-list 'eglot-server-programs
             `(neurarch-config-mode . ,(lambda (&rest _)
                                         (append neurarch-lsp-command
                                                 (when neurarch-lsp-settings
                                                   (list :initializationOptions neurarch-lsp-settings))))))
(add-hook 'find-file-hook #'neurarch-lsp-maybe)

(provide 'neurarch-lsp)
;;; neurarch-lsp.el ends here
