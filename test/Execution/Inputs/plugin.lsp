// SPDX-License-Identifier: MIT
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootPath":"mlir","capabilities":{},"trace":"off"}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///f.mlir","languageId":"mlir","version":1,"text":"func.func @f(%x: !numera.num<bposit<16, 6, 2>>) { return }\n"}}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///g.mlir","languageId":"mlir","version":1,"text":"func.func @g(%x: !numera.num<bposit<16, 6, 9>>) { return }\n"}}}
// -----
{"jsonrpc":"2.0","id":3,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}
