// SPDX-License-Identifier: MIT
//
// Files are made byte by byte here, so that reader and writer are each held
// against the format and not against one another.

#include "numera/Runtime/Npy.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace numera::host;

namespace {

/// A folder of its own for each test, gone afterwards.
class NpyTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = "npy-test-" + std::to_string(getpid());
    folder = fs::temp_directory_path() / name;
    fs::create_directories(folder);
    path = folder / "x.npy";
  }
  void TearDown() override { fs::remove_all(folder); }

  void put(const std::string &bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::string contents() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The error of reading `bytes`, without the path that begins it.
  std::string readError(const std::string &bytes) const {
    put(bytes);
    return readError();
  }

  std::string readError() const {
    Array array;
    std::string error;
    if (readNpy(path.c_str(), array, error))
      return "";
    return withoutPath(error);
  }

  std::string withoutPath(const std::string &error) const {
    std::string prefix = path.string() + ": ";
    EXPECT_TRUE(error.starts_with(prefix)) << error;
    return error.substr(prefix.size());
  }

  size_t filesInFolder() const {
    return size_t(std::distance(fs::directory_iterator(folder), {}));
  }

  fs::path folder, path;
};

std::string npy(const std::string &header, const std::string &data,
                char major = 1, char minor = 0) {
  std::string result = std::string("\x93NUMPY") + major + minor;
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    result += char(header.size() >> 8 * i);
  return result + header + data;
}

std::string header(const std::string &dtype, const std::string &shape) {
  return "{'descr': '" + dtype +
         "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

const DType everyDType[] = {DType::f2,  DType::f4,  DType::f8, DType::i1,
                            DType::i2,  DType::i4,  DType::i8, DType::u1,
                            DType::u2,  DType::u4,  DType::u8, DType::b1,
                            DType::bf2, DType::v16, DType::v32};

Array makeCounting(std::vector<int64_t> shape, DType dtype) {
  std::string error;
  std::optional<Array> array = makeArray(std::move(shape), dtype, error);
  EXPECT_TRUE(array) << error;
  for (size_t i = 0; i < array->byteSize; ++i)
    array->bytes[i] = std::byte(i * 37 + 1);
  return std::move(*array);
}

TEST_F(NpyTest, ReadsWhatNumPyWrites) {
  // numpy.save of numpy.array([[1.5, -2]], dtype='f4')
  put(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }" +
              std::string(58, ' ') + "\n",
          std::string("\0\0\xC0\x3F\0\0\0\xC0", 8)));
  Array array;
  std::string error;
  ASSERT_TRUE(readNpy(path.c_str(), array, error)) << error;
  EXPECT_EQ(array.shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(array.dtype, DType::f4);
  ASSERT_EQ(array.size(), 2u);
  EXPECT_EQ(array.data<float>()[0], 1.5f);
  EXPECT_EQ(array.data<float>()[1], -2.0f);
  EXPECT_EQ(uintptr_t(array.bytes.get()) % Array::alignment, 0u);
}

TEST_F(NpyTest, ReadsOtherOrders) {
  // numpy.arange(6).reshape(1, 3, 2), in each order of elements and of bytes.
  const std::tuple<const char *, const char *, std::string> files[] = {
      {"<i2", "False", {"\0\0\1\0\2\0\3\0\4\0\5\0", 12}},
      {">i2", "False", {"\0\0\0\1\0\2\0\3\0\4\0\5", 12}},
      {"<i2", "True", {"\0\0\2\0\4\0\1\0\3\0\5\0", 12}},
      {">i2", "True", {"\0\0\0\2\0\4\0\1\0\3\0\5", 12}}};
  for (auto [dtype, order, bytes] : files) {
    put(npy("{'descr': '" + std::string(dtype) +
                "', 'fortran_order': " + order + ", 'shape': (1, 3, 2)}",
            bytes));
    Array array;
    std::string error;
    ASSERT_TRUE(readNpy(path.c_str(), array, error)) << error;
    EXPECT_EQ(array.shape, (std::vector<int64_t>{1, 3, 2}));
    EXPECT_EQ(array.dtype, DType::i2);
    for (int16_t i = 0; i < 6; ++i)
      EXPECT_EQ(array.data<int16_t>()[i], i) << dtype << order;
  }
  // No elements, or one.
  for (const char *shape : {"()", "(0,)", "(3, 0, 2)", "(1, 1)"}) {
    bool isEmpty = std::strchr(shape, '0') != nullptr;
    put(npy("{'descr': '>u2', 'fortran_order': True, 'shape': " +
                std::string(shape) + "}",
            isEmpty ? "" : "ab"));
    Array array;
    std::string error;
    ASSERT_TRUE(readNpy(path.c_str(), array, error)) << error;
    EXPECT_EQ(array.size(), isEmpty ? 0u : 1u);
    if (!isEmpty)
      EXPECT_EQ(array.data<uint16_t>()[0], 'a' << 8 | 'b');
  }
}

TEST_F(NpyTest, WritesWhatNumPyWrites) {
  std::string error;
  ASSERT_TRUE(writeNpy(path.c_str(), makeCounting({2, 1}, DType::u2), error));
  std::string text =
      "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 1), }";
  std::string padding(128 - 10 - text.size() - 1, ' ');
  EXPECT_EQ(contents(), npy(text + padding + "\n", "\x01\x26\x4B\x70"));
}

TEST_F(NpyTest, EveryTypeAndShapeSurvivesARoundTrip) {
  const std::vector<int64_t> shapes[] = {{},
                                         {0},
                                         {1},
                                         {7},
                                         {3, 0, 5},
                                         {2, 3, 4},
                                         std::vector<int64_t>(maxRank, 1)};
  for (DType dtype : everyDType)
    for (const auto &shape : shapes) {
      Array written = makeCounting(shape, dtype), read;
      std::string error;
      ASSERT_TRUE(writeNpy(path.c_str(), written, error)) << error;
      ASSERT_TRUE(readNpy(path.c_str(), read, error)) << error;
      EXPECT_EQ(read.shape, shape);
      EXPECT_EQ(read.dtype, dtype);
      ASSERT_EQ(read.byteSize, written.byteSize);
      EXPECT_EQ(
          std::memcmp(read.bytes.get(), written.bytes.get(), read.byteSize), 0);
      EXPECT_EQ((contents().size() - read.byteSize) % 64, 0u);
    }
}

TEST_F(NpyTest, TypesHaveNumPysSpellingAndSize) {
  std::string all;
  for (DType dtype : everyDType)
    all += std::string(spelling(dtype)) + ":" + std::to_string(sizeOf(dtype)) +
           " ";
  EXPECT_EQ(all, "<f2:2 <f4:4 <f8:8 |i1:1 <i2:2 <i4:4 <i8:8 "
                 "|u1:1 <u2:2 <u4:4 <u8:8 |b1:1 <V2:2 "
                 "|V16:16 |V32:32 ");
}

TEST_F(NpyTest, AcceptsEveryVersionAndSpellingOfAHeader) {
  const std::string accepted[] = {
      npy(header("|u1", "(2,)"), "ab", 1),
      npy(header("|u1", "(2,)"), "ab", 2),
      npy(header("|u1", "(2,)"), "ab", 3),
      npy("{'descr':'|u1','fortran_order':False,'shape':(2,)}", "ab"),
      npy("{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"|u1\"}",
          "ab"),
      npy(" {\n'shape' : ( 2 , ) , 'descr':'|u1', 'fortran_order': False } \n",
          "ab"),
  };
  for (const std::string &bytes : accepted)
    EXPECT_EQ(readError(bytes), "") << bytes;
}

TEST_F(NpyTest, NamesWhatIsWrongWithAHeader) {
  const std::string types = "; expected one of <f2 <f4 <f8 |i1 <i2 <i4 <i8 |u1 "
                            "<u2 <u4 <u8 |b1 <V2 |V16 |V32";
  const std::pair<std::string, std::string> cases[] = {
      {"", "malformed header at byte 0: expected '{'"},
      {"[1]", "malformed header at byte 0: expected '{'"},
      {"{'descr'", "malformed header at byte 8: expected ':'"},
      {"{'descr", "malformed header at byte 7: string has no closing quote or "
                  "has an escape"},
      {"{'a\\n': 1}", "malformed header at byte 3: string has no closing quote "
                      "or has an escape"},
      {"{descr: 1}", "malformed header at byte 1: expected a key in quotes"},
      {"{'descr': 4}",
       "malformed header at byte 10: expected a dtype in quotes"},
      {"{'descr': '<f4' 'shape'}",
       "malformed header at byte 16: expected ',' or '}'"},
      {header("<f4", "(1,)") + "x",
       "malformed header at byte 58: expected nothing after '}'"},
      {"{}", "header has no key 'descr'"},
      {"{'descr': '<f4', 'shape': ()}", "header has no key 'fortran_order'"},
      {"{'descr': '<f4', 'fortran_order': False}", "header has no key 'shape'"},
      {"{'descr': '<f4', 'descr': '<f4'}", "header has the key 'descr' twice"},
      {"{'order': 'C'}", "header has the unknown key 'order'"},
      {"{'a\nb\x80': 0}", "header has the unknown key 'a?b?'"},
      {"{'" + std::string(50, 'a') + "': 0}",
       "header has the unknown key '" + std::string(40, 'a') + "…'"},
      {header(">c8", "(1,)"), "dtype '>c8' is not supported" + types},
      {header(">V2", "(1,)"), "dtype '>V2' is not supported" + types},
      {header("<c8", "(1,)"), "dtype '<c8' is not supported" + types},
      {"{'descr': [('x', '<f4')]}",
       "structured dtypes are not supported; save each field as an array of "
       "its own"},
      {"{'fortran_order': 0}",
       "malformed header at byte 18: expected True or False"},
      {header("<f4", "3"), "malformed header at byte 50: expected '('"},
      {header("<f4", "(3)"), "malformed header at byte 53: expected a tuple, "
                             "which (n) without a comma is not"},
      {header("<f4", "(-1,)"),
       "malformed header at byte 51: expected a dimension"},
      {header("<f4", "(,)"),
       "malformed header at byte 51: expected a dimension"},
      {header("<f4", "(1 2)"),
       "malformed header at byte 53: expected ',' or ')'"},
      {header("<f4", "(1.5,)"),
       "malformed header at byte 52: expected ',' or ')'"},
      {header("<f4", "(9223372036854775808,)"),
       "malformed header at byte 69: dimension is over 9223372036854775807"},
      {header("<f4", "(9223372036854775807,)"),
       "shape (9223372036854775807,) takes more bytes than 63 bits count"},
      {header("|u1", "(4294967296, 4294967296, 0)"),
       "shape (4294967296, 4294967296, 0) takes more bytes than 63 bits count"},
      {header("|u1", "(4611686018427387904,)"),
       "shape (4611686018427387904,) of '|u1' takes 4611686018427387904 bytes; "
       "the file holds 0"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_EQ(readError(npy(text, "")), message) << text;

  std::string deep = "(";
  for (int i = 0; i < 65; ++i)
    deep += "1,";
  EXPECT_EQ(readError(npy(header("<f4", deep + ")"), "")),
            "array has 65 dimensions; expected at most 64");
}

TEST_F(NpyTest, NamesWhatIsWrongWithAFile) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "file is too short for a .npy file"},
      {std::string("PK\3\4 a zip file"),
       "not a .npy file: it does not begin with \\x93NUMPY"},
      {npy("", "", 0), ".npy version 0.0 is not supported; expected 1.0, 2.0 "
                       "or 3.0"},
      {npy("", "", 4, 9), ".npy version 4.9 is not supported; expected 1.0, "
                          "2.0 or 3.0"},
      {std::string("\x93NUMPY\1\0\x80\0{}", 12), "file ends inside its header"},
      {std::string("\x93NUMPY\2\0\0\0\0\1", 12),
       "header of 16777216 bytes; expected at most 65535"},
      {npy(header("<f4", "(2, 3)"), "1234"),
       "shape (2, 3) of '<f4' takes 24 bytes; the file holds 4"},
      {npy(header("|b1", "(3,)"), "1234"),
       "shape (3,) of '|b1' takes 3 bytes; the file holds 4"},
  };
  for (const auto &[bytes, message] : cases)
    EXPECT_EQ(readError(bytes), message);

  fs::remove(path);
  EXPECT_EQ(readError(), "cannot open: No such file or directory");
  fs::create_directory(path);
  EXPECT_EQ(readError(), "cannot read: Is a directory");
}

TEST_F(NpyTest, RejectsAFileCutAtAnyByte) {
  for (char version : {1, 2, 3}) {
    std::string whole = npy(header("<i2", "(3,)"), "abcdef", version);
    ASSERT_EQ(readError(whole), "");
    for (size_t length = 0; length < whole.size(); ++length)
      EXPECT_NE(readError(whole.substr(0, length)), "") << length;
  }
}

TEST_F(NpyTest, SurvivesAnyByteAtAnyPlace) {
  const std::string whole = npy(header("<i2", "(3,)"), "abcdef");
  for (size_t place = 0; place + 6 < whole.size(); ++place)
    for (char byte : {'\0', '\n', '\'', '(', ')', ',', '9', 'L', '{', '}',
                      '\x7F', '\x80', '\xFF'}) {
      std::string bytes = whole;
      bytes[place] = byte;
      EXPECT_EQ(readError(bytes).find('\n'), std::string::npos);
    }
}

TEST_F(NpyTest, AFailedReadLeavesTheArrayAlone) {
  Array array = makeCounting({2}, DType::f8);
  const std::byte *before = array.bytes.get();
  put("nonsense");
  std::string error;
  EXPECT_FALSE(readNpy(path.c_str(), array, error));
  EXPECT_EQ(array.bytes.get(), before);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2}));
}

TEST_F(NpyTest, ReadsFromAPipe) {
  std::string bytes = npy(header("|u1", "(2,)"), "ab");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], bytes.data(), bytes.size()), ssize_t(bytes.size()));
  close(ends[1]);
  path = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(readError(), "");
  close(ends[0]);
}

TEST_F(NpyTest, WritingReplacesTheFileAndLeavesNothingElse) {
  put("what was here before, and is longer than nothing");
  std::string error;
  ASSERT_TRUE(writeNpy(path.c_str(), makeCounting({1}, DType::u1), error));
  EXPECT_EQ(contents().size(), 129u);
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(NpyTest, AFailedWriteLeavesNoFile) {
  Array array = makeCounting({4}, DType::f4);
  std::string error;
  fs::path missing = folder / "missing" / "x.npy";
  EXPECT_FALSE(writeNpy(missing.c_str(), array, error));
  EXPECT_EQ(error, missing.string() + ": cannot write: No such file or "
                                      "directory");

  fs::create_directory(path);
  EXPECT_FALSE(writeNpy(path.c_str(), array, error));
  EXPECT_EQ(withoutPath(error), "cannot write: Is a directory");
  fs::remove(path);

  array.shape = {5};
  EXPECT_FALSE(writeNpy(path.c_str(), array, error));
  EXPECT_EQ(withoutPath(error),
            "shape (5,) of '<f4' takes 20 bytes; the array holds 16");
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(NpyTest, AFullDeviceIsAnError) {
  std::string error;
  EXPECT_FALSE(writeNpy("/dev/full", makeCounting({4}, DType::f4), error));
  EXPECT_EQ(error, "/dev/full: cannot write: No space left on device");
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST(MakeArray, RejectsShapesThatAreNone) {
  std::string error;
  EXPECT_FALSE(makeArray({2, -1}, DType::f4, error));
  EXPECT_EQ(error, "shape (2, -1) has a negative dimension");
#if !__has_feature(address_sanitizer) // which aborts instead
  EXPECT_FALSE(makeArray({INT64_MAX}, DType::u1, error));
  EXPECT_EQ(error, "cannot allocate 9223372036854775807 bytes");
#endif
}

} // namespace
