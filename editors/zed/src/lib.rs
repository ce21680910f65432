//! Starts `neurarch-lsp` for Zed: the command from the settings, from PATH, or `uvx neurarch-lsp`.

use zed_extension_api::{self as zed, settings::LspSettings, serde_json, Command, LanguageServerId, Result, Worktree};

struct Neurarch;

const NAME: &str = "neurarch-lsp";

impl zed::Extension for Neurarch {
    fn new() -> Self {
        Self
    }

    fn language_server_command(&mut self, _id: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let env = worktree.shell_env();
        let chosen = LspSettings::for_worktree(NAME, worktree).ok().and_then(|settings| settings.binary);
        if let Some(binary) = chosen {
            if let Some(command) = binary.path {
                return Ok(Command { command, args: binary.arguments.unwrap_or_default(), env });
            }
        }
        if let Some(command) = worktree.which(NAME) {
            return Ok(Command { command, args: vec![], env });
        }
        if let Some(command) = worktree.which("uvx") {
            return Ok(Command { command, args: vec![NAME.into()], env });
        }
        Err(format!("{NAME} is not installed: uv tool install {NAME}, or pipx install {NAME}"))
    }

    fn language_server_initialization_options(
        &mut self,
        _id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(NAME, worktree).ok().and_then(|settings| settings.initialization_options))
    }
}

zed::register_extension!(Neurarch);
