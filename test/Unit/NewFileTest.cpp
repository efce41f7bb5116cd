// SPDX-License-Identifier: MIT

#include "numera/Runtime/NewFile.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace numera::host;

namespace {

/// A folder of its own for each test, gone afterwards.
class NewFileTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() /
             ("new-file-test-" + std::to_string(getpid()));
    fs::create_directories(folder);
    path = folder / "x";
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string contents() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  size_t filesInFolder() const {
    return size_t(std::distance(fs::directory_iterator(folder), {}));
  }

  fs::path folder, path;
};

TEST_F(NewFileTest, AppearsWhenItIsKept) {
  std::optional<NewFile> file = NewFile::create(path.c_str(), 0666);
  ASSERT_TRUE(file);
  ASSERT_EQ(write(file->descriptor(), "one", 3), 3);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(file->keep());
  EXPECT_EQ(contents(), "one");
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(NewFileTest, ReplacesAFileThatIsThere) {
  std::ofstream(path) << "before";
  std::optional<NewFile> file = NewFile::create(path.c_str(), 0666);
  ASSERT_TRUE(file);
  std::ofstream(file->path()) << "two";
  EXPECT_EQ(contents(), "before");
  EXPECT_TRUE(file->keep());
  EXPECT_EQ(contents(), "two");
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(NewFileTest, IsGoneUnlessItIsKept) {
  {
    std::optional<NewFile> file = NewFile::create(path.c_str(), 0666);
    ASSERT_TRUE(file);
  }
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(NewFileTest, HasThePermissionsThatTheUmaskGives) {
  mode_t before = umask(027);
  std::optional<NewFile> file = NewFile::create(path.c_str(), 0777);
  umask(before);
  ASSERT_TRUE(file && file->keep());
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, mode_t(0750));
}

TEST_F(NewFileTest, SaysWhyItCannotBe) {
  fs::path missing = folder / "missing" / "x";
  EXPECT_FALSE(NewFile::create(missing.c_str(), 0666));
  EXPECT_EQ(errno, ENOENT);

  fs::create_directory(path);
  std::optional<NewFile> file = NewFile::create(path.c_str(), 0666);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->keep());
  EXPECT_EQ(errno, EISDIR);
  file.reset();
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(NewFileTest, AProcessThatIsKilledLeavesNothing) {
  std::optional<NewFile> first = NewFile::create(path.c_str(), 0666);
  if (first->isNamed())
    GTEST_SKIP() << "files have names here";
  pid_t child = fork();
  if (child == 0) {
    std::optional<NewFile> file = NewFile::create(path.c_str(), 0666);
    if (write(file->descriptor(), "one", 3) == 3)
      raise(SIGKILL);
    _exit(1);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(filesInFolder(), 0u);
}

} // namespace
