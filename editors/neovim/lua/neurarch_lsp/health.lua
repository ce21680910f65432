--- `:checkhealth neurarch_lsp`
local M = {}

function M.check()
  local health = vim.health
  health.start('neurarch-lsp')
  if vim.fn.has('nvim-0.11') == 0 then
    health.error('Neovim 0.11 or newer is needed for lsp/ configuration files')
    return
  end
  local config = vim.lsp.config['neurarch_lsp']
  if not config then
    health.error('no configuration named neurarch_lsp', { 'put lsp/neurarch_lsp.lua on the runtimepath' })
    return
  end
  if vim.lsp.is_enabled and not vim.lsp.is_enabled('neurarch_lsp') then
    health.warn('not enabled', { "add vim.lsp.enable('neurarch_lsp') to your init.lua" })
  end
  local command = config.cmd
  if type(command) ~= 'table' then
    health.info('the server is started by a function')
    return
  end
  if vim.fn.executable(command[1]) == 0 then
    health.error(command[1] .. ' is not executable', { 'uv tool install neurarch-lsp', 'pipx install neurarch-lsp' })
    return
  end
  local version = vim.list_extend(vim.list_slice(command), { '--version' })
  local result = vim.system(version, { text = true, timeout = 10000 }):wait()
  if result.code == 0 then
    health.ok(vim.trim(result.stdout) .. ' (' .. vim.fn.exepath(command[1]) .. ')')
  else
    health.error(command[1] .. ' --version failed', { result.stderr })
  end
  local clients = vim.lsp.get_clients({ name = 'neurarch_lsp' })
  health.info(('%d running, attached to %d buffers'):format(#clients, #clients > 0 and vim.tbl_count(clients[1].attached_buffers) or 0))
end

return M
