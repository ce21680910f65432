#!/usr/bin/env bash
# Installs the VS Code workbench and server (VS Code OSS, from the npm package code-server) into a folder.
# usage: install_vscode.sh FOLDER        Nothing is compiled and no install script runs. Needs Node 20 and npm.
set -euo pipefail
folder=${1:?folder}
version=4.100.3
integrity=sha512-q/Fh2DOxCRNhC/WiG/6sAhSKnj7ZACTVBaeeZ+rWjol//0FCbl/qg1ln5ecZ99jYcfqMxZZAyWcN+YBIo0DgpA==
mkdir -p "$folder"
cd "$folder"
export npm_config_fetch_timeout=60000 npm_config_fetch_retries=2
archive=$(npm pack "code-server@$version" --silent)
actual=$(node -e 'console.log("sha512-" + require("crypto").createHash("sha512").update(require("fs").readFileSync(process.argv[1])).digest("base64"))' "$archive")
[ "$actual" = "$integrity" ] || { echo "code-server $version has changed: $actual" >&2; exit 1; }
tar xzf "$archive" --strip-components=1 package/lib package/package.json package/LICENSE package/ThirdPartyNotices.txt
rm "$archive"
cd lib/vscode
npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
(cd extensions && npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error)
ln -sfn node_modules node_modules.asar
# Searching the workspace needs ripgrep, whose own install step would download it.
if command -v rg >/dev/null; then
  mkdir -p node_modules/@vscode/ripgrep/bin
  ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
fi
