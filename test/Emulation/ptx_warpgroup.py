# SPDX-License-Identifier: MIT
"""Matrix instructions of warpgroups (PTX ISA, "Asynchronous warpgroup-level matrix
multiply-accumulate instructions"), as statements of C (ptx2c.py). Warpgroup.h has
what they do; here it is seen that registers are left alone meanwhile:

  "wgmma.fence must be issued: before the first wgmma.mma_async operation; between
  a register access by a thread in the warpgroup and any wgmma.mma_async that
  accesses the same registers, except when these are accumulator register accesses
  across multiple wgmma.mma_async instructions of the same shape."

  "wgmma.commit_group and wgmma.wait_group operations must be used to wait for the
  completion before the results are accessed."

A fence, what follows it, and the wait are wanted in one block of instructions,
where the order of the text is that of time. Any other is an error."""
import re

SIZES = {"f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1}
KINDS = {"f16": "F16", "bf16": "BF16", "e4m3": "E4M3", "e5m2": "E5M2"}

PRELUDE = """
struct matrix_instruction {
  uint32_t **sums;
  uint64_t rows, columns;
  int column_count, size, row_kind, column_kind, is_added;
  float (*factor)(uint32_t code, int kind); };
"""


class WarpgroupInstructions:
    """A part of ptx_instructions.Instructions, before it."""

    def refuse_matrix(self, why, text=""):
        raise SystemExit(f"ptx2c: {self.name}: {why} {text}".rstrip())

    def begin_block(self):
        """Registers touched since the last fence (None: there is none), those that
        instructions are at work on, and if these are in a group."""
        if getattr(self, "at_work", None):
            self.refuse_matrix("matrix instructions are not waited for")
        self.touched, self.at_work, self.is_committed = None, {}, True

    def watch(self, opcode, text):
        """Sees every instruction."""
        if opcode.startswith("wgmma."):
            return
        registers = set(re.findall(r"%\w+", text))
        if registers & set(self.at_work):
            self.refuse_matrix("a register is touched while matrices are multiplied:",
                               text)
        if self.touched is not None:
            self.touched |= registers
        if opcode.split(".")[0] in ("bra", "brx", "call", "ret", "exit", "bar",
                                    "barrier"):
            self.begin_block()

    def op_wgmma(self, parts, ops):
        if parts[2:4] != ["sync", "aligned"]:
            self.refuse_matrix("unknown matrix:", ".".join(parts))
        return getattr(self, "matrix_" + parts[1])(parts, ops)

    def matrix_fence(self, _parts, _ops):
        self.touched = set()
        return ""

    def matrix_commit_group(self, _parts, _ops):
        self.is_committed = True
        return ""

    def matrix_wait_group(self, _parts, ops):
        if ops != ["0"]:
            self.refuse_matrix("only a wait for all groups is known")
        if not self.is_committed:
            self.refuse_matrix("matrix instructions are in no group")
        self.touched, self.at_work = None, {}
        return "T->wait_for_matrices(T);"

    def matrix_mma_async(self, parts, ops):
        shape = re.fullmatch(r"m64n(\d+)k(16|32)", parts[4])
        d, rows, columns = parts[5:]
        if (not shape or d != "f32" or rows not in SIZES or columns not in SIZES
                or (SIZES[rows] == 2 and rows != columns)
                or int(shape[2]) * SIZES[rows] != 32 or SIZES[rows] != SIZES[columns]):
            self.refuse_matrix("unknown matrix:", ".".join(parts))
        count = int(shape[1])
        if count % 8 or not 8 <= count <= 256:
            self.refuse_matrix("unknown shape:", parts[4])
        sums = self.list_of(ops[0])
        # Signs are +1; nothing is transposed, which 8 bits cannot be.
        ends = ["1", "1"] + ["0", "0"] * (SIZES[rows] == 2)
        if len(sums) != count // 2 or len(set(sums)) != len(sums) or ops[4:] != ends \
                or ops[3] not in ("0", "1"):
            self.refuse_matrix("unknown operands:", parts[4])
        if self.touched is None or self.touched & set(sums):
            self.refuse_matrix("a matrix instruction without wgmma.fence")
        others = {self.at_work.get(s) for s in sums} - {(parts[4], tuple(sums))}
        if others - {None}:
            self.refuse_matrix("sums of matrix instructions overlap")
        self.at_work |= {s: (parts[4], tuple(sums)) for s in sums}
        self.is_committed, self.has_barriers = False, True
        places = ", ".join("&" + self.register(s) for s in sums)
        return (f"uint32_t *d[] = {{{places}}}; struct matrix_instruction m = "
                f"{{d, {self.read(ops[1], 'b64')}, {self.read(ops[2], 'b64')}, {count}, "
                f"{SIZES[rows]}, {KINDS[rows]}, {KINDS[columns]}, {ops[3]}, factor}}; "
                "T->multiply(T, &m);")

    @staticmethod
    def register(text):
        return text.replace("%", "r_").replace("$", "_D_")

    def op_fence(self, parts, _ops):
        if parts[1:] != ["proxy", "async", "shared::cta"]:
            self.refuse_matrix("unknown fence:", ".".join(parts))
        return "T->fence_proxy(T);"
