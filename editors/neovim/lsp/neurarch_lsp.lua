---@brief
---
--- Language server for neural-network model definitions: exact parameter counts, KV cache and diagnostics for
--- Hugging Face `config.json` (and its relatives) and Python model code.
---
--- Install the server with `uv tool install neurarch-lsp` (or `pipx install neurarch-lsp`), put this file into
--- `~/.config/nvim/lsp/` and enable it:
---
--- ```lua
--- vim.lsp.enable('neurarch_lsp')
--- ```
---
--- It attaches to model files only: a JSON file by name and content, a Python file that defines or trains a model.
--- Settings are those of `neurarch-lsp.toml`, for example
---
--- ```lua
--- vim.lsp.config('neurarch_lsp', {
---   settings = { neurarch = { serving = { context = 32768 }, ignore = { 'full-mha-serving-cost' } } },
--- })
--- ```

local json_names = {
  ['config.json'] = true,
  ['generation_config.json'] = true,
  ['adapter_config.json'] = true,
  ['params.json'] = true,
}

--- Names that are common outside model folders need a look at the text.
local json_marks = { '"model_type"', '"architectures"', '"peft_type"', '"weight_map"', '"transformers_version"', '"num_hidden_layers"' }
local python_marks = { 'nn%.Module', 'nnx%.Module', 'PretrainedConfig', 'PreTrainedConfig', 'PreTrainedModel', 'AutoModel', 'TrainingArguments', 'AutoConfig', 'transformers import[^\n]*Config' }

---@param bufnr integer
---@return string
local function head(bufnr)
  return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, 400, false), '\n')
end

---@param text string
---@param marks string[]
---@param plain boolean
---@return boolean
local function mentions(text, marks, plain)
  for _, mark in ipairs(marks) do
    if text:find(mark, 1, plain) then
      return true
    end
  end
  return false
end

---@param bufnr integer
---@return boolean
local function is_model_file(bufnr)
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
  local filetype = vim.bo[bufnr].filetype
  if filetype == 'python' then
    return mentions(head(bufnr), python_marks, false)
  end
  if filetype == 'toml' then
    return name == 'neurarch-lsp.toml' or name == '.neurarch-lsp.toml'
  end
  if json_names[name] then
    local text = head(bufnr)
    -- A new, empty file is offered a skeleton; the config.json of a web application is none of ours.
    return #text < 40 or mentions(text, json_marks, true) or name ~= 'config.json'
  end
  return (name:find('config', 1, true) or name:find('%.index%.json$')) ~= nil and mentions(head(bufnr), json_marks, true)
end

---@type vim.lsp.Config
return {
  cmd = { 'neurarch-lsp' },
  filetypes = { 'json', 'jsonc', 'json5', 'python', 'toml' },
  root_dir = function(bufnr, on_dir)
    if not is_model_file(bufnr) then
      return
    end
    local root = vim.fs.root(bufnr, { 'neurarch-lsp.toml', '.neurarch-lsp.toml', 'pyproject.toml', '.git' })
    on_dir(root or vim.fs.dirname(vim.api.nvim_buf_get_name(bufnr)))
  end,
  settings = { neurarch = vim.empty_dict() },
  on_attach = function(client, bufnr)
    vim.api.nvim_buf_create_user_command(bufnr, 'LspNeurarchReport', function()
      client:exec_cmd({
        title = 'Report',
        command = 'neurarch.report',
        arguments = { vim.uri_from_bufnr(bufnr), { format = 'markdown' } },
      }, { bufnr = bufnr }, function(err, result)
        if err or not result then
          vim.notify(err and err.message or 'no report for this file', vim.log.levels.WARN)
          return
        end
        vim.cmd('vertical new')
        vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
        vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(result.content, '\n'))
        vim.bo.filetype, vim.bo.modifiable = 'markdown', false
      end)
    end, { desc = 'Parameters, KV cache and memory of this model' })
    vim.api.nvim_buf_create_user_command(bufnr, 'LspNeurarchDebug', function()
      client:exec_cmd({
        title = 'Debug information',
        command = 'neurarch.debugInformation',
        arguments = { vim.uri_from_bufnr(bufnr) },
      }, { bufnr = bufnr }, function(err, result)
        vim.notify(err and err.message or tostring(result), vim.log.levels.INFO)
      end)
    end, { desc = 'Why this file is, or is not, analysed' })
  end,
}
