// SPDX-License-Identifier: MIT

#include "numera/Target/Support/Cancel.h"

using namespace numera;

namespace {
struct Question {
  int (*isOver)(void *context) = nullptr;
  void *context = nullptr;
  bool wasOver = false;
};
} // namespace

static thread_local Question question;

void numera::askToCancel(int (*isOver)(void *context), void *context) {
  question = {isOver, context};
}

bool numera::mayBeCancelled() { return question.isOver; }

bool numera::isCancelled() {
  if (question.isOver && !question.wasOver)
    question.wasOver = question.isOver(question.context) != 0;
  return question.wasOver;
}

llvm::Error numera::cancelled() {
  return llvm::createStringError("interrupted");
}
