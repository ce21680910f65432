-- Runs inside a real Neovim; every line on stdout is a JSON object. The last one is {step = "done"} when all went well.
local function emit(object)
  io.stdout:write(vim.json.encode(object), '\n')
end

local function wait(what, condition)
  assert(vim.wait(15000, condition, 10), what .. ': nothing within 15 s')
end

local function main()
  local root, foreign = assert(vim.env.MODEL), assert(vim.env.FOREIGN)
  vim.lsp.config('neurarch_lsp', { cmd = vim.json.decode(vim.env.SERVER) })
  vim.lsp.enable('neurarch_lsp')

  -- A config.json of another tool does not even start the server.
  vim.cmd.edit(vim.fn.fnameescape(foreign))
  vim.wait(300, function() return false end)
  emit({ step = 'foreign', clients = #vim.lsp.get_clients({ bufnr = 0 }) })

  vim.cmd.edit(vim.fn.fnameescape(root))
  local buf = vim.api.nvim_get_current_buf()
  wait('diagnostics', function()
    return #vim.diagnostic.get(buf) > 0
  end)
  local client = vim.lsp.get_clients({ bufnr = buf, name = 'neurarch_lsp' })[1]
  emit({ step = 'attached', encoding = client.offset_encoding, pulls = client.server_capabilities.diagnosticProvider ~= nil })

  local function diagnostics()
    return vim.tbl_map(function(item)
      local line = vim.api.nvim_buf_get_lines(buf, item.lnum, item.lnum + 1, false)[1]
      return { code = item.code, severity = item.severity, marked = line:sub(item.col + 1, item.end_col), lnum = item.lnum, col = item.col }
    end, vim.diagnostic.get(buf))
  end
  emit({ step = 'diagnostics', items = diagnostics() })

  local function request(method, params)
    local answer = assert(client:request_sync(method, params, 10000, buf), method .. ' was not answered')
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end
  local document = { textDocument = vim.lsp.util.make_text_document_params(buf) }

  local function on(pattern)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    assert(vim.fn.search(pattern, 'cW') > 0, pattern)
  end
  on('num_key_value_heads')
  local hover = request('textDocument/hover', vim.lsp.util.make_position_params(0, client.offset_encoding))
  emit({ step = 'hover', text = hover.contents.value })
  emit({ step = 'lens', title = request('textDocument/codeLens', document)[1].command.title })
  vim.lsp.inlay_hint.enable(true, { bufnr = buf })
  wait('inlay hints', function()
    return #vim.lsp.inlay_hint.get({ bufnr = buf }) > 0
  end)
  emit({ step = 'hints', labels = vim.tbl_map(function(hint) return hint.inlay_hint.label end, vim.lsp.inlay_hint.get({ bufnr = buf })) })
  emit({ step = 'symbols', count = #request('textDocument/documentSymbol', document) })

  -- The way a person applies a fix.
  on('// wide')
  vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.isPreferred end })
  wait('the fix', function()
    return not table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n'):find('// wide', 1, true)
  end)
  wait('the fixed diagnostic to go', function()
    return not vim.iter(vim.diagnostic.get(buf)):any(function(item) return item.code == 'json-comment' end)
  end)
  emit({ step = 'fixed', lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false) })

  -- Completion through Neovim's own client.
  vim.api.nvim_buf_set_lines(buf, 1, 1, false, { '  "rms_no' })
  local line = 1
  local items = request('textDocument/completion', { textDocument = document.textDocument, position = { line = line, character = 9 } })
  local labels = vim.tbl_map(function(item) return item.label end, items.items)
  emit({ step = 'completion', has = vim.tbl_contains(labels, 'rms_norm_eps') })
  vim.cmd.undo()

  vim.cmd('LspNeurarchReport')
  wait('the report', function()
    return vim.bo.filetype == 'markdown'
  end)
  emit({ step = 'report', first = vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] })

  vim.cmd('checkhealth neurarch_lsp')
  emit({ step = 'health', lines = vim.api.nvim_buf_get_lines(0, 0, -1, false) })

  client:stop()
  wait('the end of the server', function() return client:is_stopped() end)
  emit({ step = 'done' })
end

local ok, message = xpcall(main, debug.traceback)
if not ok then
  emit({ step = 'error', message = tostring(message) })
end
vim.cmd(ok and 'qall!' or 'cquit 1')
