// Tests the external sorter against std::stable_sort, with so little memory that runs have one or a few
// records. One case has more than two levels of merging, and each level may write every record only once.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>

#include "cases.h"
#include "hiero/base/record_sorter.h"

namespace hiero {
namespace {

using Random = std::mt19937_64;
using Records = std::vector<std::pair<std::string, std::string>>;

Bytes bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Combines two values of four digits to their sum modulo 10,000.
void add_numbers(std::span<std::byte> total, Bytes value) {
  int sum = (std::stoi(text(total)) + std::stoi(text(value))) % 10000;
  for (std::size_t i = 4; i-- > 0; sum /= 10) total[i] = static_cast<std::byte>('0' + sum % 10);
}

Records random_records(Random& random, std::size_t count, std::size_t keys) {
  Records out;
  for (std::size_t i = 0; i < count; ++i) {
    std::string key = std::to_string(random() % keys);
    if (random() % 2 == 0) key += "-and-more-than-eight-bytes";
    char value[8];
    std::snprintf(value, sizeof value, "%04d", static_cast<int>(random() % 10000));
    out.emplace_back(std::move(key), value);
  }
  return out;
}

Records expected_records(Records records, bool combined) {
  std::ranges::stable_sort(records, {}, &Records::value_type::first);
  if (!combined) return records;
  Records out;
  for (auto& [key, value] : records) {
    if (out.empty() || out.back().first != key) {
      out.emplace_back(key, value);
    } else {
      add_numbers(std::as_writable_bytes(std::span(out.back().second)), bytes(value));
    }
  }
  return out;
}

Records sorted_records(const Records& records, std::uint64_t memory, bool combined) {
  RecordSorter sorter(memory, std::filesystem::temp_directory_path(), combined ? add_numbers : nullptr);
  for (const auto& [key, value] : records) sorter.add(bytes(key), bytes(value));
  sorter.finish();
  Records out;
  for (int scan = 0; scan < 2; ++scan) {
    out.clear();
    sorter.scan([&out](Bytes key, Bytes value) { out.emplace_back(text(key), text(value)); });
  }
  return out;
}

// Returns the number of bytes that this process has written, or 0 where the system does not report it.
std::uint64_t bytes_written() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "wchar:") return value;
  }
  return 0;
}

int run(std::size_t cases, std::uint64_t seed) {
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 1000003 + i);
    const Records records = random_records(random, random() % 1000, 1 + random() % 300);
    const bool combined = i % 2 == 0;
    const std::uint64_t memory = random() % 4 == 0 ? 1 << 20 : random() % 400;
    if (sorted_records(records, memory, combined) != expected_records(records, combined)) {
      std::printf("sorter_test: case %zu, %zu records in %llu bytes\n", i, records.size(),
                  static_cast<unsigned long long>(memory));
      return 1;
    }
  }
  Random random(seed);
  const Records many = random_records(random, 20000, 5000);  // more than 128 * 128 runs
  const std::uint64_t before = bytes_written();
  if (sorted_records(many, 0, false) != expected_records(many, false)) {
    std::printf("sorter_test: 20,000 runs\n");
    return 1;
  }
  std::uint64_t size = 0;
  for (const auto& [key, value] : many) size += key.size() + value.size() + 2;
  const std::uint64_t written = bytes_written() - before;
  std::printf("sorter_test: %zu cases; 20,000 runs of %.1f MB took %.1f MB of writing\n", cases,
              static_cast<double>(size) / 1e6, static_cast<double>(written) / 1e6);
  return written <= 3 * size ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 300, hiero::run); }
