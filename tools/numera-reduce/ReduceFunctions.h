// SPDX-License-Identifier: MIT
#ifndef NUMERA_TOOLS_REDUCE_REDUCEFUNCTIONS_H
#define NUMERA_TOOLS_REDUCE_REDUCEFUNCTIONS_H

namespace numera {

/// Registers `reduce-functions`, a pass with the option `test` of upstream's
/// `reduction-tree`. That one drops functions; this one makes them smaller, as
/// long as the script exits with 1. It puts an operand, an argument or a zero
/// of the same type in place of what an operation computes, drops operations
/// without results, and results and arguments of functions that nothing calls.
///
/// It tries all operations of a module at once, then halves of them, and so on
/// to single ones, the last ones first (delta debugging: A. Zeller and R.
/// Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002). What
/// it tries is valid, and reads no memory that is not written.
void registerReduceFunctions();

} // namespace numera

#endif // NUMERA_TOOLS_REDUCE_REDUCEFUNCTIONS_H
