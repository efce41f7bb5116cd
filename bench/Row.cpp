// SPDX-License-Identifier: MIT

#include "Row.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace numera::bench;

std::vector<Row> Row::read(const std::string &path) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "numera-bench: cannot read '%s'\n", path.c_str());
    std::exit(1);
  }
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Row row;
    std::getline(fields, row.title, '\t');
    for (std::string field; std::getline(fields, field, '\t');) {
      size_t equals = field.find('=');
      row.values[field.substr(0, equals)] = field.substr(equals + 1);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const std::string &Row::text(const std::string &key) const {
  auto found = values.find(key);
  if (found != values.end())
    return found->second;
  std::fprintf(stderr, "numera-bench: row '%s' has no '%s'\n", title.c_str(),
               key.c_str());
  std::exit(1);
}

int64_t Row::number(const std::string &key) const {
  return std::strtoll(text(key).c_str(), nullptr, 10);
}

int64_t Row::number(const std::string &key, int64_t otherwise) const {
  return has(key) ? number(key) : otherwise;
}

std::vector<int64_t> Row::numbers(const std::string &key) const {
  std::istringstream list(text(key));
  std::vector<int64_t> result;
  for (std::string word; std::getline(list, word, ',');)
    result.push_back(std::strtoll(word.c_str(), nullptr, 10));
  return result;
}

double Row::seconds() const {
  return has("seconds") ? std::strtod(text("seconds").c_str(), nullptr) : 1.0;
}
