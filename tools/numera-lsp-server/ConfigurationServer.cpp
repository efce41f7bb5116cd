// SPDX-License-Identifier: MIT

#include "ConfigurationServer.h"

#include "Suggestions.h"
#include "numera/Registry/Registry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::lsp;
using namespace numera;

// Columns are counted in bytes here, and by editors in units of UTF-16.

static StringRef lineOf(StringRef text, unsigned row) {
  while (row-- > 0)
    text = text.split('\n').second;
  return text.split('\n').first;
}

/// True for a byte of UTF-8 that begins no character.
static bool isWithin(char byte) { return (byte & 0xc0) == 0x80; }

/// How many units of UTF-16 a text has; what is beyond 16 bits takes two.
static size_t unitsOf(StringRef text) {
  size_t count = 0;
  for (char byte : text)
    count += isWithin(byte) ? 0 : (byte & 0xf8) == 0xf0 ? 2 : 1;
  return count;
}

namespace {

class Server {
public:
  explicit Server(JSONTransport &transport) : handler(transport) {
    publish = handler.outgoingNotification<PublishDiagnosticsParams>(
        "textDocument/publishDiagnostics");
    handler.method("initialize", this, &Server::initialize);
    handler.notification("initialized", this, &Server::ignore);
    handler.method("shutdown", this, &Server::shutDown);
    handler.notification("textDocument/didOpen", this, &Server::open);
    handler.notification("textDocument/didChange", this, &Server::change);
    handler.notification("textDocument/didClose", this, &Server::close);
    handler.method("textDocument/completion", this, &Server::complete);
  }

  MessageHandler handler;
  bool isShutDown = false;

private:
  void initialize(const InitializeParams &, Callback<json::Value> reply) {
    constexpr int wholeText = 1;
    reply(json::Object{
        {"serverInfo", json::Object{{"name", "numera-lsp-server"}}},
        {"capabilities",
         json::Object{{"textDocumentSync", json::Object{{"openClose", true},
                                                        {"change", wholeText}}},
                      {"completionProvider",
                       json::Object{{"triggerCharacters",
                                     json::Array{" ", ":", "{", ","}}}}}}});
  }
  void ignore(const InitializedParams &) {}
  void shutDown(const NoParams &, Callback<std::nullptr_t> reply) {
    isShutDown = true;
    reply(nullptr);
  }

  void open(const DidOpenTextDocumentParams &given) {
    keep(given.textDocument.uri, given.textDocument.text,
         given.textDocument.version);
  }
  void change(const DidChangeTextDocumentParams &given) {
    if (!given.contentChanges.empty())
      keep(given.textDocument.uri, given.contentChanges.back().text,
           given.textDocument.version);
  }
  void close(const DidCloseTextDocumentParams &given) {
    texts.erase(given.textDocument.uri.uri());
    publish(PublishDiagnosticsParams(given.textDocument.uri, /*Version=*/0));
  }

  void keep(const URIForFile &uri, StringRef text, int64_t version) {
    texts[uri.uri()] = text.str();
    PublishDiagnosticsParams found(uri, version);
    std::string errors;
    raw_string_ostream stream(errors);
    Registry registry;
    registry.loadText(text, uri.file(), sys::path::parent_path(uri.file()),
                      stream);
    for (StringRef line : split(errors, '\n'))
      if (!line.empty())
        found.diagnostics.push_back(diagnosticOf(line, uri.file(), text));
    publish(found);
  }

  /// `file:line:column: error: text`; without a place it is the first line's.
  static Diagnostic diagnosticOf(StringRef line, StringRef file,
                                 StringRef text) {
    Diagnostic diagnostic;
    diagnostic.source = "numera";
    diagnostic.severity = lsp::DiagnosticSeverity::Error;
    unsigned row = 1, column = 1;
    if (line.consume_front(file) && line.consume_front(":") &&
        !line.consumeInteger(10, row) && line.consume_front(":"))
      (void)line.consumeInteger(10, column);
    line.consume_front(":");
    line = line.ltrim();
    if (line.consume_front("warning: "))
      diagnostic.severity = lsp::DiagnosticSeverity::Warning;
    else
      line.consume_front("error: ");
    diagnostic.message = line.str();
    StringRef before = lineOf(text, row - 1).take_front(column - 1);
    Position place(int(row) - 1, int(unitsOf(before)));
    diagnostic.range = Range(place, Position(place.line, place.character + 1));
    return diagnostic;
  }

  void complete(const CompletionParams &given, Callback<CompletionList> reply) {
    CompletionList list;
    auto text = texts.find(given.textDocument.uri.uri());
    if (text != texts.end())
      for (const Suggestion &each :
           suggestionsAt(text->second, given.position)) {
        CompletionItem item(each.word, each.isKey ? CompletionItemKind::Property
                                                  : CompletionItemKind::Value);
        item.insertText = each.isKey ? each.word + ": " : each.word;
        item.insertTextFormat = InsertTextFormat::PlainText;
        list.items.push_back(std::move(item));
      }
    reply(std::move(list));
  }

  std::vector<Suggestion> suggestionsAt(StringRef text, Position place) const {
    auto row = unsigned(place.line);
    StringRef line = lineOf(text, row);
    size_t bytes = 0;
    while (bytes < line.size() &&
           unitsOf(line.take_front(bytes)) < size_t(place.character))
      ++bytes;
    // Not within a character.
    while (bytes < line.size() && isWithin(line[bytes]))
      ++bytes;
    return suggestions.at(text, row, unsigned(bytes));
  }

  Suggestions suggestions;
  StringMap<std::string> texts; ///< of the files that are open
  OutgoingNotification<PublishDiagnosticsParams> publish;
};

} // namespace

int numera::serveConfigurations(JSONTransport &transport) {
  Server server(transport);
  if (Error error = transport.run(server.handler)) {
    errs() << "numera-lsp-server: error: " << toString(std::move(error))
           << '\n';
    return 1;
  }
  return !server.isShutDown;
}
