// A file of bytes in parts, and a head that says what they are. It is written in full or not at all, and has
// checksums. A part is checked when it is asked for: machines that share a file read what they need of it.
//
//   PartsHeader
//   parts          one after the other
//   index          PartPlace of each part
//   head           up to the end
//
// How to write: PartsWriter out(path, kind); out.append(bytes); ...; out.end_part(); ...; out.commit(head);
// How to read:  PartsFile file(path, kind); file.head(); file.part(0); ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/mapped_file.h"
#include "hiero/base/output_file.h"
#include "hiero/base/record.h"

namespace hiero {

// What a file holds.
struct PartsKind {
  std::array<char, 8> magic;
  std::uint32_t version;
  const char* name;    // such as "rule counts"
  const char* remedy;  // what makes another file, such as "extract again"
};

struct PartPlace {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t sum;  // checksum of its blocks
};

struct PartsHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint64_t length;
  std::uint64_t parts;
  std::uint64_t index_at;
  std::uint64_t head_at;
  std::uint64_t sum;  // checksum of the index and the head, then of the header fields before this one
};

class PartsWriter {
 public:
  // Throws FileError, as all methods do.
  PartsWriter(const std::string& path, const PartsKind& kind) : kind_(kind), file_(path) {}

  // Appends bytes to the present part.
  void append(Bytes bytes);
  void end_part();
  void commit(Bytes head);

 private:
  void write_block(Bytes block);

  const PartsKind& kind_;
  OutputFile file_;
  std::vector<std::byte> buffer_;  // less than a block
  std::vector<PartPlace> places_;
  std::uint64_t position_ = sizeof(PartsHeader);
  std::uint64_t begin_ = sizeof(PartsHeader);  // of the present part
  std::uint64_t sum_ = 0;                      // of its blocks that are written
};

class PartsFile {
 public:
  // Opens a file and checks all but its parts. Throws FileError, or FormatError for a file of another kind or
  // version, or one that is truncated or damaged. `kind` must outlive it.
  PartsFile(const std::string& path, const PartsKind& kind);

  const std::string& path() const { return path_; }
  // Returns a number that tells files of different contents apart.
  std::uint64_t sum() const { return header_.sum; }
  Bytes head() const { return file_.bytes().subspan(header_.head_at); }
  std::size_t size() const { return header_.parts; }
  // Returns a part, which is valid as long as the file. Throws FormatError if it is damaged.
  Bytes part(std::size_t number) const;
  void release_pages() const { file_.release_pages(); }
  [[noreturn]] void throw_damaged() const;

 private:
  PartPlace place(std::size_t number) const;

  std::string path_;
  const PartsKind& kind_;
  MappedFile file_;
  PartsHeader header_{};
};

}  // namespace hiero
