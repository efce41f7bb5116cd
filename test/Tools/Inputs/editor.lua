-- SPDX-License-Identifier: MIT
--
-- Neovim with the settings of a page, and what it shows of three files:
-- PAGE=… nvim --headless -S editor.lua, where the files are.

-- Debian 12's release, 0.7, has these two in other words.
vim.g.do_filetype_lua = 1
vim.lsp.start = vim.lsp.start or function(config)
  local id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
end

-- Settings are read before files are opened, in the folder that has them.
local page = io.open(os.getenv("PAGE")):read("a")
assert(loadstring(page:match("```lua\n(.-)\n```")))()
vim.cmd("filetype on")

local function show(name, value)
  io.stdout:write(name, ": ", value, "\n")
end

local function wait(condition)
  assert(vim.wait(60000, condition, 20), "the server does not answer")
end

local function open(path)
  vim.cmd("edit " .. path)
  wait(function()
    local _, client = next(vim.lsp.buf_get_clients())
    return client and client.initialized
  end)
end

local function ask(method, line, character)
  local document = vim.lsp.util.make_text_document_params()
  local replies = vim.lsp.buf_request_sync(0, "textDocument/" .. method,
    {textDocument = document, position = {line = line, character = character}}, 60000)
  local _, reply = next(replies)
  return reply.result
end

local function type_line(line, text)
  vim.api.nvim_buf_set_lines(0, line, line + 1, false, {text})
end

local function show_completion(line, text)
  type_line(line, text)
  local words = {}
  for _, item in ipairs(ask("completion", line, #text).items) do
    table.insert(words, item.label)
  end
  table.sort(words)
  show("completion", table.concat(words, " "))
end

local function show_errors()
  wait(function() return #vim.diagnostic.get(0) > 0 end)
  for _, each in ipairs(vim.diagnostic.get(0)) do
    show("error", each.lnum .. ":" .. each.col .. " " .. each.message)
  end
end

local function main()
  open("f.mlir")
  show("hover", ask("hover", 4, 19).contents.value:match("Type: `(.-)`"))
  show("definition", ask("definition", 4, 20)[1].range.start.line)
  show("references", #ask("references", 3, 3))
  show_completion(4, "  %b = numera.")
  open("wrong.mlir")
  show_errors()
  open("f.yaml")
  show_errors()
  type_line(4, "    es: 2")
  wait(function() return #vim.diagnostic.get(0) == 0 end)
  show_completion(4, "    ")
end

local done, message = pcall(main)
if not done then
  show("failed", message)
end
vim.cmd("qall!")
